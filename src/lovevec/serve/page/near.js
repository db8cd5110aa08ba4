// Readings of an unknown string, as lovevec/near makes them: candidates by buckets, the channel's costs, new or not.
// What depends on characters alone (symbols, costs of slips) comes from Python as near.json; what depends on the known words
// (buckets, the character model) is made here when the model is opened.

const [LONGEST, STRETCHED] = [32, 48];
const [PREFIX, SOUND_LENGTH, PER_BUCKET, KEPT, WITHIN] = [6, 12, 512, 48, 20];
const LEFT_OUT = Array.from({ length: 1 << PREFIX }, (_, mask) => mask).filter((mask) => bitCount(mask) <= 2);
const KEYS = LEFT_OUT.length + SOUND_LENGTH + 1;
const [BUCKETS, NO_KEY] = [1 << 20, 0xffffffff];
const [PRIME, FIRST_SEED, SOUND_SEED, MIX] = [0x01000193, 0x811c9dc5, 0x9e3779b9, 0x2c1b3c6d];
const [UNIT, WORTH, MOST, FAR] = [32, 8 * 32, 10, 12000];
const [ORDER, STRENGTH, BEGIN, END] = [5, 5, 256, 257];
const PRIMES = Array.from({ length: ORDER }).reduce((all) => [...all, Math.imul(all.at(-1) ?? 1, PRIME)], []);
const STRANGEST = -6;

export class Reader {
  // tables: near.json; known: rows of code points of the known words, normalised as units are.
  constructor(tables, known, codesOf) {
    Object.assign(this, tables, { codesOf });
    this.symbol = new Map(tables.characters.map((character, place) => [character.codePointAt(0), place + 1]));
    this.size = tables.characters.length + 1;
    this.two = new Map(tables.two.map(([first, second, spelling]) => [first * this.size + second, spelling]));
    this.rows = []; // of the known words that others can be meant for
    this.words = []; // their symbols
    known.forEach((codes, row) => {
      const symbols = codes.map((code) => this.symbol.get(code) ?? 0);
      if (symbols.length < 2 || symbols.length > LONGEST || !symbols.some((one) => this.letters[one])) return;
      this.rows.push(row);
      this.words.push(Uint8Array.from(symbols));
    });
    this.rankCosts = this.rows.map((row) => Math.round(this.rank * Math.log(row + 30) * UNIT));
    this.buildIndex();
    this.buildModel();
  }

  // {rows, chances, new, familiar}: known words most probable first, and the mean log probability of its letters.
  read(string) {
    const { symbols, digits, name } = this.stringOf(string);
    const features = this.features(symbols, digits, name);
    const score = features.reduce((sum, feature, place) => sum + feature * this.newWeights[place], 0);
    const found = symbols.length ? this.candidates(symbols).map((word) => [this.align(word, symbols) + this.rankCosts[word], word]) : [];
    found.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const chosen = found.slice(0, MOST).filter(([cost]) => cost <= found[0][0] + WORTH);
    const utilities = [score, ...chosen.map(([cost]) => -cost / UNIT)];
    const best = Math.max(...utilities);
    const weights = utilities.map((utility) => Math.exp(utility - best));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const [fresh, ...chances] = weights.map((weight) => weight / total);
    return { rows: chosen.map(([, word]) => this.rows[word]), chances, new: fresh, familiar: symbols.length ? features[2] : STRANGEST };
  }

  // As it is read: of a letter that stands three times or more in a row two are kept; empty if it is near nothing.
  stringOf(string) {
    const codes = this.codesOf(string);
    const kept = codes.filter((code, place) => !(place > 1 && code === codes[place - 1] && code === codes[place - 2]));
    const symbols = kept.map((code) => this.symbol.get(code) ?? 0);
    const characters = Array.from(string);
    const readable = symbols.some((one) => this.letters[one]) && symbols.length >= 2 && symbols.length <= LONGEST && characters.length <= STRETCHED;
    const name = isUpper(characters[0] ?? "") && !isUpper(characters.slice(1).join(""));
    return { symbols: readable ? symbols : [], digits: symbols.some((one) => this.digits[one]), name };
  }

  // Candidates (near/index.py)

