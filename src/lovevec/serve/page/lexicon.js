// Which words exist, and what words look like (lovevec/near/lexicon.py): a Bloom filter, weights of n-grams, endings.
// Hashes have 64 bits: Σ (code point + 1) · BASE^(letters that follow), modulo 2^64.

const [BASE, MIX, SALT] = [0x9e3779b97f4a7c15n, 0xd6e8feb86659fd93n, 0xc2b2ae3d27d4eb4fn];
const [PROBES, GRAM_BITS, MIN_GRAM, MAX_GRAM, BEGIN, END] = [7, 19, 2, 6, 0, 1];
const SALTS = Array.from({ length: MAX_GRAM + 1 }, (_, size) => low64(SALT * BigInt(size)));

export class Lexicon {
  // tensors: those of lexicon.safetensors; limits: those of near.json.
  constructor(tensors, limits) {
    Object.assign(this, limits, { filter: tensors.filter.data, grams: tensors.grams.data, scale: tensors.scale.data[0] });
    const text = new TextDecoder().decode(tensors.endings.data);
    this.endingWords = new Set(text.split(" ").filter(Boolean));
    this.endings = [...this.endingWords].map((ending) => {
      const codes = Array.from(ending, (one) => one.codePointAt(0));
      return { hash: prefixes(codes).at(-1), power: powers(codes.length).at(-1) };
    });
  }

  has(hash) {
    const mixed = mix(hash);
    const [first, step] = [Number(mixed & 0xffffffffn), Number((mixed >> 32n) | 1n)];
    const bits = 8 * this.filter.length;
    for (let probe = 0; probe < PROBES; probe += 1) {
      const place = (first + step * probe) % bits;
      if (!((this.filter[Math.floor(place / 8)] >> place % 8) & 1)) return false;
    }
    return true;
  }

  // The log odds that a string is a word, by its n-grams.
  likeness(codes) {
    const text = [BEGIN, ...codes, END].map((code) => BigInt(code) + 1n);
    let sum = 0;
    for (let start = 0; start < text.length; start += 1) {
      let state = 0n;
      for (let length = 1; length <= MAX_GRAM && start + length <= text.length; length += 1) {
        state = low64(state * BASE + text[start + length - 1]);
        if (length >= MIN_GRAM) sum += this.grams[Number(mix(low64(state + SALTS[length])) >> BigInt(64 - GRAM_BITS))];
      }
    }
    return Math.min(Math.max(sum * this.scale, this.MIN_LIKENESS), this.MAX_LIKENESS);
  }

  // {listed, begin, end, sibling}: whether the string is a word; of how many letters are the longest word at its begin, the
  // longest at its end, and what of it begins a word with another usual ending.
  words(codes) {
    const length = codes.length;
    const prefix = prefixes(codes);
    const power = powers(length);
    const suffix = (letters) => low64(prefix[length] - prefix[length - letters] * power[letters]);
    const longest = (hash) => {
      let letters = length - 1;
      while (letters >= 2 && !this.has(hash(letters))) letters -= 1;
      return letters >= 2 ? letters : 0;
    };
    return {
      listed: this.has(prefix[length]),
      begin: longest((letters) => prefix[letters]),
      end: longest(suffix),
      sibling: this.sibling(prefix, suffix),
    };
  }

  sibling(prefix, suffix) {
    const length = prefix.length - 1;
    for (let taken = 0; taken <= this.MAX_CUT && length - taken >= this.MIN_STEM; taken += 1) {
      const own = suffix(taken);
      if (taken && !this.endings.some(({ hash }) => hash === own)) continue;
      const stem = prefix[length - taken];
      if (this.endings.some(({ hash, power }) => hash !== own && this.has(low64(stem * power + hash)))) return length - taken;
    }
    return 0;
  }
}

function low64(number) {
  return BigInt.asUintN(64, number);
}

function mix(state) {
  state = low64((state ^ (state >> 32n)) * MIX);
  state = low64((state ^ (state >> 32n)) * MIX);
  return state ^ (state >> 32n);
}

// The hashes of the first 0, 1, … letters.
function prefixes(codes) {
  const hashes = [0n];
  for (const code of codes) hashes.push(low64(hashes.at(-1) * BASE + BigInt(code) + 1n));
  return hashes;
}

function powers(count) {
  const found = [1n];
  while (found.length <= count) found.push(low64(found.at(-1) * BASE));
  return found;
}
