// The fold in JavaScript (lovevec/engine has the formulas): a word's vector out of a model's folded tables, no server.
//
//   Q, K = A_n features[ids]        A_n the constant positional attention of length n
//   w    = 1ᵀ softmax(Q Kᵀ) A_n
//   v    = normalise(Σ_j w_j out[id_j] + Σ_g out[g])      g the rows of the word's n-grams
//
// A known word has its own row.

import { Units } from "./units.js";

const TINY = 1.17549435e-38;
const HALF_LEVELS = [0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.069, 2.7326];
const LEVELS = Float32Array.from([...HALF_LEVELS.map((level) => -level).reverse(), ...HALF_LEVELS]);
const KINDS = { F32: Float32Array, F16: Uint16Array, I32: Int32Array, I8: Int8Array, U8: Uint8Array };
const RARE_SHARE = 0.5; // of the known words, from the end: a new word weighs what these weigh on average
const SIF = 1e-3;

// The tensors of a .safetensors file by name: {shape, data, kind}; float16 stays as its bits.
export function readTensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [low, high] }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const bytes = buffer.slice(8 + length + low, 8 + length + high);
    tensors[name] = { shape, kind: dtype, data: new KINDS[dtype](bytes) };
  }
  return tensors;
}

// float16 bits -> number, all 65,536 of them.
let halves = null;
function asNumbers() {
  halves ??= Float32Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  });
  return halves;
}

// A table whose row i stands for scale[i] * data[i]: float32, float16, int8, or two int4 codes a byte.
class Table {
  constructor(tensor, scale, dim) {
    Object.assign(this, { data: tensor.data, scale, dim, rows: tensor.shape[0], width: tensor.shape[1] });
    this.kind = tensor.kind;
    this.decode = this.kind === "F16" ? asNumbers() : null;
  }

  // sum += weight * row
  add(sum, row, weight) {
    const { data, width, dim, decode } = this;
    const factor = weight * this.scale[row];
    const start = row * width;
    if (this.kind === "U8") {
      for (let i = 0; i < dim; i += 1) sum[i] += factor * LEVELS[(data[start + (i >> 1)] >> (4 * (i & 1))) & 15];
    } else if (decode) {
      for (let i = 0; i < dim; i += 1) sum[i] += factor * decode[data[start + i]];
    } else {
      for (let i = 0; i < dim; i += 1) sum[i] += factor * data[start + i];
    }
  }

  row(row) {
    const sum = new Float64Array(this.dim);
    this.add(sum, row, 1);
    return sum;
  }

  // The dot product of a vector with each row.
  times(vector) {
    const { data, rows, width, dim, decode, scale } = this;
    const found = new Float32Array(rows);
    const query = Float32Array.from(vector);
    for (let row = 0; row < rows; row += 1) {
      let sum = 0;
      const start = row * width;
      if (this.kind === "U8") {
        for (let i = 0; i < dim; i += 1) sum += query[i] * LEVELS[(data[start + (i >> 1)] >> (4 * (i & 1))) & 15];
      } else if (decode) {
        for (let i = 0; i < dim; i += 1) sum += query[i] * decode[data[start + i]];
      } else {
        for (let i = 0; i < dim; i += 1) sum += query[i] * data[start + i];
      }
      found[row] = sum * scale[row];
    }
    return found;
  }
}

export class Engine {
  // config: {encoder, …}, as config.json has it; units: what units.json holds; tables: those of model.safetensors.
  constructor(config, units, tables) {
    Object.assign(this, config.encoder);
    this.units = new Units(units);
    this.out = new Table(tables.out, tables["out.scale"].data, this.dim);
    this.features = new Table(tables.features, tables["features.scale"].data, 2 * this.key_width);
    this.head_weights = ["0.weight", "0.bias", "2.weight", "2.bias"].map((name) => tables[`head.${name}`]?.data);
    this.windows = new Map();
  }

  // The vector that the spelling gives, at unit length, and its length before.
  impute(word) {
    const { ids, ngrams } = this.split(word);
    const { weights } = this.attend(ids);
    const sum = new Float64Array(this.dim);
    ids.forEach((id, place) => this.out.add(sum, id, weights[place]));
    if (this.head) this.throughHead(sum);
    for (const id of ngrams) this.out.add(sum, id, 1);
    const length = norm(sum);
    return { vector: sum.map((number) => number / Math.max(length, TINY)), length };
  }

  split(word) {
    const all = this.units.encode(word);
    const bound = this.units.unitRows;
    return { ids: all.filter((id) => id < bound), ngrams: all.filter((id) => id >= bound) };
  }

