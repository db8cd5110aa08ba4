// The model inside the page: answers as the server does (source.js), computed here. `lovevec export --web` writes the files.

import { Engine, KnownWords, dot, isBlank, norm, readTensors } from "./engine.js";
import { Reader } from "./near.js";

const LEAST = 0.01; // of a word's probability, to count in a vector
const PROBABLE = 0.05; // … and in the confidence
const EDGE = 1e-4;
const TINY = 1.17549435e-38;
const JOINTS = "'’ʼ.,\\-‐‑";
const LETTER = "[\\p{L}\\p{N}\\p{M}\\u00ad\\u200c\\u200d\\u2060]";
const RUNS = new RegExp(`[\\p{L}\\p{N}]${LETTER}*(?:[${JOINTS}]${LETTER}+)*`, "gu");

export class Local {
  wholeTexts = false; // vectors of lines are left to Python

  static async open(folder) {
    const get = async (name, how) => {
      const answer = await fetch(folder + name);
      if (!answer.ok) throw new Error(`${name} of the model cannot be read (${answer.status}).`);
      return answer[how]();
    };
    const names = ["config.json", "units.json", "near.json", "words.json"];
    const [config, units, near, words, tables, rows] = await Promise.all([
      ...names.map((name) => get(name, "json")),
      ...["model.safetensors", "rows.safetensors"].map((name) => get(name, "arrayBuffer")),
    ]);
    return new Local(config, units, near, words, readTensors(tables), readTensors(rows));
  }

  constructor(config, units, near, words, tables, rows) {
    this.config = config;
    this.engine = new Engine(config, units, tables);
    this.known = new KnownWords(words, rows, this.engine.dim);
    const codes = (word) => this.engine.units.codes(word);
    this.reader = new Reader(near, words.map(codes), codes);
    this.remembered = new Map();
  }

  about() {
    const { words } = this.known;
    return `${this.config.name}: ${words.length.toLocaleString("en")} known words, ${this.engine.dim} dimensions. Everything is computed in this browser: nothing that you type leaves it.`;
  }

  async models() {
    return [{ id: this.config.name, dim: this.engine.dim, kind: "model", words: this.known.words.length }];
  }

  // All there is to say of a word: {row, reading, imputed, vector}.
  read(word) {
    if (this.remembered.has(word)) return this.remembered.get(word);
    const { row, form } = this.known.find(word);
    const found = { row, form };
    if (row >= 0) {
      found.vector = this.known.table.row(row);
    } else {
      found.imputed = this.engine.impute(form);
      found.reading = this.reader.read(form);
      found.vector = found.imputed.vector.map((number) => number * found.reading.new);
      found.reading.rows.forEach((near, place) => {
        const chance = found.reading.chances[place];
        if (chance >= LEAST) this.known.table.add(found.vector, near, chance);
      });
      const length = Math.max(norm(found.vector), TINY);
      found.vector = found.vector.map((number) => number / length);
    }
    if (this.remembered.size > 500) this.remembered.clear();
    this.remembered.set(word, found);
    return found;
  }

  async near(words) {
    return words.map((word) => {
      const { row, form, imputed, reading } = this.read(word);
      const empty = isBlank(word);
      const candidates = (reading?.rows ?? []).map((near, place) => ({ word: this.known.words[near], probability: reading.chances[place] }));
      const confidence = empty ? 0 : this.confidence(row, form, imputed, reading);
      if (row >= 0) return { word, reading: "known", confidence, p_new: 0, candidates: [{ word: this.known.words[row], probability: 1 }] };
      return { word, reading: empty ? "empty" : reading.new >= 0.5 ? "new" : "near", confidence, p_new: reading.new, candidates };
    });
  }

  // One after the other, with a pause in which the page can be painted.
  async neighbors(words) {
    const all = [];
    for (const word of words) {
      const found = this.read(word);
      if (!found.nearest) {
        await new Promise((resolve) => setTimeout(resolve));
        found.nearest = isBlank(word) ? [] : this.known.nearest(found.vector, 10, found.row);
      }
      all.push(found.nearest.map((one) => ({ word: one.word, similarity: one.cosine })));
    }
    return all;
  }

  async explain(word) {
    const { units } = this.engine;
    const found = this.engine.explain(word);
    const spans = units.spans(word);
    const spanned = found.units.map((unit, place) => ({ ...unit, start: spans[place]?.[0] ?? null, end: spans[place]?.[1] ?? null }));
    return { normalised: String.fromCodePoint(...units.codes(word)), units: spanned, attention: found.attention };
  }

  async similar(one, other) {
    return isBlank(one) || isBlank(other) ? null : dot(this.read(one).vector, this.read(other).vector);
  }

  // The words of a text; in running text an unknown string is a misspelling more often.
  async tokens(text) {
    const found = [];
    let [at, start] = [0, 0]; // in code units, in code points
    for (const { 0: run, index } of text.matchAll(RUNS)) {
      start += Array.from(text.slice(at, index)).length;
      const whole = this.read(run);
      const parts = whole.row < 0 && /[.,\-‐‑]/.test(run) ? run.split(/([.,\-‐‑])/) : [run];
      for (const part of parts) {
        const length = Array.from(part).length;
        if (part && !/^[.,\-‐‑]$/.test(part)) found.push({ text: part, start, end: start + length, ...this.inText(part) });
        start += length;
      }
      at = index + run.length;
    }
    return found;
  }

  inText(word) {
    const { row, reading } = this.read(word);
    if (row >= 0) return { reading: "known", repair: null };
    const fresh = reading.new / Math.E;
    const others = reading.chances.reduce((sum, chance) => sum + chance, 0);
    if (fresh >= others) return { reading: "new", repair: null };
    return { reading: "near", repair: this.known.words[reading.rows[0]] };
  }

  async vectors(words) {
    return words.map((word) => Float32Array.from(this.read(word).vector));
  }

  // How sure the vector is (lovevec/confidence.py); null where the model was not calibrated.
  confidence(row, form, imputed, reading) {
    const told = this.config.confidence;
    if (!told?.features) return null;
    if (row >= 0) return told.known;
    const { units } = this.engine;
    const codes = units.codes(form);
    const count = Math.max(codes.length, 1);
    const spelled = codes.map((code) => units.character(code));
    const pieces = units.pieces(spelled);
    const lengths = pieces.map((id) => (id < 5 ? 0 : Array.from(units.units[id].replace(/^##/, "")).length));
    const measured = {
      characters: Math.log(count),
      pieces: Math.log(Math.max(pieces.length, 1)),
      longest: Math.max(0, ...lengths) / count,
      length: Math.log(Math.max(imputed.length, TINY) / units.encode(form).length),
      familiar: reading.familiar,
    };
    const unread = spelled.filter((id) => id === 1).length / count;
    let logit = told.intercept;
    for (const [name, { coefficient, low, high }] of Object.entries(told.features)) {
      logit += coefficient * Math.min(high, Math.max(low, measured[name]));
    }
    const longer = Math.exp(Math.min(told.features.characters.high - measured.characters, 0));
    const own = ((1 - unread) * longer) / (1 + Math.exp(-logit));
    const near = reading.chances.reduce((sum, chance) => sum + (chance >= PROBABLE ? chance : 0), 0);
    const mixed = near * told.known + reading.new * own;
    const held = Math.min(1 - EDGE, Math.max(EDGE, mixed));
    const [intercept, slope] = told.readings;
    return mixed > 0 ? (1 - unread) / (1 + Math.exp(-intercept - slope * Math.log(held / (1 - held)))) : 0;
  }
}
