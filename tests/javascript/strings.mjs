// node strings.mjs PAGE QUESTIONS.json OUT: what strings.js says of characters, and where patterns of Python are found
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [page, questions, output] = process.argv.slice(2);
const { Pattern, decimal, isAlpha, isAscii, isCombining, isLower, isUpper, size, strip, translate } = await import(pathToFileURL(`${page}/strings.js`));
const { strings, digits, characters, patterns, marks, table } = JSON.parse(readFileSync(questions));
const compiled = patterns.map((pattern) => new Pattern(pattern));
const answers = {
  strings: strings.map((one) => [isAlpha(one), isLower(one), isUpper(one), isAscii(one), size(one), strip(one, marks, marks), translate(one, table)]),
  digits: digits.map(decimal),
  combining: characters.map(isCombining),
  found: strings.map((one) => compiled.map((pattern) => [pattern.fits(one), pattern.findAll(one).map(({ text, start, end }) => [text, start, end])])),
};
writeFileSync(output, JSON.stringify(answers));
