// One word looked at: as it is typed its reading, its neighbors, what its spelling says; damaged if one likes.

import { damage } from "./damage.js";

const PATIENCE = 60; // milliseconds without a key before anything is asked
const LONGEST_EXPLAINED = 64;
const STEPS = 14; // of a word's way, on the map
const EXAMPLES = ["oxgen", "bl00d", "fotograf", "Reykjavik", "deplatformed", "neural-netwrok", "hapybirthday", "500mg"];
export const A_NUMBER = /^[\p{N}.,]+$/u;
const LEAST_SHOWN = 0.005; // of a probability
const KINDS = {
  address: "an address", code: "a code", date: "a date", decade: "a decade", dimensions: "dimensions",
  email: "an email address", emoji: "an emoji", file: "a file name", hex: "a hexadecimal number", id: "an identifier",
  money: "an amount of money", number: "a number", ordinal: "an ordinal number", percentage: "a percentage",
  phone: "a phone number", quantity: "a quantity", time: "a time", version: "a version",
};
const SLIPS = { typos: ["none", "1 slip", "2 slips", "3 slips"], ocr: ["none", "1 misread", "2 misread", "3 misread"] };

export const percent = (chance) => (chance > 0.995 && chance < 1 ? "99" : String(Math.round(100 * chance))) + " %";

export function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

export function fillModels(select, models) {
  select.replaceChildren(...models.map(({ id }) => element("option", { value: id, textContent: id })));
  select.closest(".pick").hidden = models.length < 2;
}

export class Panel {
  // `onRead({word, name, neighbors, way})` is told what a map wants to know, `onProblem(error)` what went wrong.
  constructor(number, source, models, { onRead, onProblem }) {
    Object.assign(this, { source, models, onRead, onProblem, turn: 0, draw: 0 });
    this.root = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    this.root.classList.add(number === 1 ? "one" : "two");
    this.root.setAttribute("aria-label", number === 1 ? "A word" : "Another word");
    for (const part of this.root.querySelectorAll("[data-id]")) {
      this[camel(part.dataset.id)] = part;
      part.id = `${part.dataset.id}-${number}`;
    }
    for (const part of this.root.querySelectorAll("[data-for]")) part.htmlFor = `${part.dataset.for}-${number}`;
    for (const part of this.root.querySelectorAll("[data-labelledby]")) {
      part.setAttribute("aria-labelledby", `${part.dataset.labelledby}-${number}`);
    }
    this.slips.setAttribute("aria-label", "How many slips");
    this.kind.setAttribute("aria-label", "Kind of damage");
    fillModels(this.model, models);
    this.listen();
  }

  listen() {
    this.word.addEventListener("input", () => this.soon());
    this.model.addEventListener("change", () => this.update());
    this.slips.addEventListener("input", () => this.soon());
    this.kind.addEventListener("change", () => this.update());
    this.again.addEventListener("click", () => {
      this.draw += 1;
      if (this.slips.value === "0") this.slips.value = 1;
      this.update();
    });
    for (const word of EXAMPLES) {
      const button = element("button", { type: "button", textContent: word });
      button.addEventListener("click", () => this.set(word));
      this.examples.append(button);
    }
    this.units.addEventListener("keydown", (event) => this.alongUnits(event));
  }

