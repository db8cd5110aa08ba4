// Readings of an unknown string, as lovevec/near makes them: candidates by buckets, the channel's costs, what speaks for new
// words and for several that are run together, listed forms. What depends on characters alone (symbols, costs of slips) comes
// from Python as near.json; what depends on the known words (buckets) is made here when the model is opened.

import { JoinedWords } from "./joined.js";
import { isUpper, size } from "./strings.js";
import { normalise } from "./units.js";

const [LONGEST, RANK_OFFSET] = [32, 30];
const [PREFIX, SOUND_LENGTH, PER_BUCKET, KEPT, WITHIN] = [6, 12, 512, 48, 20];
const LEFT_OUT = Array.from({ length: 1 << PREFIX }, (_, mask) => mask).filter((mask) => bitCount(mask) <= 2);
const KEYS = LEFT_OUT.length + SOUND_LENGTH + 1;
const [BUCKETS, NO_KEY] = [1 << 20, 0xffffffff];
const [PRIME, FIRST_SEED, SOUND_SEED, MIX] = [0x01000193, 0x811c9dc5, 0x9e3779b9, 0x2c1b3c6d];
const [UNIT, WORTH, MOST, FAR, DIGIT_COST] = [32, 8 * 32, 10, 12000, 512];
const DIGIT = 4; // of the classes by which letters get lost or put in
const LISTED = 7; // of the features

export class Reader {
  // tables: near.json; words: the known words; ranks: how frequent each is, null where that is their order; forms: those that
  // stand for known words (forms.json); lowercase: whether words are compared in lower case.
  constructor(tables, lexicon, words, ranks, forms, lowercase) {
    Object.assign(this, tables, tables.limits, { lexicon, ranks, forms, lowercase });
    this.symbol = new Map(tables.characters.map((character, place) => [character.codePointAt(0), place + 1]));
    this.size = tables.characters.length + 1;
    this.two = new Map(tables.two.map(([first, second, spelling]) => [first * this.size + second, spelling]));
    this.rows = []; // of the known words that others can be meant for
    this.words = []; // their symbols
    const together = new Map();
    this.frequent(words.length).forEach((row, place) => {
      const text = normalise(words[row], lowercase);
      const symbols = codesOf(text).map((code) => this.symbol.get(code) ?? 0);
      if (this.canBeJoined(text, symbols, place) && !together.has(text)) {
        together.set(text, { row, cost: this.partCost(row, symbols.length) });
      }
      if (symbols.length < 2 || symbols.length > LONGEST || !symbols.some((one) => this.letters[one])) return;
      this.rows.push(row);
      this.words.push(Uint8Array.from(symbols));
    });
    this.joinedWords = new JoinedWords(together, Math.round(this.joined.join * UNIT), tables.limits);
    this.rankCosts = this.rows.map((row) => this.rankCost(row));
    this.partCosts = this.rows.map((row, word) => this.partCost(row, this.words[word].length));
    this.listed = this.listedForms(words);
    this.buildIndex();
  }

  // The rows of the most frequent words, most frequent first.
  frequent(count) {
    const rows = Array.from({ length: count }, (_, row) => row);
    if (this.ranks) rows.sort((one, other) => this.ranks[one] - this.ranks[other]);
    return rows.slice(0, this.MAX_KNOWN_WORDS);
  }

  // Words of letters alone, two at least but for the most frequent; what makes other words of words is none itself.
  canBeJoined(text, symbols, place) {
    const isLong = symbols.length > 1 || place < this.MAX_ONE_LETTER_ROW;
    const isPlain = symbols.length > 0 && symbols.every((one) => this.letters[one]);
    return isPlain && isLong && symbols.length <= this.MAX_PART && !this.lexicon.endingWords.has(text);
  }

  rankCost(row, weight = this.rank) {
    return Math.round(weight * Math.log((this.ranks?.[row] ?? row) + RANK_OFFSET) * UNIT);
  }

  partCost(row, length) {
    return this.rankCost(row, this.joined.rank) + (length <= this.SHORT ? Math.round(this.joined.short * UNIT) : 0);
  }

  // Of a known word by itself: what its rank counts.
  utility(row) {
    return -this.rankCost(row) / UNIT;
  }

  isListed(string) {
    return Object.hasOwn(this.forms, string.toLowerCase());
  }

  // {rows, chances, new, parts, partRows, partEnds, evidence}: known words most probable first; the probability of a new word,
  // and of several known ones, with their rows and where they end; the log of how well all of them explain the string.
  read(string) {
    const text = normalise(string, this.lowercase);
    return this.listed.get(text) ?? this.readAsUnknown(this.stringOf(string, text));
  }

