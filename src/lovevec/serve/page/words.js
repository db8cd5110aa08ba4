// The words of a text (lovevec/texts/tokens.py), those that are torn in two in one piece (near/torn.py).

import { isAlpha, isAscii, isCombining, isLower, size, strip } from "./strings.js";

export class TextWords {
  // tables: strings.json; kinds: Kinds (parts.js); reader: a Reader (near.js); rowOf: the row of a known word, else -1.
  constructor(tables, kinds, reader, rowOf) {
    Object.assign(this, tables.texts, { kinds, patterns: kinds.patterns, reader, rowOf });
  }

  // [{text, start, end}], by code points.
  wordsOf(text) {
    const words = this.patterns.CHUNK.findAll(text).flatMap(({ text: chunk, start }) =>
      this.wordsOfChunk(chunk).map((word) => ({ text: word.text, start: start + word.start, end: start + word.end })));
    const characters = Array.from(text);
    const found = [];
    for (const word of words) {
      const before = found.at(-1);
      const isApart = before && size(before.text) === before.end - before.start; // not torn itself
      const isBeside = isApart && !this.patterns.CHUNK.isIn(characters.slice(before.end, word.start).join(""));
      if (isBeside && this.isTorn(before.text, word.text)) {
        found[found.length - 1] = { text: before.text + word.text, start: before.start, end: word.end };
      } else {
        found.push(word);
      }
    }
    return found;
  }

  wordsOfChunk(chunk) {
    const whole = this.ofAKind(chunk);
    if (whole) return [whole];
    if (isAscii(chunk)) return this.patterns.PLAIN.findAll(chunk);
    const { normal, places } = this.normalForm(chunk);
    return this.patterns.ANY_SCRIPT.findAll(normal).map(({ text, start, end }) => (
      { text, start: places[start][0], end: places[end - 1][1] }));
  }

  // The hashtag, name, or string of some kind that a chunk is, without the marks around it; or null.
  ofAKind(chunk) {
    if (isAscii(chunk) && !this.patterns.MAY_BE_OF_A_KIND.isIn(chunk)) return null;
    const inner = strip(chunk, this.OPENING, this.CLOSING);
    const start = size(chunk) - size(strip(chunk, this.OPENING));
    if (this.patterns.SIGNED.fits(inner)) return { text: inner, start, end: start + size(inner) };
    for (const [text, place] of [[inner, start], [strip(chunk, "", this.CLOSING), 0]]) {
      if (text && this.kinds.kindOf(this.kinds.plainForm(text))) return { text, start: place, end: place + size(text) };
    }
    return null;
  }

  // A text without variants in composed form, and where each of its characters comes from: [start, end] in the text.
  normalForm(text) {
    const characters = Array.from(text);
    const plain = (part) => this.patterns.VARIANTS.replaceIn(part, "").normalize("NFC");
    const [normal, places] = [[], []];
    for (let start = 0; start < characters.length; ) {
      let end = start + 1;
      while (end < characters.length && this.composes(characters.slice(start, end).join(""), characters[end])) end += 1;
      for (const one of plain(characters.slice(start, end).join(""))) {
        normal.push(one);
        places.push([start, end]);
      }
      start = end;
    }
    return { normal: normal.join(""), places };
  }

  // Whether a character has to be normalised together with what stands before it.
  composes(before, character) {
    if (isAscii(character)) return false;
    if (isCombining(character) || this.patterns.VARIANTS.isIn(character)) return true;
    return (before + character).normalize("NFC") !== before.normalize("NFC") + character.normalize("NFC");
  }

  // Whether two neighbors are one known word, torn in two.
  isTorn(first, second) {
    const { MIN_LENGTH, MIN_UNKNOWN_LENGTH, MIN_UNKNOWN_PART, LEAST_GAIN, frequent, rare } = this.reader.torn;
    const length = first.length + second.length;
    if (length < MIN_LENGTH || !isAscii(first + second) || !isAlpha(first) || !isAlpha(second) || !isLower(second)) return false;
    const joined = this.rowOf(first + second);
    if (joined < 0) return false;
    const rows = [this.rowOf(first), this.rowOf(second)];
    if (Math.min(...rows) < 0) return Math.min(first.length, second.length) >= MIN_UNKNOWN_PART && length >= MIN_UNKNOWN_LENGTH;
    const [one, other] = rows.map((row) => this.reader.rankCost(row)).sort((low, high) => low - high);
    return one + other - this.reader.rankCost(joined) >= LEAST_GAIN && (one >= frequent || other >= rare);
  }
}