  set(word) {
    this.word.value = word;
    this.slips.value = 0;
    return this.update();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PATIENCE);
  }

  // What is known soonest is shown first: the reading, the neighbors, the spelling, the way on the map.
  async update() {
    clearTimeout(this.timer);
    const turn = (this.turn += 1);
    const isLate = () => turn !== this.turn;
    try {
      const asked = await this.question();
      if (isLate()) return;
      this.showQuestion(asked);
      if (!asked.word.trim()) return this.showNothing(asked);
      const reading = this.source.near([asked.word], asked.model).then(([found]) => {
        if (!isLate()) this.showReading(found);
        return found;
      });
      const [near, around] = await Promise.all([reading, this.around(asked)]);
      if (isLate()) return;
      const found = { ...asked, ...around, near };
      this.showNearest(found);
      this.showDamage(found);
      this.tell({ ...found, way: [] });
      const explained = near.parts.length ? null : await this.explain(asked);
      if (isLate()) return;
      this.showSpelling(explained);
      const way = await this.askWay(asked);
      if (isLate()) return;
      this.tell({ ...found, way });
      this.root.dataset.shown = asked.typed;
    } catch (error) {
      if (!isLate()) this.onProblem(error);
    }
  }

  // Of a text the word that stands last is looked at.
  async question() {
    const [typed, model, slips] = [this.word.value, this.model.value, Number(this.slips.value)];
    const tokens = /\S\s+\S/.test(typed) ? await this.source.tokens(typed, model) : null;
    const original = tokens?.length ? tokens.at(-1).text : typed;
    return { typed, model, slips, tokens, original, word: damage(original, this.kind.value, slips, this.draw) };
  }

  async around({ word, original, slips, model }) {
    const [neighbors, before] = await this.source.neighbors([word, original], model);
    return { neighbors, before, cosine: slips ? await this.source.similar(original, word, model) : null };
  }

  async explain({ word, model }) {
    const isShort = Array.from(word).length <= LONGEST_EXPLAINED;
    const isTable = this.models.find(({ id }) => id === model)?.kind === "table";
    return isShort && !isTable ? this.source.explain(word, model) : null;
  }

  // Where the word was, letter by letter.
  async askWay({ word, model }) {
    const letters = Array.from(word);
    const steps = letters.map((_, place) => letters.slice(0, place + 1).join("")).slice(1, -1).slice(-STEPS);
    const found = steps.length ? await this.source.neighbors(steps, model) : [];
    return steps.map((step, place) => ({ word: step, neighbors: found[place] }));
  }

  tell(found) {
    const { word, near } = found;
    this.onRead({ ...found, name: near.reading === "known" ? near.near[0].word : word });
  }

  showQuestion({ typed, tokens, slips }) {
    this.amount.textContent = SLIPS[this.kind.value][slips];
    this.text.hidden = !tokens;
    if (tokens) this.text.replaceChildren(...coloured(typed, tokens));
    if (!slips) this.damaged.hidden = true;
  }

  showNothing(asked) {
    this.showReading(null);
    this.showNearest({ neighbors: [] });
    this.showSpelling(null);
    this.onRead({ ...asked, way: [] });
    this.root.dataset.shown = asked.typed;
  }

  showDamage({ slips, original, word, cosine, neighbors, before }) {
    this.damaged.hidden = !slips;
    if (this.damaged.hidden) return;
    const same = neighbors.filter((one) => before.some((other) => other.word === one.word)).length;
    const stay = `${same} of ${before.length} nearest words stay`;
    const moved = cosine === null ? "" : `cosine with “${original}” ${cosine.toFixed(2)}, `;
    this.damaged.replaceChildren(element("strong", { textContent: word }), ` ${moved}${stay}`);
  }

  showReading(near) {
    const reading = near?.reading ?? "empty";
    this.badge.className = `badge ${reading}`;
    this.badge.textContent = near && reading !== "empty" ? reading : "";
    this.verdict.textContent = verdict(near);
    this.showParts(reading === "parts" ? near.parts : []);
    const shown = chances(near);
    this.chances.replaceChildren(...shown.map(([name, chance, kind]) =>
      element("li", {}, element("span", { className: `name ${kind}`, textContent: name }), bar(chance),
        element("span", { className: "number", textContent: percent(chance) })),
    ));
    this.chances.hidden = !shown.length;
    const sure = near?.confidence;
    this.sure.textContent = typeof sure === "number" && reading !== "empty" ? `Confidence that the vector is right: ${percent(sure)}` : "";
  }

  // What stands in a string of several words; each part can be looked at.
  showParts(parts) {
    const inOrder = [...parts].sort((one, other) => one.start - other.start);
    this.parts.replaceChildren(...inOrder.map((part) => {
      const name = nameOf(part, parts);
      const looks = { className: `token ${part.reading}`, textContent: name, title: `Look at ${name}` };
      const button = element("button", { type: "button", ...looks });
      button.addEventListener("click", () => this.set(name));
      return element("li", {}, button, element("span", { className: "note", textContent: readingOf(part, name) }));
    }));
    this.parts.hidden = !parts.length;
  }

  showNearest({ neighbors, before, slips }) {
    const rows = neighbors.map(({ word, cosine }) => {
      const button = element("button", { type: "button", textContent: word, title: `Look at ${word}` });
      button.addEventListener("click", () => this.set(word));
      if (slips && before.some((one) => one.word === word)) button.classList.add("stays");
      const number = element("span", { className: "number", textContent: cosine.toFixed(2) });
      return element("tr", {}, element("td", { className: "name" }, button),
        element("td", {}, element("span", { className: "cell" }, bar(cosine), number)));
    });
    this.nearest.replaceChildren(...rows);
    this.nearest.closest("table").hidden = !rows.length;
    this.nearestTitle.hidden = !rows.length;
  }

  showSpelling(explained) {
    this.letters.closest(".made").hidden = !explained?.attention;
    if (!explained?.attention) return;
    this.explained = explained;
    const letters = Array.from(explained.normalised);
    const heat = letters.map(() => 0);
    for (const { share, start, end } of explained.units) {
      for (let place = start ?? 0; place < (end ?? 0); place += 1) heat[place] += share / (end - start);
    }
    const most = Math.max(...heat.map(Math.abs), 1e-9);
    this.letters.replaceChildren(...letters.map((letter, place) => {
      const cell = element("span", { textContent: letter, title: `${letter} brings ${percent(heat[place])}` });
      return warm(cell, heat[place] / most);
    }));
    this.letters.setAttribute("aria-label", "How much of the vector each letter brings: " +
      letters.map((letter, place) => `${letter} ${percent(heat[place])}`).join(", "));
    const units = explained.units.slice(0, explained.attention.length);
    this.units.replaceChildren(...units.map((unit, place) => {
      const button = element("button", { type: "button", textContent: unit.name, tabIndex: place ? -1 : 0 });
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => this.choose(place));
      return button;
    }));
    this.choose(null);
  }

  // Units by how much each counts, or by how much the chosen one takes from each.
  choose(place) {
    const { units, attention } = this.explained;
    this.chosen = this.chosen === place ? null : place;
    const values = this.chosen === null ? units.slice(0, attention.length).map((unit) => unit.weight) : attention[this.chosen];
    const most = Math.max(...values);
    [...this.units.children].forEach((button, at) => {
      warm(button, values[at] / most);
      button.setAttribute("aria-pressed", String(at === this.chosen));
      button.title = `${units[at].name}: ${values[at].toFixed(2)}`;
    });
    if (this.chosen === null) {
      this.unitSays.textContent = "Letters: what each brings to the vector of the spelling. Units below: how much each counts. Choose one to see what it attends to.";
      return;
    }
    const unit = units[this.chosen];
    const top = values.map((value, at) => [value, units[at].name]).sort((one, other) => other[0] - one[0]).slice(0, 3);
    const attends = top.map(([value, name]) => `${name} ${percent(value)}`).join(", ");
    this.unitSays.textContent = `${unit.name} counts ${unit.weight.toFixed(2)} and brings ${percent(unit.share)} of the vector; it attends to ${attends}.`;
  }

  alongUnits(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = [...this.units.children];
    const at = all.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = all[(at + step + all.length) % all.length];
    all.forEach((button) => (button.tabIndex = button === next ? 0 : -1));
    next.focus();
  }
}

