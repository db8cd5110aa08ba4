// The units of a word, as lovevec/units makes them in Python: [CLS] characters [SUB] pieces [SEP], then hashed n-grams.
//
//   const units = new Units(JSON.parse(text));  // what `lovevec export --onnx` and `--web` write as units.json
//   units.encode("mispelling");                 // rows of the model's tables, as numbers
//
// Same ids as Python for any string, where both know a character: they follow the Unicode tables of their runtimes.

const [UNK, CLS, SEP, SUB] = [1, 2, 3, 4];
const SPECIAL = 5;
const LONGEST = 100;
const HEAD = LONGEST / 2;
// Where a letter with a mark, a ligature or a full-width form may have a plain base letter.
const BASED_RANGES = [[0x80, 0x2c00], [0xa640, 0xa800], [0xfb00, 0xfff0]];
const NGRAM_LENGTHS = [3, 4];
const [BEGIN, END] = [2, 3];
const [PRIME, MIX, SHIFT] = [1099511628211n, 0x9e3779b97f4a7c15n, 33n];
const ASCII = /^[\0-\x7f]*$/;

// Composed form, lower case, at most 100 characters (head and tail of a longer word); characters are code points.
export function normalise(word, lowercase = true) {
  word = ends(word, LONGEST);
  if (!ASCII.test(word)) word = word.normalize("NFC");
  if (lowercase) word = word.toLowerCase();
  const characters = Array.from(word);
  return characters.length <= LONGEST ? word : characters.slice(0, HEAD).join("") + characters.slice(-HEAD).join("");
}

// The first and the last `most` characters of a longer word; looks at no more than them, however long it is.
function ends(word, most) {
  if (word.length <= most) return word;
  if (word.length <= 4 * most) {
    const characters = Array.from(word);
    return characters.length <= most ? word : characters.slice(0, most).join("") + characters.slice(-most).join("");
  }
  // 2 * most code units hold at least `most` whole characters, counted from either end.
  const first = Array.from(word.slice(0, 2 * most)).slice(0, most);
  const last = Array.from(word.slice(-2 * most)).slice(-most);
  return first.join("") + last.join("");
}

export class Units {
  // vocabulary: {units, rows, unit_rows, ngrams, input, lowercase}; `rows` is null where unit i has table row i.
  constructor(vocabulary) {
    Object.assign(this, { rows: null, ngrams: 0, input: "mixed", lowercase: true }, vocabulary);
    this.unitRows = vocabulary.unit_rows;
    this.alphabet = new Map();
    this.units.forEach((unit, id) => {
      const code = unit.codePointAt(0);
      if (unit.length === (code > 0xffff ? 2 : 1)) this.alphabet.set(code, id);
    });
    this.starts = new Map();
    this.goesOn = new Map();
    this.longest = 0; // in code units, of any piece that a word can have
    this.units.forEach((unit, id) => {
      if (id < SPECIAL) return;
      const continues = unit.length > 2 && unit.startsWith("##");
      const piece = continues ? unit.slice(2) : unit;
      const characters = Array.from(piece);
      const reachable = characters.every((character) => this.alphabet.has(character.codePointAt(0)));
      if (!reachable || !characters.length || characters.length > LONGEST) return;
      (continues ? this.goesOn : this.starts).set(piece, id);
      this.longest = Math.max(this.longest, piece.length);
    });
    this.based = new Map();
  }

  // The table rows of a word: [CLS] … [SEP], then the n-grams' rows, from `unitRows` up.
  encode(word) {
    const codes = this.codes(word);
    const ids = this.unitIds(codes).map((id) => (this.rows ? this.rows[id] : id));
    if (!this.ngrams) return ids;
    return ids.concat(ngramBuckets(codes, this.ngrams).map((bucket) => bucket + this.unitRows));
  }

  // The units of a word, spelled out: for people.
  names(word) {
    const names = this.unitIds(this.codes(word)).map((id) => this.units[id]);
    return this.ngrams ? names.concat(ngramNames(normalise(word, this.lowercase))) : names;
  }

