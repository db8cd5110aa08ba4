// Strings that are no words, or hold several (lovevec/near/kinds.py, parts.py): 500mg, neural-netwrok, #ThrowbackThursday.
// Patterns and tables are those of Python (strings.json).

import { spansOf } from "./joined.js";
import { Pattern, cut, decimal, isAlpha, isAscii, isLower, isUpper, size, strip, translate } from "./strings.js";

export const [WORD, NAME, NUMBER] = ["word", "name", "number"];
const ALPHANUMERIC = /[\p{L}\p{N}]/u;
const ALPHANUMERICS = new Pattern({ source: "[\\p{L}\\p{N}]+", flags: "u" });
const STARTS_WITH_DIGIT = /^\p{Nd}/u, ENDS_WITH_DIGIT = /\p{Nd}$/u;
const NOT_APOSTROPHE = new Pattern({ source: "[^'’ʼ]+", flags: "u" });
const ORDER = ["digits", "mark", "clitic", "apostrophe", "capital", "script"];

const part = (text, how, start, end, share = 1) => ({ text, how, start, end, share });
const moved = (parts, by) => parts.map((one) => ({ ...one, start: one.start + by, end: one.end + by }));

export class Kinds {
  // tables: strings.json
  constructor(tables) {
    const { patterns, kinds } = tables;
    this.patterns = Object.fromEntries(Object.entries(patterns).map(([name, pattern]) => [name, new Pattern(pattern)]));
    const table = kinds.table.map((kind) => ({ ...kind, pattern: new Pattern(kind.pattern) }));
    Object.assign(this, kinds, { table, unitWords: new Map(Object.entries(kinds.unitWords)) });
    this.words = { address: new Set([...kinds.notMeant, ...kinds.domains]), file: new Set([...kinds.notMeant, ...kinds.files]) };
    this.words.email = this.words.address;
    this.digitsApart = (string) => {
      const together = this.patterns.BETWEEN_DIGITS.replaceIn(string, "");
      return this.patterns.AFTER_DIGIT.replaceIn(together, "-").replace(/[ºª]/g, "°");
    };
  }

  // Digits of any script as 0 to 9, other forms of letters and signs as the usual ones, no thin blanks in numbers.
  plainForm(string) {
    if (isAscii(string)) return string;
    const plain = translate(this.digitsApart(string).normalize("NFKC"), this.same);
    return plain.replace(/\p{Nd}/gu, decimal);
  }

  // The kind of a string in plain form, or null.
  kindOf(plain) {
    const hasDigit = this.patterns.DIGIT.isIn(plain);
    if (!hasDigit && !this.patterns.MAY_BE_ADDRESS.isIn(plain)) return null;
    return this.table.find(({ parts, pattern }) => (hasDigit || parts === "words") && pattern.fits(plain)) ?? null;
  }

  // {kind, parts} of a string; null where it is of no kind.
  partsOf(string) {
    const length = size(string);
    if (length > this.MAX_LENGTH) return null;
    const plain = this.plainForm(string);
    const kind = this.kindOf(plain);
    if (!kind) return null;
    const parts = this.takeApart(kind, plain);
    const isSame = size(plain) === length; // else nobody knows what stands where
    return { kind, parts: isSame ? parts : parts.map((one) => ({ ...one, start: 0, end: length })) };
  }

  takeApart(kind, plain) {
    const whole = kind.word === null ? [] : [part(kind.word, WORD, 0, size(plain), this.KIND_SHARE)];
    if (kind.parts === "number") return [...whole, part(this.numberForm(plain), NUMBER, 0, size(plain))];
    const { DIGIT_RUN, ADDRESS_RUN, RUN } = this.patterns;
    let found = ({ digits: DIGIT_RUN, words: ADDRESS_RUN }[kind.parts] ?? RUN).findAll(plain);
    if (kind.parts === "words") found = this.meant(kind, found);
    return [...whole, ...found.slice(0, this.MAX_PARTS).map(({ text, start, end }) => this.run(kind, text, start, end))];
  }

  // The runs of an address or a file name that say something.
  meant(kind, found) {
    const some = found.filter(({ text }) => !this.words[kind.name].has(text.toLowerCase()));
    const runs = some.length ? some : found;
    const long = runs.filter(({ start, end }) => end - start > 1);
    return long.length ? long : runs;
  }

  run(kind, text, start, end) {
    if (ENDS_WITH_DIGIT.test(text)) return part(this.numberForm(text), NUMBER, start, end);
    const unit = kind.parts === "runs" ? this.unitWords.get(text.toLowerCase()) : undefined;
    return part(unit ?? text, kind.letters, start, end);
  }

  // One spelling of a number: without thousands' commas, a plus sign, and zeros in front; of less and more signs that nothing
  // takes for brackets.
  numberForm(text) {
    const { THOUSANDS, ZEROS } = this.patterns;
    const number = THOUSANDS.fits(text) ? text.replaceAll(",", "") : text;
    const limited = number.replace(/^[<>]=?/, (sign) => (sign[0] === "<" ? "≤" : "≥"));
    return ZEROS.replaceIn(strip(limited, "+", "+").toLowerCase(), "") || number;
  }
}