function verdict(near) {
  if (!near || near.reading === "empty") return "Nothing to read yet";
  const [first] = near.near;
  if (near.reading === "known") return first ? `a word of the vocabulary${first.word === near.word ? "" : `: ${first.word}`}` : "";
  if (near.reading === "near") return `probably ${first.word}`;
  if (near.kind) return `${KINDS[near.kind] ?? near.kind}, ${near.reading === "parts" ? "read by its parts" : "placed by its digits"}`;
  if (near.reading === "parts") return `several words: ${wordsOf(near)}`;
  return "a word of its own, placed by its spelling";
}

const wordsOf = ({ parts }) => parts.map((part) => part.word ?? part.text).join(" ");

// What a part is called: where nobody knows which letters are its own, the word that it stands for.
function nameOf({ text, start, end, word }, parts) {
  const isShared = parts.filter((one) => one.start === start && one.end === end).length > 1;
  return isShared && word ? word : text;
}

function readingOf({ reading, word, probability }, name) {
  const isSame = !word || word === name.toLowerCase();
  const chance = reading === "known" || probability === 1 ? "" : ` ${percent(probability)}`;
  if (reading === "new" && A_NUMBER.test(name)) return "number";
  return `${reading}${isSame ? "" : ` → ${word}${chance}`}`;
}

// What a string may stand for, and how probably: [name, chance, class]. There is none of what is read by its parts for certain.
function chances(near) {
  if (!near || near.kind || !["near", "new", "parts"].includes(near.reading)) return [];
  const several = Math.max(0, 1 - near.new - near.near.reduce((sum, { probability }) => sum + probability, 0));
  if (several > 1 - LEAST_SHOWN) return [];
  const words = near.near.map(({ word, probability }) => [word, probability, ""]).filter(([, chance]) => chance >= LEAST_SHOWN);
  const parts = several < LEAST_SHOWN ? [] : [[near.reading === "parts" ? wordsOf(near) : "several words", several, "parts"]];
  const found = near.reading === "parts" ? [...parts, ...words.slice(0, 5)] : [...words.slice(0, 5), ...parts];
  return [...found, ["a new word", near.new, "new"]];
}

function bar(share) {
  const inner = element("span");
  inner.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  const outer = element("span", { className: "bar" }, inner);
  outer.setAttribute("aria-hidden", "true");
  return outer;
}

function warm(cell, part) {
  const colour = part < 0 ? "--cold" : "--heat";
  cell.style.backgroundColor = `rgb(var(${colour}) / calc(var(--hottest) * ${Math.min(1, Math.abs(part)).toFixed(3)}))`;
  return cell;
}

// A text with its tokens marked; `dress` may make something else of a token than a span.
export function coloured(text, tokens, dress = null) {
  const letters = Array.from(text);
  const parts = [];
  let at = 0;
  for (const token of tokens) {
    if (token.start < at) continue; // two words of one run
    parts.push(letters.slice(at, token.start).join(""));
    const shown = letters.slice(token.start, token.end).join("");
    const title = token.repair ? `${shown} → ${token.repair}` : token.reading;
    parts.push(dress?.(shown, token) ?? element("span", { className: `token ${token.reading}`, textContent: shown, title }));
    at = token.end;
  }
  return [...parts, letters.slice(at).join("")];
}

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
