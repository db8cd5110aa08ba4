// Vectors of numbers that are not known (lovevec/love.py): what numbers have in common, and a signature of the digits
// (texts/signatures.py), whose directions are the first numbers of numpy's PCG64(0).

import { normalise } from "./units.js";

const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const [FIRST, MIX] = [0x9e3779b1n, 0x9e3779b97f4a7c15n];
const MASK = (1n << 128n) - 1n;

export class Numbers {
  // generator: {state, inc, classes} of strings.json; common(): what numbers have in common, at unit length.
  constructor(generator, dim, common) {
    Object.assign(this, { generator, dim, common });
    this.shift = BigInt(64 - Math.log2(generator.classes));
  }

  // The vector of a number, at unit length.
  code(number) {
    this.direction ??= this.common();
    const signature = this.signature(number);
    return unit(this.direction.map((one, place) => one + signature[place]));
  }

  // The sum of the directions of its pairs of characters, those with its begin and end too, at unit length.
  signature(number) {
    const codes = [0, ...Array.from(normalise(number), (one) => one.codePointAt(0)), 0].map(BigInt);
    const sum = new Float64Array(this.dim);
    for (let at = 1; at < codes.length; at += 1) {
      const pair = BigInt.asUintN(64, BigInt.asUintN(64, codes[at - 1] * FIRST + codes[at]) * MIX) >> this.shift;
      const first = Number(pair) * this.dim;
      for (let column = 0; column < this.dim; column += 1) sum[column] += this.sign(first + column);
    }
    return unit(sum);
  }

  sign(place) {
    this.bits ??= firstNumbers(this.generator, Math.floor((this.generator.classes * this.dim) / 64) + 1);
    return (this.bits[place >> 3] >> (7 - (place & 7))) & 1 ? 1 : -1;
  }
}

// The first `count` numbers of the generator, as bytes, the lowest first.
function firstNumbers({ state: start, inc }, count) {
  const numbers = new BigUint64Array(count);
  const step = BigInt(inc);
  let state = BigInt(start);
  for (let place = 0; place < count; place += 1) {
    state = (state * MULTIPLIER + step) & MASK;
    const mixed = BigInt.asUintN(64, (state >> 64n) ^ state);
    const turn = state >> 122n;
    numbers[place] = BigInt.asUintN(64, (mixed >> turn) | (mixed << ((64n - turn) & 63n)));
  }
  return new Uint8Array(numbers.buffer);
}

function unit(vector) {
  const length = Math.sqrt(vector.reduce((sum, one) => sum + one * one, 0));
  return vector.map((one) => one / (length || 1));
}
