// The model inside the page: answers as the server does (source.js), computed here. `lovevec export --web` writes the files.

import { Engine, KnownWords, dot, norm, readTensors } from "./engine.js";
import { Forms } from "./forms.js";
import { Lexicon } from "./lexicon.js";
import { spansOf } from "./joined.js";
import { Reader, likeliest } from "./near.js";
import { Numbers } from "./numbers.js";
import { Kinds, NAME, NUMBER, Parts, WORD, placed } from "./parts.js";
import { cut, isUpper, size } from "./strings.js";
import { TextWords } from "./words.js";

// What a model is made of, by the names that the constructor wants it under.
export const FILES = {
  config: "config.json", units: "units.json", near: "near.json", strings: "strings.json", forms: "forms.json", words: "words.json",
  tables: "model.safetensors", rows: "rows.safetensors", lexicon: "lexicon.safetensors",
};
const PROBABLE = 0.05; // a word, to count in the confidence
const EDGE = 1e-4;
const TINY = 1.17549435e-38;
const REMEMBERED = 500;

export class Local {
  wholeTexts = false; // vectors of lines are left to Python

  static async open(folder) {
    const get = async (name) => {
      const answer = await fetch(folder + name);
      if (!answer.ok) throw new Error(`${name} of the model cannot be read (${answer.status}).`);
      return name.endsWith(".json") ? answer.json() : readTensors(await answer.arrayBuffer());
    };
    const parts = await Promise.all(Object.entries(FILES).map(async ([part, name]) => [part, await get(name)]));
    return new Local(Object.fromEntries(parts));
  }

  // The contents of FILES by their names: JSON parsed, tensors read.
  constructor({ config, units, near, strings, forms, words, tables, rows, lexicon }) {
    this.config = config;
    this.engine = new Engine(config, units, tables);
    const kinds = new Kinds(strings);
    this.forms = new Forms(strings, kinds);
    this.known = new KnownWords(words, rows, this.engine.dim, this.forms);
    const rowOf = (word) => this.known.row(word);
    this.reader = new Reader(near, new Lexicon(lexicon, near.limits), words, this.known.ranks, forms, this.engine.units.lowercase);
    this.parts = new Parts(strings, kinds, this.reader, rowOf);
    this.texts = new TextWords(strings, kinds, this.reader, rowOf);
    this.numbers = new Numbers(strings.signatures, this.engine.dim, () => this.numberDirection());
    this.remembered = new Map();
  }

  about() {
    const { words } = this.known;
    return `${this.config.name}: ${words.length.toLocaleString("en")} known words, ${this.engine.dim} dimensions. Everything is computed in this browser: nothing that you type leaves it.`;
  }

  async models() {
    return [{ id: this.config.name, dim: this.engine.dim, kind: "model", words: this.known.words.length }];
  }

  // All there is to say of a string: {row, form, composite, reading, imputed, vector}.
  look(string) {
    if (this.remembered.has(string)) return this.remembered.get(string);
    const found = this.find(string);
    if (found.composite) found.vector = this.meanOfParts(found.composite.parts);
    else Object.assign(found, this.lookAtWord(found));
    if (this.remembered.size > REMEMBERED) this.remembered.clear();
    this.remembered.set(string, found);
    return found;
  }

  // {row, form, word, composite}: the row of a known word; else, with the row -1, the form in which a string is read as one
  // word, or what it holds. `word` is the one that stands in it beside something else (Deen's).
  find(string) {
    const found = this.known.find(string);
    if (found.row >= 0) return found;
    const taken = this.parts.takeApart(found.form);
    if (typeof taken === "string") return taken === found.form ? found : { ...this.known.find(taken), word: taken };
    return { ...found, composite: placed(taken, found.form, string) };
  }

  lookAtWord({ row, form }) {
    if (row >= 0) return { vector: this.known.table.row(row) };
    const [imputed, reading] = [this.engine.impute(form), this.reader.read(form)];
    return { imputed, reading, vector: this.meanOverReadings(imputed, reading) };
  }

  // p(new) · imputed + Σ p(word) · own + p(parts) · the mean of its words' vectors, at unit length.
  meanOverReadings(imputed, reading) {
    const vector = imputed.vector.map((number) => number * reading.new);
    reading.rows.forEach((row, place) => {
      if (reading.chances[place] >= this.reader.MIN_PROBABILITY) this.known.table.add(vector, row, reading.chances[place]);
    });
    if (reading.parts >= this.reader.MIN_PROBABILITY) {
      const weights = reading.partRows.map((row) => this.known.weights[row]);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      reading.partRows.forEach((row, place) => {
        this.known.table.add(vector, row, reading.parts * (total > 0 ? weights[place] / total : 1 / weights.length));
      });
    }
    const length = Math.max(norm(vector), TINY);
    return vector.map((number) => number / length);
  }

