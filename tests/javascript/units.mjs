// node units.mjs SCRIPT UNITS.json WORDS.json: the ids of each word, as JSON
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [script, vocabulary, words] = process.argv.slice(2);
const { Units } = await import(pathToFileURL(script));
const units = new Units(JSON.parse(readFileSync(vocabulary)));
const found = JSON.parse(readFileSync(words)).map((word) => [units.encode(word), units.names(word), units.spans(word)]);
process.stdout.write(JSON.stringify(found));