export class Parts {
  // kinds: Kinds; reader: a Reader (near.js); rowOf: the row of a known word or of a form of one, else -1.
  constructor(tables, kinds, reader, rowOf) {
    Object.assign(this, tables.parts, { kinds, patterns: kinds.patterns, reader, rowOf });
  }

  isKnown(word) {
    return this.rowOf(word) >= 0;
  }

  // What an unknown string is: one word, as it is to be read, or {parts, how, near}; near are the known words that it may be,
  // damaged, all the same.
  takeApart(string) {
    if ((isAlpha(string) && isLower(cut(string, 1))) || this.reader.isListed(string)) return string;
    const seen = this.partsSeen(string);
    const isTag = string.startsWith("#") || string.startsWith("@");
    const near = seen?.mayBeWhole ? this.wholeInstead(string, seen) : { rows: [], chances: [] };
    if (seen && near) {
      const [first] = seen.parts;
      return seen.parts.length === 1 && first.how === WORD ? first.text : { ...seen, near };
    }
    return isTag ? this.wordsOfTag(string) : string;
  }

  // The known words that a string of several may be, damaged, with their chances; null if it is one sooner than several.
  wholeInstead(string, { parts, how }) {
    const { rows, chances, evidence } = this.reader.read(string);
    const near = Math.max(chances.reduce((sum, chance) => sum + chance, 0), 1e-300);
    const several = parts.reduce((sum, one) => sum + this.utility(one), this.priors[how]);
    const odds = Math.exp(evidence + Math.log(near) - several);
    return odds > 1 ? null : { rows, chances: chances.map((chance) => ((chance / near) * odds) / (1 + odds)) };
  }

  utility({ text, how }) {
    const row = this.rowOf(text);
    if (row >= 0) return this.reader.utility(row);
    if (how === NUMBER) return -this.NATS_PER_DIGIT * size(text);
    return how === WORD ? this.reader.read(text).evidence : this.UTILITY_OF_NAME;
  }

  // A hashtag or a name of letters alone is several words sooner than another string.
  wordsOfTag(tag) {
    const body = strip(tag, "#@");
    if (size(body) < this.reader.MIN_JOINED_LENGTH) return body || tag;
    const { parts, partEnds } = this.reader.read(body);
    if (parts * this.reader.TAG < 1 - parts) return body;
    const spans = spansOf(body, partEnds);
    const found = spans.map(([start, end]) => part(cut(body, start, end), WORD, start, end));
    return { parts: moved(found, size(tag) - size(body)), how: "mark" };
  }

  // {parts, how, mayBeWhole}: what can be seen; null for a string that holds one word at most.
  partsSeen(string) {
    if (this.isOneWord(string) || size(string) > this.MAX_LENGTH) return null;
    const body = strip(string, "#@");
    if (!body) return null;
    for (const whole of [string, body]) { // of #ff00aa the sign is a part
      const found = this.kinds.partsOf(whole);
      if (found) return { parts: moved(found.parts, size(string) - size(whole)), how: found.kind.name, mayBeWhole: false };
    }
    const seen = this.split(body);
    return seen && { ...seen, parts: moved(seen.parts, size(string) - size(body)) };
  }

  isOneWord(string) {
    return isAlpha(string) && (isLower(cut(string, 1)) || !this.patterns.HUMP.isIn(string));
  }

  split(string) {
    const emoji = this.patterns.AN_EMOJI.findAll(string);
    const named = emoji.length ? this.emojiParts(string, emoji) : [];
    if (named.length) return { parts: named, how: "emoji", mayBeWhole: false };
    const length = size(string);
    const one = (text, held, end = length, how = WORD) => ({ parts: [part(text, how, 0, end)], how: held, mayBeWhole: false });
    if (this.patterns.POSSESSIVE.isIn(string) && length > 3) {
      const base = cut(string, 0, length - 2);
      return this.partsSeen(base) ?? one(base, "ending", length - 2);
    }
    const [elision] = this.patterns.ELISION.findAll(string);
    if (elision) {
      const rest = cut(string, elision.end);
      const seen = this.partsSeen(rest) ?? one(rest, "ending", size(rest));
      return { ...seen, parts: moved(seen.parts, elision.end) };
    }
    const pieces = this.patterns.PIECE.findAll(string).filter(({ text }) => ALPHANUMERIC.test(text));
    if (!pieces.length) return null;
    if (pieces.length > 1) {
      const together = this.patterns.PARTS_TOGETHER.replaceIn(string, "");
      if (isAlpha(together) && this.isKnown(together)) return one(together, "mark");
      if (isAlpha(together) && pieces.every(({ start, end }) => end - start === 1)) return one(together, "mark", length, NAME);
    }
    const parts = [];
    const held = new Set(pieces.length > 1 ? ["mark"] : []);
    for (const { text, start } of pieces) {
      for (const [found, how] of this.splitPiece(text)) {
        parts.push(...moved([found], start));
        held.add(how);
      }
    }
    if (parts.length === 1 && parts[0].how === WORD) {
      return parts[0].text === string ? null : { parts, how: "mark", mayBeWhole: false };
    }
    const how = ORDER.find((name) => held.has(name)) ?? "mark";
    return { parts: parts.slice(0, this.MAX_PARTS), how, mayBeWhole: this.mayBeWhole(string, how) };
  }