  // The same in running text, where an unknown string is a misspelling more often than in a list of words.
  readInText(string) {
    const reading = this.read(string);
    const fresh = reading.new / this.NEW_DIVISOR_IN_TEXT;
    const total = reading.chances.reduce((sum, chance) => sum + chance, fresh + reading.parts);
    const share = (chance) => chance / (total || 1);
    return { ...reading, new: share(fresh), parts: share(reading.parts), chances: reading.chances.map(share) };
  }

  readAsUnknown({ codes, symbols, isPlain, isStretched, marks }) {
    const features = symbols.length ? this.features(codes, isStretched, marks) : null;
    const score = features ? features.reduce((sum, feature, place) => sum + feature * this.newWeights[place], 0) : 0;
    const found = symbols.length ? this.aligned(symbols).map(([cost, word]) => [cost + this.rankCosts[word], word]) : [];
    found.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const chosen = found.slice(0, MOST).filter(([cost]) => cost <= found[0][0] + WORTH);
    const cut = isPlain ? this.cut(codes, symbols, score, chosen[0]?.[0], features) : null;
    const several = cut ? this.several(cut) : -Infinity;
    const utilities = [score, ...chosen.map(([cost]) => -cost / UNIT), several];
    const best = Math.max(...utilities);
    const weights = utilities.map((utility) => Math.exp(utility - best));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const chances = weights.map((weight) => weight / total);
    return {
      rows: chosen.map(([, word]) => this.rows[word]),
      chances: chances.slice(1, -1),
      new: chances[0],
      parts: chances.at(-1),
      partRows: (cut?.words ?? []).map(([row]) => row),
      partEnds: (cut?.words ?? []).map(([, end]) => end),
      evidence: best + Math.log(total),
    };
  }

  // As it is read: of a letter that stands three times or more in a row two are kept; empty if it is near nothing.
  stringOf(string, text) {
    const all = codesOf(text);
    const codes = all.filter((code, place) => !(place > 1 && code === all[place - 1] && code === all[place - 2]));
    const symbols = codes.map((code) => this.symbol.get(code) ?? 0);
    const isLong = string.length > 2 * this.MAX_STRETCHED_LENGTH || size(string) > this.MAX_STRETCHED_LENGTH;
    const isReadable = symbols.some((one) => this.letters[one]) && symbols.length >= 2 && symbols.length <= LONGEST && !isLong;
    if (!isReadable) return { codes: [], symbols: [], isPlain: false, isStretched: false, marks: [] };
    const [first, ...others] = string;
    const marks = [
      symbols.some((one) => this.digits[one]),
      isUpper(first) && !isUpper(others.join("")),
      size(string) <= this.MAX_CAPITALS && isUpper(string),
    ];
    return { codes, symbols, isPlain: symbols.every((one) => this.letters[one]), isStretched: codes.length < all.length, marks };
  }

  // How much a string is spelled like a word; the least also where it cannot be read.
  familiarity(string) {
    const { codes } = this.stringOf(string, normalise(string, this.lowercase));
    return codes.length ? this.lexicon.likeness(codes) : this.MIN_LIKENESS;
  }

  // What speaks for or against its being new (near/novelty.py), in the order of its FEATURES.
  features(codes, isStretched, marks) {
    const { length } = codes;
    const { listed, begin, end, sibling } = this.lexicon.words(codes);
    const ends = [begin, end, sibling].map((letters) => letters / length);
    return [1, this.lexicon.likeness(codes), Math.log(length), Math.max(4 - length, 0), ...ends, listed && !isStretched, ...marks].map(Number);
  }

  // Several words (near/joined.py)

  several({ cost }) {
    return this.joined.constant - cost / UNIT;
  }

  // The cheapest cut into known words; one of them may be misspelled where the string is nearer to new, or to several words,
  // than to any known word, and not listed.
  cut(codes, symbols, score, near, features) {
    const characters = codes.map((code) => String.fromCodePoint(code));
    const cut = this.joinedWords.cut(characters);
    const isFar = Math.max(score, cut ? this.several(cut) : -Infinity) >= (near === undefined ? -Infinity : -near / UNIT);
    const isListed = features[LISTED];
    return isFar && !isListed && codes.length >= this.MIN_DAMAGED_LENGTH ? this.damagedCut(cut, characters, symbols) : cut;
  }

  damagedCut(cut, characters, symbols) {
    let best = cut;
    for (const gap of this.joinedWords.gaps(characters)) {
      const found = this.aligned(symbols.slice(gap.start, gap.end)).map(([cost, word]) => [cost + this.partCosts[word], word]);
      if (!found.length) continue;
      const [cost, word] = found.reduce((one, other) => (other[0] - one[0] || other[1] - one[1]) < 0 ? other : one);
      if (gap.cost + cost >= (best?.cost ?? Infinity)) continue;
      best = { cost: gap.cost + cost, words: [...gap.before, [this.rows[word], gap.end], ...gap.behind] };
    }
    return best;
  }

