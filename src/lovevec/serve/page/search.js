// An index searched as one types: what was found, and why.

import { element, percent } from "./panel.js";

const PATIENCE = 120; // milliseconds without a key before anything is asked
const HITS_AT_A_TIME = 10;
const MOST_HITS = 100;
const LONGEST_QUERY = 1000; // characters
const LONGEST_SHORT = 320; // characters of a text before it is opened
const LONGEST_TEXT = 5000; // and once it is
const BEFORE_A_WORD = 80; // characters shown before the first word that met
const LEAST_SCORE = 0.1; // of a hit without a word that met; with nothing in common it is about 0.07
const WORD = /[\p{L}\p{M}\p{N}]+(?:[.,'’][\p{L}\p{M}\p{N}]+)*/gu;
const PART = /\p{N}+(?:[.,]\p{N}+)*|[\p{L}\p{M}]+/gu;
const SIGNALS = ["words", "letters", "meaning"];
const HOW = { known: "the same word", near: "misspelled", parts: "words run together", form: "another form of it" };

export class SearchView {
  constructor(source, indexes, { onRead, onProblem }) {
    Object.assign(this, { source, indexes, onRead, onProblem, turn: 0, asked: null, most: HITS_AT_A_TIME });
    for (const [name, id] of [["query", "query"], ["index", "search-index"], ["found", "found"], ["list", "hits"], ["more", "more"], ["legend", "signals"]]) {
      this[name] = document.getElementById(id);
    }
    this.index.replaceChildren(...indexes.map(({ id }) => element("option", { value: id, textContent: id })));
    this.index.closest(".pick").hidden = indexes.length < 2;
    this.query.maxLength = LONGEST_QUERY;
    this.query.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.start(), PATIENCE);
    });
    this.index.addEventListener("change", () => this.start());
    this.more.addEventListener("click", () => this.showMore());
    this.query.addEventListener("keydown", (event) => this.fromQuery(event));
    this.list.addEventListener("keydown", (event) => this.alongHits(event));
  }

  open() {
    if (this.asked === null) this.start();
    this.query.focus({ preventScroll: true });
  }

  start() {
    clearTimeout(this.timer);
    this.most = HITS_AT_A_TIME;
    return this.update();
  }

  async update() {
    const turn = (this.turn += 1);
    const [query, index] = [this.query.value, this.index.value];
    this.asked = query;
    try {
      const hits = query.trim() ? await this.source.search(query, index, this.most) : [];
      if (turn === this.turn) this.show(query, index, hits);
    } catch (error) {
      if (turn === this.turn) this.onProblem(error);
    }
  }

  show(query, index, hits) {
    const shown = hits.filter(({ score, why }) => score >= LEAST_SCORE || why.met.length);
    this.list.replaceChildren(...shown.map((hit, place) => this.hitOf(hit, place)));
    this.more.hidden = shown.length < this.most || this.most >= MOST_HITS;
    this.legend.hidden = !shown.length;
    const texts = this.indexes.find(({ id }) => id === index).texts.toLocaleString("en");
    if (!query.trim()) this.found.textContent = `${texts} texts to search in.`;
    else if (!shown.length) this.found.textContent = `Nothing in ${texts} texts has anything to do with it.`;
    else this.found.textContent = `The best ${shown.length} of ${texts} texts.`;
    this.list.dataset.shown = query;
    this.onRead();
  }

  async showMore() {
    const count = this.list.children.length;
    this.most = Math.min(this.most + HITS_AT_A_TIME, MOST_HITS);
    await this.update();
    this.buttons()[count]?.focus();
  }

  hitOf({ id, text, score, why }, place) {
    const words = new Set(why.met.map(({ word }) => word.toLowerCase()));
    const button = element("button", { type: "button", className: "hit-text" });
    const reasons = element("div", { id: `why-${place}`, className: "why", hidden: true }, ...reasonsOf(id, score, why));
    const write = (isOpen) => {
      button.replaceChildren(...marked(isOpen ? text.slice(0, LONGEST_TEXT) : shortened(text, words), words));
      button.setAttribute("aria-expanded", String(isOpen));
      reasons.hidden = !isOpen;
    };
    button.setAttribute("aria-controls", reasons.id);
    button.addEventListener("click", () => write(reasons.hidden));
    write(false);
    const read = why.met.filter(({ query, word, reading }) => reading !== "known" && query !== word);
    const met = element("p", { className: "met" }, ...read.map(arrow));
    return element("li", { className: "hit" }, button, barOf(score, why), met, reasons);
  }

  buttons() {
    return [...this.list.querySelectorAll(".hit-text")];
  }

  fromQuery(event) {
    if (event.key === "ArrowDown" && this.buttons().length) {
      event.preventDefault();
      this.buttons()[0].focus();
    } else if (event.key === "Enter") {
      this.start();
    }
  }

  alongHits(event) {
    const buttons = this.buttons();
    const place = buttons.indexOf(document.activeElement);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (place < 0 || (next === undefined && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Escape" || next < 0) this.query.focus();
    else buttons[Math.min(next, buttons.length - 1)].focus();
  }
}

// hedphones → headphones
function arrow({ query, word }) {
  return element("span", {}, element("span", { className: "token near", textContent: query }), " → ", element("strong", { textContent: word }));
}

// A bar as long as the score, in three parts.
function barOf(score, why) {
  const parts = SIGNALS.map((name) => {
    const part = element("span", { className: `by-${name}` });
    part.style.width = `${100 * why[name]}%`;
    return part;
  });
  const says = `score ${score.toFixed(2)}: ${SIGNALS.map((name) => `${name} ${why[name].toFixed(2)}`).join(", ")}`;
  const bar = element("span", { className: "bar", title: says }, ...parts);
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", says);
  return element("span", { className: "score" }, bar, element("span", { className: "number", textContent: score.toFixed(2) }));
}

function reasonsOf(id, score, why) {
  const rows = why.met.map(({ query, word, reading, share }) => element("li", {},
    element("span", { textContent: query === word ? word : `${query} → ${word}` }),
    element("span", { className: "number", textContent: `${HOW[reading] ?? reading}${share < 0.995 ? `, ${percent(share)}` : ""}` })));
  const words = element("ul", { className: "met-words" }, ...rows);
  const none = element("p", { className: "note", textContent: "No word of the query stands here: letters or meaning are alike." });
  const shares = SIGNALS.map((name) => `${name} ${why[name].toFixed(2)}`).join(" + ");
  return [rows.length ? words : none, element("p", { className: "note", textContent: `${shares} = ${score.toFixed(2)} · id ${id}` })];
}

// Of a long text what stands around the first word that met.
function shortened(text, words) {
  if (text.length <= LONGEST_SHORT) return text;
  const first = [...text.matchAll(WORD)].find(([word]) => words.has(word.toLowerCase()))?.index ?? 0;
  const start = first > BEFORE_A_WORD ? text.indexOf(" ", first - BEFORE_A_WORD) + 1 : 0;
  const end = start + LONGEST_SHORT;
  return `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
}

// A text in which the words that met are marked.
function marked(text, words) {
  const parts = [];
  let at = 0;
  const mark = (word, start) => {
    parts.push(text.slice(at, start), element("mark", { textContent: word }));
    at = start + word.length;
  };
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (words.has(word.toLowerCase())) mark(word, index);
    else for (const part of word.matchAll(PART)) if (words.has(part[0].toLowerCase())) mark(part[0], index + part.index);
  }
  return [...parts, text.slice(at)];
}