  // Whether a string may be one word, damaged: with digits only where some of few stand for letters. What ends in a number is
  // numbered (room5), but for 0 and 1, which are often o and l (wil1).
  mayBeWhole(string, how) {
    if (how !== "digits") return how !== "script" && !this.patterns.NO_SLIP.isIn(string);
    if (this.patterns.NUMBERED.fits(string)) return false;
    const sizes = this.patterns.DIGIT_RUN.findAll(string).map(({ start, end }) => end - start);
    const letters = Array.from(string).filter(isAlpha).length;
    return Math.max(...sizes) <= 2 && sizes.reduce((sum, one) => sum + one, 0) <= letters;
  }

  // The parts of what stands between marks, with what holds each to the others: [part, how].
  splitPiece(piece) {
    const whole = () => [[part(piece, WORD, 0, size(piece)), "mark"]];
    if ((isAscii(piece) && this.isOneWord(piece)) || this.isKnown(piece)) return whole();
    const found = this.kinds.partsOf(piece);
    if (found) return found.parts.map((one) => [one, "digits"]);
    if (this.patterns.DIGIT.isIn(piece)) return this.splitDigits(piece);
    const [clitic] = this.patterns.CLITIC.findAll(piece);
    if (clitic) {
      const short = this.patterns.APOSTROPHE.replaceIn(clitic.text, "").toLowerCase();
      const before = this.splitPiece(cut(piece, 0, clitic.start)).map(([one]) => [one, "clitic"]);
      return [...before, [part(this.clitics[short], WORD, clitic.start, size(piece)), "clitic"]];
    }
    const asWords = (runs, how) => runs.map(({ text, start, end }) => [part(text, WORD, start, end), how]);
    if (this.patterns.APOSTROPHE.isIn(piece)) {
      const sides = NOT_APOSTROPHE.findAll(piece);
      if (sides.length > 1) return asWords(sides, "apostrophe");
    }
    const scripts = isAscii(piece) ? [] : scriptRuns(piece);
    if (scripts.length > 1) return asWords(scripts, "script");
    const humps = this.patterns.HUMPS.findAll(piece);
    if (isAscii(piece) && humps.length > 1 && humps.length <= this.MAX_PARTS && !isLower(piece) && !isUpper(piece)) {
      return humps.map(({ text, start, end }) => [part(text, text.length > 1 ? WORD : NAME, start, end), "capital"]);
    }
    return whole();
  }

  splitDigits(piece) {
    return this.patterns.RUNS.findAll(piece).flatMap(({ text, start, end }) => {
      if (STARTS_WITH_DIGIT.test(text)) {
        return [[part(this.kinds.numberForm(this.kinds.plainForm(text)), NUMBER, start, end), "digits"]];
      }
      const letters = Array.from(text).filter(isAlpha).length;
      if (letters < this.MIN_WORD && !this.isKnown(text)) return letters ? [[part(text, NAME, start, end), "digits"]] : [];
      return this.splitPiece(text).map(([one]) => [...moved([one], start), "digits"]);
    });
  }

  // The words of the names of emoji, of each once, and the other words beside them.
  emojiParts(string, emoji) {
    const places = new Map();
    for (const { text, start } of emoji) if (!places.has(text)) places.set(text, start);
    const named = [...places].flatMap(([one, place]) => (this.emoji[one] ?? []).map((word) => part(word, WORD, place, place + 1)));
    const words = ALPHANUMERICS.findAll(string).map(({ text, start, end }) => part(text, WORD, start, end));
    return [...named, ...words].slice(0, this.MAX_PARTS);
  }
}

// By the places in a string itself, instead of those in the form in which it is read.
export function placed(composite, form, string) {
  if (form === string) return composite;
  const at = string.indexOf(form);
  if (at >= 0) return { ...composite, parts: moved(composite.parts, size(string.slice(0, at))) };
  if (size(form) === size(string)) return composite;
  return { ...composite, parts: composite.parts.map((one) => ({ ...one, start: 0, end: size(string) })) };
}

// The script of a letter, for those that put no blanks between words.
function scriptOf(character) {
  const code = character.codePointAt(0);
  const within = (...ranges) => ranges.some(([low, high]) => low <= code && code <= high);
  if (within([0x3040, 0x309f])) return "hiragana";
  if (within([0x30a0, 0x30ff], [0xff66, 0xff9f])) return "katakana";
  return within([0x3400, 0x9fff], [0xf900, 0xfaff], [0x20000, 0x3134f]) ? "han" : "other";
}

function scriptRuns(piece) {
  const runs = [];
  Array.from(piece).forEach((character, place) => {
    const script = scriptOf(character);
    if (script !== runs.at(-1)?.script) runs.push({ script, text: "", start: place });
    const run = runs.at(-1);
    Object.assign(run, { text: run.text + character, end: place + 1 });
  });
  return runs;
}