  // Of each unit of `names` the characters of the normalised word that it covers, [from, to]; null for marks.
  spans(word) {
    const length = this.codes(word).length;
    const places = Array.from({ length }, (_, place) => [place, place + 1]);
    const letters = this.input === "pieces" ? [] : places;
    const pieces = this.input === "chars" ? [] : this.pieces(this.codes(word).map((code) => this.character(code)));
    let start = 0;
    const covered = pieces.map((id) => {
      const name = Array.from(this.units[id]);
      const end = id === UNK ? length : start + name.length - (start ? 2 : 0);
      const span = [start, end];
      start = end;
      return span;
    });
    const ngrams = this.ngrams ? NGRAM_LENGTHS.flatMap((size) => ngramSpans(length, size)) : [];
    return [null, ...letters, ...(this.input === "mixed" ? [null] : []), ...covered, null, ...ngrams];
  }

  codes(word) {
    return Array.from(normalise(word, this.lowercase), (character) => character.codePointAt(0));
  }

  unitIds(codes) {
    const characters = codes.map((code) => this.character(code));
    const pieces = this.input === "chars" ? [] : this.pieces(characters);
    if (this.input === "mixed") return [CLS, ...characters, SUB, ...pieces, SEP];
    return [CLS, ...(this.input === "chars" ? characters : pieces), SEP];
  }

  // The unit of a code point: its own, that of its base letter (é as e), or [UNK].
  character(code) {
    const own = this.alphabet.get(code);
    if (own !== undefined) return own;
    if (!BASED_RANGES.some(([low, high]) => low <= code && code < high)) return UNK;
    let unit = this.based.get(code);
    if (unit === undefined) {
      const base = Array.from(String.fromCodePoint(code).normalize("NFKD"))[0].toLowerCase();
      unit = this.alphabet.get(base.codePointAt(0)) ?? UNK;
      this.based.set(code, unit);
    }
    return unit;
  }

  // Greedy longest-match WordPiece; a word that cannot be split whole is [UNK].
  pieces(characters) {
    if (characters.includes(UNK)) return [UNK];
    const letters = characters.map((id) => this.units[id]);
    const text = letters.join("");
    const cuts = new Set([0]); // between whole characters, in code units
    let end = 0;
    for (const letter of letters) cuts.add((end += letter.length));
    const found = [];
    for (let at = 0; at < text.length; ) {
      const table = at ? this.goesOn : this.starts;
      let until = Math.min(text.length, at + this.longest);
      while (until > at && !(cuts.has(until) && table.has(text.slice(at, until)))) until -= 1;
      if (until === at) return [UNK];
      found.push(table.get(text.slice(at, until)));
      at = until;
    }
    return found;
  }
}

// The buckets of a word's 3-grams from left to right, then of its 4-grams: h = (h * PRIME) ^ character over the run, from
// h = its length, modulo 2^64, then mixed and cut.
function ngramBuckets(codes, buckets) {
  const framed = [BEGIN, ...codes, END].map(BigInt);
  const found = [];
  for (const length of NGRAM_LENGTHS) {
    for (let low = 0; low + length <= framed.length; low += 1) {
      let hash = BigInt(length);
      for (let step = 0; step < length; step += 1) hash = BigInt.asUintN(64, hash * PRIME) ^ framed[low + step];
      found.push(Number((BigInt.asUintN(64, hash * MIX) >> SHIFT) % BigInt(buckets)));
    }
  }
  return found;
}

function ngramNames(word) {
  const shown = ["<", ...word, ">"];
  return NGRAM_LENGTHS.flatMap((length) =>
    shown.slice(0, Math.max(0, shown.length - length + 1)).map((_, low) => shown.slice(low, low + length).join("")),
  );
}

// Which characters each run of `size` covers, without the word's begin and end.
function ngramSpans(length, size) {
  const count = Math.max(0, length + 2 - size + 1);
  return Array.from({ length: count }, (_, low) => [Math.max(low - 1, 0), Math.min(low - 1 + size, length)]);
}