  // The mean of parts by how much each counts, as long as they are on average.
  meanOfParts(parts) {
    const sum = new Float64Array(this.engine.dim);
    let [total, lengths] = [0, 0];
    for (const part of parts) {
      const { vector, weight } = this.weighed(part);
      const share = weight * part.share;
      vector.forEach((number, place) => (sum[place] += share * number));
      total += share;
      lengths += share * norm(vector);
    }
    const factor = lengths / Math.max(total, 1e-12) / (norm(sum) || 1);
    return sum.map((number) => number * factor);
  }

  // The vector of a part of a string by itself, and how much it counts in a text.
  weighed({ text, how }) {
    const { row, form } = this.known.find(text);
    if (row >= 0) return { vector: this.known.table.row(row), weight: this.known.weights[row] };
    if (how === NAME) return { vector: this.engine.impute(form).vector, weight: this.known.newWeight };
    if (how === NUMBER) return { vector: this.numbers.code(form), weight: this.known.newWeight };
    const { vector, reading } = this.lookAtWord({ row, form });
    return { vector, weight: this.weightOf(reading) };
  }

  // The mean of the weights of what a string may stand for; of several words the sum.
  weightOf(reading) {
    const sum = (rows, share) => rows.reduce((total, row, place) => total + share(place) * this.known.weights[row], 0);
    const near = sum(reading.rows, (place) => reading.chances[place]);
    return near + sum(reading.partRows, () => reading.parts) + reading.new * this.known.newWeight;
  }

  // The mean of the known numbers, at unit length.
  numberDirection() {
    const sum = new Float64Array(this.engine.dim);
    this.known.words.forEach((word, row) => {
      if (/^\p{Nd}+$/u.test(word)) this.known.table.add(sum, row, 1);
    });
    const length = norm(sum) || 1;
    return sum.map((number) => number / length);
  }

  // [{word, reading, kind, confidence, near, new, parts}]
  async near(words) {
    return words.map((word) => {
      const found = this.look(word);
      const empty = this.forms.isBlank(word);
      const confidence = this.confidenceOf(empty ? { row: -1 } : found);
      const about = { word, reading: empty ? "empty" : this.readingOf(found), kind: this.kindOf(found), confidence };
      return { ...about, near: this.nearOf(found), new: empty ? 0 : newOf(found), parts: this.partsOf(word, found) };
    });
  }

  readingOf({ row, composite, reading }) {
    if (!composite) return row >= 0 ? "known" : likeliest(reading);
    return composite.parts.length > 1 || composite.parts[0].how === WORD ? "parts" : "new";
  }

  kindOf({ composite }) {
    return composite && !Object.hasOwn(this.parts.priors, composite.how) ? composite.how : null;
  }

  nearOf({ row, reading, composite }) {
    const { words } = this.known;
    if (row >= 0) return [{ word: words[row], probability: 1 }];
    const { rows, chances } = composite?.near ?? reading ?? { rows: [], chances: [] };
    return rows.map((near, place) => ({ word: words[near], probability: chances[place] }));
  }

  // What stands where in a string of several words: [{text, start, end, reading, word, probability}].
  partsOf(string, { form, composite, reading }) {
    const shown = ({ text, start, end, reading: how, word, probability }) => ({ text, start, end, reading: how, word, probability });
    if (composite) return this.tokensOfParts(string, composite.parts).map(shown);
    if (!reading || likeliest(reading) !== "parts") return [];
    const spans = spansOf(form, reading.partEnds);
    const parts = reading.partRows.map((row, place) => ({ row, start: spans[place][0], end: spans[place][1] }));
    return placed({ parts }, form, string).parts.map(({ row, start, end }) => {
      const text = cut(string, start, end);
      const isKnown = end - start === size(string) || this.known.row(text) === row; // of the whole nobody knows what stands where
      return { text, start, end, reading: isKnown ? "known" : "near", word: this.known.words[row], probability: 1 };
    });
  }