  // S, the self-attention between units [n][n], and w, how much each unit counts [n].
  attend(ids) {
    const [n, width] = [ids.length, this.key_width];
    const window = this.window(n);
    const seen = ids.map((id) => this.features.row(id));
    const mixed = window.map((row) => {
      const sum = new Float64Array(2 * width);
      row.forEach((weight, j) => seen[j].forEach((number, i) => (sum[i] += weight * number)));
      return sum;
    });
    const attention = mixed.map((query) => {
      const scores = mixed.map((key) => {
        let sum = 0;
        for (let i = 0; i < width; i += 1) sum += query[i] * key[width + i];
        return sum;
      });
      return softmax(scores);
    });
    const weights = new Float64Array(n);
    for (const row of attention) {
      row.forEach((share, i) => window[i].forEach((weight, j) => (weights[j] += share * weight)));
    }
    return { attention, weights };
  }

  // A_n = softmax(P Pᵀ / s) over sinusoids P.
  window(n) {
    if (!this.windows.has(n)) {
      const places = Array.from({ length: n }, (_, place) =>
        Float64Array.from({ length: this.dim }, (_, column) => {
          const angle = place / 10000 ** ((column - (column % 2)) / this.dim);
          return column % 2 ? Math.cos(angle) : Math.sin(angle);
        }),
      );
      this.windows.set(n, places.map((one) => softmax(places.map((other) => dot(one, other) / this.position_scale))));
    }
    return this.windows.get(n);
  }

  // The word-level MLP, added to the sum.
  throughHead(sum) {
    const [first, firstBias, second, secondBias] = this.head_weights;
    const length = Math.max(norm(sum), TINY);
    const hidden = Array.from(firstBias, (bias, i) => {
      let total = bias;
      for (let j = 0; j < this.dim; j += 1) total += (first[i * this.dim + j] * sum[j]) / length;
      return Math.max(total, 0);
    });
    for (let j = 0; j < this.dim; j += 1) {
      let total = secondBias[j];
      for (let i = 0; i < this.head; i += 1) total += second[j * this.head + i] * hidden[i];
      sum[j] += total;
    }
  }

  // What the imputed vector is made of: [{name, weight, share}], and S.
  explain(word) {
    const { ids, ngrams } = this.split(word);
    const { attention, weights } = this.attend(ids);
    const { vector, length } = this.impute(word);
    const share = (id, weight) => (weight * dot(this.out.row(id), vector)) / Math.max(length, TINY);
    const counted = [...ids.map((id, j) => [id, weights[j]]), ...ngrams.map((id) => [id, 1])];
    const names = this.units.names(word);
    const units = counted.map(([id, weight], j) => ({ name: names[j], weight, share: share(id, weight) }));
    return { units, attention: attention.map((row) => Array.from(row)) };
  }
}

// Known words, each with a row of its own, a weight in texts, and perhaps a rank that is not its place.
export class KnownWords {
  // tensors: those of rows.safetensors; forms: Forms (forms.js)
  constructor(words, tensors, dim, forms) {
    Object.assign(this, { words, forms });
    this.place = new Map(words.map((word, row) => [word, row]));
    this.table = new Table(tensors.codes, tensors.scale.data, dim);
    this.weights = tensors.weights?.data ?? weightsByRank(words.length);
    this.ranks = tensors.ranks?.data ?? null;
    const rare = this.weights.slice(Math.floor(RARE_SHARE * words.length));
    this.newWeight = rare.length ? rare.reduce((sum, weight) => sum + weight, 0) / rare.length : 1;
  }

  // {row, form}: the row of the known word that a string is a form of, or -1 and the form in which it is to be read.
  find(word) {
    return this.forms.find(word, (form) => this.place.get(form) ?? -1);
  }

  row(word) {
    return this.find(word).row;
  }

  // The k nearest words to a vector of unit length: [{word, cosine}].
  nearest(vector, k, except = -1) {
    const cosines = this.table.times(vector);
    const best = [];
    for (let row = 0; row < cosines.length; row += 1) {
      if (row === except || (best.length === k && cosines[row] <= cosines[best[k - 1]])) continue;
      let at = best.length;
      while (at > 0 && cosines[best[at - 1]] < cosines[row]) at -= 1;
      best.splice(at, 0, row);
      if (best.length > k) best.pop();
    }
    return best.map((row) => ({ word: this.words[row], cosine: cosines[row] }));
  }
}

// How much words count in texts by the order of their frequency (lovevec/texts/text_reader.py).
function weightsByRank(count) {
  const frequencies = Float64Array.from({ length: count }, (_, row) => 1 / (row + 1));
  const total = frequencies.reduce((sum, one) => sum + one, 0);
  return frequencies.map((one) => SIF / (SIF + one / total));
}

function softmax(scores) {
  const most = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

export function dot(one, other) {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += one[i] * other[i];
  return sum;
}

export const norm = (vector) => Math.sqrt(dot(vector, vector));
