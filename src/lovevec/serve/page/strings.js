// Strings as Python sees them: characters are code points, and what is a letter, a digit or in lower case does not depend on
// a locale. Patterns are those of Python, which come as data: {source, flags} (serve/web.py).

const ASCII = /^[\0-\x7f]*$/;
const LETTERS = /^\p{L}+$/u;
const [UPPER_OR_TITLE, LOWER] = [/[\p{Uppercase}\p{Lt}]/u, /\p{Lowercase}/u];

export const isAscii = (text) => ASCII.test(text);
export const isAlpha = (text) => LETTERS.test(text);
export const isLower = (text) => LOWER.test(text) && !UPPER_OR_TITLE.test(text);
export const isUpper = (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

export const size = (text) => (isAscii(text) ? text.length : Array.from(text).length);

export const cut = (text, start, end) => (isAscii(text) ? text.slice(start, end) : Array.from(text).slice(start, end).join(""));

export const translate = (text, table) => Array.from(text, (character) => table[character] ?? character).join("");

// Without the marks of `left` at its begin and those of `right` at its end; marks are in the BMP.
export function strip(text, left, right = "") {
  let [low, high] = [0, text.length];
  while (low < high && left.includes(text[low])) low += 1;
  while (high > low && right.includes(text[high - 1])) high -= 1;
  return text.slice(low, high);
}

// A pattern of Python, compiled: to find, and to fit a whole string. Where case does not matter İ and ı are letters i in
// Python, and \u0345 is no letter; in JavaScript they are not, and it is one.
export class Pattern {
  constructor({ source, flags }) {
    this.everywhere = new RegExp(source, flags + "g");
    this.whole = new RegExp(`^(?:${source})$`, flags);
    this.isCaseless = flags.includes("i");
  }

  compared(text) {
    return this.isCaseless && !isAscii(text) ? text.replace(/[İı]/g, "i").replaceAll("\u0345", "\u0301") : text;
  }

  fits(text) {
    return this.whole.test(this.compared(text));
  }

  isIn(text) {
    return this.compared(text).search(this.everywhere) >= 0;
  }

  replaceIn(text, by) {
    return text.replace(this.everywhere, by);
  }

  // [{text, start, end}], by code points.
  findAll(text) {
    const found = [];
    let [at, start] = [0, 0];
    for (const { 0: { length }, index } of this.compared(text).matchAll(this.everywhere)) {
      const run = text.slice(index, index + length);
      start += size(text.slice(at, index));
      found.push({ text: run, start, end: start + size(run) });
      at = index;
    }
    return found;
  }
}

// Whether a mark is put in order with others behind a letter: what Python calls combining. In canonical order the marks of
// each class stand before \u0345, which has the last. Three Tibetan signs are made of such marks, but have no class.
const MADE_OF_MARKS = "\u0f73\u0f75\u0f81";
export const isCombining = (character) => character === "\u0345" ||
  (!MADE_OF_MARKS.includes(character) && `\u0345${character}`.normalize("NFD")[0] !== "\u0345");

// What a decimal digit of any script counts: they stand in tens, from 0 up.
export function decimal(character) {
  const code = character.codePointAt(0);
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}