  // One after the other, with a pause in which the page can be painted.
  async neighbors(words) {
    const all = [];
    for (const word of words) {
      const found = this.look(word);
      if (!found.nearest) {
        await new Promise((resolve) => setTimeout(resolve));
        found.nearest = this.forms.isBlank(word) ? [] : this.known.nearest(found.vector, 10, this.known.row(word));
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
    if (this.forms.isBlank(one) || this.forms.isBlank(other)) return null;
    const [first, second] = [this.look(one).vector, this.look(other).vector];
    return dot(first, second) / (norm(first) * norm(second) || 1);
  }

  // The words of a text as they are read: [{text, start, end, reading, word, probability, repair}]; places are code points.
  async tokens(text) {
    const parts = this.texts.wordsOf(text).flatMap((word) => {
      const found = this.find(word.text);
      if (!found.composite) return [{ ...word, text: found.word ?? word.text, how: WORD, share: 1 }];
      const isApart = size(word.text) === word.end - word.start; // letters stand where they stood
      const place = (part) => (isApart ? [word.start + part.start, word.start + part.end] : [word.start, word.end]);
      return found.composite.parts.map((part) => ({ ...part, start: place(part)[0], end: place(part)[1] }));
    });
    return this.tokensOfParts(text, parts);
  }

  // A part with a share of its own, the name of its kind, stands nowhere.
  tokensOfParts(text, parts) {
    const characters = Array.from(text);
    return parts.filter(({ share }) => share === 1).map((part) => {
      const shown = characters.slice(part.start, part.end).join("");
      const token = { text: shown, start: part.start, end: part.end, ...this.inText(part, shown) };
      const isRepaired = token.reading === "near" || token.reading === "parts";
      return { ...token, repair: isRepaired ? replacement(shown, token.word) : null };
    });
  }

  // {reading, word, probability} of a part of a text.
  inText({ text, how }, shown) {
    const { words } = this.known;
    const { row, form } = this.known.find(text);
    if (row >= 0) return { reading: shown.trim().includes(" ") ? "near" : "known", word: words[row], probability: 1 };
    if (how !== WORD) return { reading: "new", word: null, probability: 1 };
    const reading = this.reader.readInText(form);
    const name = likeliest(reading);
    if (name === "new") return { reading: "new", word: null, probability: reading.new };
    if (name === "near") return { reading: "near", word: words[reading.rows[0]], probability: reading.chances[0] };
    return { reading: "parts", word: reading.partRows.map((one) => words[one]).join(" "), probability: reading.parts };
  }

  async vectors(words) {
    return words.map((word) => Float32Array.from(this.look(word).vector));
  }

  // How sure the vector is (lovevec/confidence.py); of several words the mean. Null where the model was not calibrated.
  confidenceOf(found) {
    const told = this.config.confidence;
    if (!told?.features) return null;
    if (!found.composite) return found.row >= 0 ? told.known : found.reading ? this.confidenceOfReading(found) : 0;
    const words = found.composite.parts.filter(({ how }) => how !== NUMBER).map(({ text }) => this.known.find(text));
    const each = words.map((word) => this.confidenceOf({ ...word, ...this.lookAtWord(word) }));
    return each.length ? each.reduce((sum, one) => sum + one, 0) / each.length : 1;
  }

  confidenceOfReading({ form, imputed, reading }) {
    const told = this.config.confidence;
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
      familiar: this.reader.familiarity(form),
    };
    const unread = spelled.filter((id) => id === 1).length / count;
    let logit = told.intercept;
    for (const [name, { coefficient, low, high }] of Object.entries(told.features)) {
      logit += coefficient * Math.min(high, Math.max(low, measured[name]));
    }
    const longer = Math.exp(Math.min(told.features.characters.high - measured.characters, 0));
    const own = ((1 - unread) * longer) / (1 + Math.exp(-logit));
    const near = reading.chances.reduce((sum, chance) => sum + (chance >= PROBABLE ? chance : 0), reading.parts);
    const mixed = near * told.known + reading.new * own;
    const held = Math.min(1 - EDGE, Math.max(EDGE, mixed));
    const [intercept, slope] = told.readings;
    return mixed > 0 ? (1 - unread) / (1 + Math.exp(-intercept - slope * Math.log(held / (1 - held)))) : 0;
  }
}

// The probability of a string that it is a new word; a number that is not known is one for certain.
function newOf({ row, composite, reading }) {
  if (composite) return Number(composite.parts.length === 1 && composite.parts[0].how !== WORD);
  return row >= 0 ? 0 : reading.new;
}

// What would stand in a text if it were spelled right, in the text's case.
function replacement(text, word) {
  const [first, ...others] = word;
  if (size(text) > 1 && isUpper(text)) return word.toUpperCase();
  return isUpper(Array.from(text)[0] ?? "") ? first.toUpperCase() + others.join("") : word;
}