  // Forms that stand for known words, as readings by their normalised spelling.
  listedForms(words) {
    const place = new Map(words.map((word, row) => [word, row]));
    const listed = new Map();
    for (const [form, meanings] of Object.entries(this.forms)) {
      const known = meanings
        .map(([meant, chance]) => [meant.split(/\s+/).filter(Boolean).map((word) => place.get(word) ?? -1), chance])
        .filter(([rows]) => Math.min(...rows) >= 0 && rows.length <= this.MAX_PARTS)
        .sort((one, other) => other[1] - one[1]);
      const text = normalise(form, this.lowercase);
      if (!known.length || listed.has(text)) continue;
      const single = known.filter(([rows]) => rows.length === 1);
      const [partRows, parts] = known.find(([rows]) => rows.length > 1) ?? [[], 0];
      const chances = single.map(([, chance]) => chance);
      listed.set(text, {
        rows: single.map(([[row]]) => row),
        chances,
        new: Math.max(0, 1 - parts - chances.reduce((sum, chance) => sum + chance, 0)),
        parts,
        partRows,
        partEnds: partRows.map(() => size(form)),
        evidence: known[0][0].reduce((sum, row) => sum + this.utility(row), 0),
      });
    }
    return listed;
  }

  // Candidates (near/index.py)