  buildIndex() {
    const count = this.words.length;
    const keys = new Uint32Array(count * KEYS);
    [this.letterBits, this.pairsLow, this.pairsHigh] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
    this.rankBits = this.words.map((_, place) => Math.round(2 * Math.log2(place + 16)));
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
          least = Math.min(least, before[j - 1] + (other ? other + on[1] : 0));
          if (pair) least = Math.min(least, twoBefore[j - 1] + spellings[pair][one[string[j - 1]]] + on[2]);
        }
        if (j > 1) {
          const written = pairs[j - 1];
          if (written && one[letter]) least = Math.min(least, before[j - 2] + spellings[one[letter]][written] + on[1]);
          if (written && pair) least = Math.min(least, twoBefore[j - 2] + spellings[pair][written] + on[2]);
          const crossed = i > 1 && string[j - 2] === letter && string[j - 1] === previous && letter !== previous && letter && previous;
          if (crossed) least = Math.min(least, twoBefore[j - 2] + slips.swap + on[2]);
        }
        best[j] = Math.min(least, FAR);
      }
      for (let j = 1; j <= m; j += 1) best[j] = Math.min(best[j], best[j - 1] + extra[j - 1] + on[0]);
      [twoBefore, before] = [before, best];
    }
    return before[m];
  }

  lostKind(word, place) {
    if (isTwin(word, place)) return "lost twin";
    if (place === word.length - 1 && word[place] === this.symbol.get(0x65)) return "lost end";
    return ["lost", "lost vowel", "lost h", "lost"][this.classes[word[place]]];
  }

  extraKind(string, place) {
    return isTwin(string, place) ? "extra twin" : ["extra", "extra vowel", "extra", "extra joint"][this.classes[string[place]]];
  }

  // New or not: a character model of the known words (near/novelty.py)

  buildModel() {
    this.counts = new Int32Array(1 << 21);
    this.known = new Uint8Array(1 << 21);
    this.total = 0;
    for (const word of this.words) {
      this.total += word.length + 1;
      for (const places of this.gramPlaces(word)) for (const place of places) this.counts[place] += 1;
      const bit = wordBit(prefixes(word).at(-1));
      this.known[bit >>> 3] |= 1 << (bit & 7);
    }
  }

  // For the begin, each letter and the end: where the n-grams that end there are counted, from 1 to ORDER.
  gramPlaces(symbols) {
    const text = [BEGIN, ...symbols, END];
    return text.map((_, at) => {
      let state = 0;
      return PRIMES.map((prime, order) => {
        state = (state + Math.imul(at >= order ? text[at - order] : BEGIN, prime)) | 0;
        let mixed = (state + Math.imul(0x9e3779b9, order + 1)) | 0;
        mixed = Math.imul(mixed ^ (mixed >>> 15), MIX);
        return (mixed ^ (mixed >>> 12)) >>> 11;
      });
    });
  }

  logProbability(symbols) {
    let [sum, before] = [0, null];
    for (const places of this.gramPlaces(symbols)) {
      const seen = places.map((place) => this.counts[place]);
      let chance = 1 / 256;
      seen.forEach((count, order) => {
        const context = order ? before?.[order - 1] ?? 0 : this.total;
        chance = (count + STRENGTH * chance) / (context + STRENGTH);
      });
      if (before) sum += Math.log(Math.min(chance, 1));
      before = seen;
    }
    return sum;
  }

  features(symbols, digits, name) {
    const length = symbols.length;
    const total = this.logProbability(symbols);
    const parts = this.knownEnds(symbols) / Math.max(length, 1);
    return [1, total, total / (length + 1), Math.log(Math.max(length, 1)), Math.max(4 - length, 0), parts, Number(digits), Number(name)];
  }

  // How many letters the longest known begin and the longest known end have together.
  knownEnds(symbols) {
    const length = symbols.length;
    const prefix = prefixes(symbols);
    const isKnown = (hash) => {
      const bit = wordBit(hash);
      return (this.known[bit >>> 3] >> (bit & 7)) & 1;
    };
    let [begin, end] = [length - 1, 1];
    while (begin > 1 && !isKnown(prefix[begin])) begin -= 1;
    const behind = (start) => {
      let power = 1;
      for (let step = start; step < length; step += 1) power = Math.imul(power, PRIME);
      return (prefix[length] - Math.imul(prefix[start], power)) | 0;
    };
    while (end < length - 1 && !isKnown(behind(end))) end += 1;
    return (begin > 1 ? begin : 0) + (end < length - 1 ? length - end : 0);
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

function prefixes(symbols) {
  const hashes = [0];
  for (const one of symbols) hashes.push((Math.imul(hashes.at(-1), PRIME) + one + 1) | 0);
  return hashes;
}

const wordBit = (hash) => Math.imul(hash ^ (hash >>> 16), 0x9e3779b1) >>> 8;

const isTwin = (row, place) => row[place] > 0 && (row[place] === row[place - 1] || row[place] === row[place + 1]);

const isUpper = (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

function bitCount(number) {
  let bits = number - ((number >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
