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

const HUMP = /[a-z\p{Nd}][A-Z]|[A-Z]{2}[a-z]|[^\0-\x7f]/u;
const HUMPS = /[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\p{Nd}+/gu;

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
      if (row >= 0) return { word, reading: "known", confidence, new: 0, near: [{ word: this.known.words[row], probability: 1 }] };
      return { word, reading: empty ? "empty" : reading.new >= 0.5 ? "new" : "near", confidence, new: reading.new, near: candidates };
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
      all.push(found.nearest.map((one) => ({ word: one.word, cosine: one.cosine })));
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

  // The words of a text, as lovevec/texts/tokens.py has them, but for emoji, which are left out.
  async tokens(text) {
    const found = [];
    let [at, start] = [0, 0]; // in code units, in code points
    for (const { 0: run, index } of text.matchAll(RUNS)) {
      start += size(text.slice(at, index));
      for (const [word, low, high] of this.parts(run)) {
        const shown = Array.from(run).slice(low, high).join("");
        found.push({ text: shown, start: start + low, end: start + high, ...this.inText(word) });
      }
      start += size(run);
      at = index + run.length;
    }
    return found;
  }

  // The words that a run stands for, itself or what it is put together from: [word, from, to] each.
  parts(run, low = 0) {
    const whole = (word) => [[word, low, low + size(word)]];
    const isKnown = (word) => this.known.find(word).row >= 0;
    if (/^[\p{L}\p{N}]+$/u.test(run) && (isLower(run.slice(1)) || !HUMP.test(run))) return whole(run);
    if (isKnown(run) || /^[\p{Nd}.,]+$/u.test(run)) return whole(run);
    const base = run.replace(/['’ʼ][sS]$/, "") || run;
    if (/[.,\-‐‑]/.test(base)) {
      const together = base.replace(/[.,\-‐‑]/g, "");
      if (/^\p{L}+$/u.test(together) && isKnown(together)) return [[together, low, low + size(base)]];
      return placed(base.split(/([.,\-‐‑])/), low).flatMap(([part, at], place) => (part && place % 2 === 0 ? this.parts(part, at) : []));
    }
    const humps = isLower(base) ? [] : base.match(HUMPS) ?? [];
    const areWords = humps.length > 1 && humps.join("") === base && humps.every((hump) => hump.length > 1 && isKnown(hump));
    return areWords ? placed(humps, low) : whole(base);
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

const size = (text) => Array.from(text).length;

const isLower = (text) => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);

// Strings that stand one behind the other, each with its place.
function placed(strings, low) {
  let at = low;
  return strings.map((string) => [string, at, (at += size(string))]);
}