  buildIndex() {
    const count = this.words.length;
    const keys = new Uint32Array(count * KEYS);
    [this.letterBits, this.pairsLow, this.pairsHigh] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
    this.rankBits = this.rows.map((row, place) => Math.round(2 * Math.log2((this.ranks?.[row] ?? place) + 16)));
    const sizes = new Uint32Array(BUCKETS + 1);
    this.words.forEach((symbols, word) => {
      const seen = [...new Set(this.keys(symbols))];
      keys.fill(NO_KEY, word * KEYS, (word + 1) * KEYS);
      keys.set(seen, word * KEYS);
      for (const key of seen) sizes[key + 1] += 1;
      const { letters, low, high } = this.bits(symbols);
      [this.letterBits[word], this.pairsLow[word], this.pairsHigh[word]] = [letters, low, high];
    });
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) sizes[bucket + 1] += sizes[bucket];
    this.offsets = sizes;
    this.members = new Uint32Array(sizes[BUCKETS]);
    const next = sizes.slice();
    for (let at = 0; at < keys.length; at += 1) {
      if (keys[at] !== NO_KEY) this.members[next[keys[at]]++] = Math.floor(at / KEYS);
    }
  }

  // The buckets of a word: its first letters with up to two left out, its sound with up to one left out.
  keys(symbols) {
    const first = Array.from(symbols.slice(0, PREFIX), (one) => this.folded[one]);
    const keys = [];
    for (const mask of LEFT_OUT) {
      if (32 - Math.clz32(mask) <= first.length) keys.push(bucket(first, (place) => (mask >> place) & 1, FIRST_SEED));
    }
    const heard = [];
    for (const one of symbols) {
      const sound = this.sound[one];
      if (sound && sound !== heard.at(-1)) heard.push(sound);
    }
    heard.length = Math.min(heard.length, SOUND_LENGTH);
    for (let out = -1; out < heard.length; out += 1) keys.push(bucket(heard, (place) => place === out, SOUND_SEED));
    return keys;
  }

  // Bit sets of its letters and of its pairs of letters (64 bits, in two halves).
  bits(symbols) {
    const pairs = [0, 0];
    let [letters, before] = [0, 0];
    const add = (one, two) => {
      let state = Math.imul(one * 257 + two, 0x9e3779b1);
      state = Math.imul(state ^ (state >>> 15), MIX) >>> 26;
      pairs[state >> 5] |= 1 << (state & 31);
    };
    for (const one of symbols) {
      const plain = this.folded[one];
      letters |= 1 << (plain % 29);
      add(before, plain);
      before = plain;
    }
    add(before, 256);
    return { letters, low: pairs[0], high: pairs[1] };
  }

  candidates(symbols) {
    const { letters, low, high } = this.bits(symbols);
    const first = this.folded[symbols[0]];
    const behind = new Map();
    let least = Infinity;
    for (const key of new Set(this.keys(symbols))) {
      const end = Math.min(this.offsets[key + 1], this.offsets[key] + PER_BUCKET);
      for (let at = this.offsets[key]; at < end; at += 1) {
        const word = this.members[at];
        if (behind.has(word)) continue;
        const unlike = bitCount(low ^ this.pairsLow[word]) + bitCount(high ^ this.pairsHigh[word]);
        const other = bitCount(letters ^ this.letterBits[word]);
        const longer = Math.abs(this.words[word].length - symbols.length);
        const same = this.folded[this.words[word][0]] === first ? 4 : 0;
        const score = this.rankBits[word] + 2 * (unlike + longer + 2 * other) - same;
        behind.set(word, score);
        least = Math.min(least, score);
      }
    }
    const near = [...behind].filter(([, score]) => score <= least + WITHIN);
    near.sort((one, other) => one[1] - other[1] || one[0] - other[0]);
    return near.slice(0, KEPT).map(([word]) => word);
  }

  // [cost, word] of each candidate that takes no digit for another.
  aligned(symbols) {
    return this.candidates(symbols).map((word) => [this.align(word, symbols), word]).filter(([cost]) => cost < DIGIT_COST);
  }

  // The cheapest way from a known word to a string (near/alignment.py)

  align(number, string) {
    const word = this.words[number];
    const [n, m] = [word.length, string.length];
    const { substitution, one, spellings, slips, size } = this;
    const lost = Array.from(word, (_, place) => slips[this.lostKind(word, place)]);
    const extra = Array.from(string, (_, place) => slips[this.extraKind(string, place)]);
    const pairs = Array.from(string, (letter, place) => (place ? this.two.get(string[place - 1] * size + letter) ?? 0 : 0));
    let [before, twoBefore] = [null, null];
    for (let i = 0; i <= n; i += 1) {
      const best = new Int32Array(m + 1).fill(FAR);
      const last = i === n ? slips.last : 0;
      const on = [0, 1, 2].map((taken) => last + (i === taken ? slips.first : 0));
      if (i === 0) best[0] = 0;
      const letter = word[i - 1];
      const previous = word[i - 2];
      const pair = i > 1 ? this.two.get(previous * size + letter) ?? 0 : 0;
      for (let j = 0; i > 0 && j <= m; j += 1) {
        let least = before[j] + lost[i - 1] + on[1];
        if (j > 0) {
          const other = substitution[letter * size + string[j - 1]];
          least = Math.min(least, before[j - 1] + other + (other && other !== slips.free ? on[1] : 0));
          if (pair) least = Math.min(least, twoBefore[j - 1] + spellings[pair][one[string[j - 1]]] + on[2]);
        }
        if (j > 1) {
          const written = pairs[j - 1];
          if (written && one[letter]) least = Math.min(least, before[j - 2] + spellings[one[letter]][written] + on[1]);
          if (written && pair) least = Math.min(least, twoBefore[j - 2] + spellings[pair][written] + on[2]);
          const crossed = i > 1 && string[j - 2] === letter && string[j - 1] === previous && this.canSwap(letter, previous);
          if (crossed) least = Math.min(least, twoBefore[j - 2] + slips.swap + on[2]);
        }
        best[j] = Math.min(least, FAR);
      }
      for (let j = 1; j <= m; j += 1) best[j] = Math.min(best[j], best[j - 1] + extra[j - 1] + on[0]);
      [twoBefore, before] = [before, best];
    }
    return before[m];
  }

  canSwap(one, other) {
    return one !== other && one && other && this.classes[one] !== DIGIT && this.classes[other] !== DIGIT;
  }

  lostKind(word, place) {
    if (this.classes[word[place]] === DIGIT) return "digit";
    if (isTwin(word, place)) return "lost twin";
    if (place === word.length - 1 && word[place] === this.symbol.get(0x65)) return "lost end";
    return ["lost", "lost vowel", "lost h", "lost"][this.classes[word[place]]];
  }

  extraKind(string, place) {
    if (this.classes[string[place]] === DIGIT) return "digit";
    return isTwin(string, place) ? "extra twin" : ["extra", "extra vowel", "extra", "extra joint"][this.classes[string[place]]];
  }
}

function bucket(letters, isOut, seed) {
  let state = seed | 0;
  letters.forEach((letter, place) => {
    if (!isOut(place)) state = (Math.imul(state, PRIME) + letter) | 0;
  });
  state = Math.imul(state ^ (state >>> 15), MIX);
  return (state ^ (state >>> 12)) >>> 12;
}

const isTwin = (row, place) => row[place] > 0 && (row[place] === row[place - 1] || row[place] === row[place + 1]);

// The most probable reading: new, near (one of the known words) or parts.
export function likeliest(reading) {
  const near = reading.chances.reduce((sum, chance) => sum + chance, 0);
  if (reading.new >= near && reading.new >= reading.parts) return "new";
  return near >= reading.parts ? "near" : "parts";
}

const codesOf = (text) => Array.from(text, (character) => character.codePointAt(0));

function bitCount(number) {
  let bits = number - ((number >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
