// A whole text or a list of words: its words by reading, repairs, vectors to take home.

import { download, toCsv, toNpy, toParquet } from "./download.js";
import { coloured, element, fillModels } from "./panel.js";

const PATIENCE = 200;
const MOST_SHOWN = 100_000; // characters
const BATCH = 512;

export class TextView {
  constructor(source, models, { onProblem }) {
    Object.assign(this, { source, onProblem, turn: 0, asked: false });
    for (const id of ["text", "tokens", "counts", "repair", "file", "per", "downloaded"]) this[id] = document.getElementById(id);
    this.model = document.getElementById("text-model");
    fillModels(this.model, models);
    if (source.wholeTexts === false) this.per.querySelector('[value="line"]').remove();
    this.text.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.update(), PATIENCE);
    });
    this.model.addEventListener("change", () => this.update());
    this.file.addEventListener("change", () => this.upload());
    for (const button of document.querySelectorAll("[data-format]")) {
      button.addEventListener("click", () => this.save(button));
    }
  }

  open() {
    if (!this.asked) this.update();
    this.asked = true;
  }

  async upload() {
    const [file] = this.file.files;
    if (!file) return;
    this.text.value = await file.text();
    this.update();
  }

  async update() {
    const turn = (this.turn += 1);
    const shown = Array.from(this.text.value).slice(0, MOST_SHOWN).join("");
    try {
      const tokens = await this.source.tokens(shown, this.model.value);
      if (turn === this.turn) this.show(shown, tokens);
    } catch (error) {
      if (turn === this.turn) this.onProblem(error);
    }
  }

  show(text, tokens) {
    this.words = tokens;
    this.tokens.replaceChildren(...coloured(text, tokens, (shown, token) => this.dressed(shown, token)));
    const count = (reading) => tokens.filter((token) => token.reading === reading).length;
    const cut = text.length < this.text.value.length ? `; the first ${MOST_SHOWN.toLocaleString("en")} characters are shown` : "";
    this.counts.textContent = `${tokens.length} words: ${count("known")} known, ${count("near")} near, ${count("new")} new${cut}`;
  }

  dressed(shown, token) {
    if (token.reading === "known") return null;
    const says = token.repair ? `${shown}: near, read as ${token.repair}` : `${shown}: new, its vector comes from its spelling`;
    const button = element("button", { type: "button", className: `token ${token.reading}`, textContent: shown, title: says });
    for (const event of ["mouseenter", "focus"]) {
      button.addEventListener(event, () => (this.repair.textContent = says));
    }
    return button;
  }

  // Each different word once, or each line that is not blank.
  rows() {
    if (this.per.value === "line") return this.text.value.split(/\r\n|\r|\n/).filter((line) => line.trim());
    return [...new Set((this.words ?? []).map((token) => token.text))];
  }

  async save(button) {
    const names = this.rows();
    if (!names.length) return;
    const [model, kind, format] = [this.model.value, this.per.value === "line" ? "auto" : "word", button.dataset.format];
    this.downloaded.textContent = "…";
    try {
      const vectors = [];
      for (let low = 0; low < names.length; low += BATCH) {
        vectors.push(...(await this.source.vectors(names.slice(low, low + BATCH), kind, model)));
      }
      if (format === "csv") download("vectors.csv", toCsv(names, vectors), "text/csv");
      if (format === "parquet") download("vectors.parquet", toParquet(names, vectors), "application/vnd.apache.parquet");
      if (format === "npy") download("vectors.npy", toNpy(vectors), "application/octet-stream");
      this.downloaded.textContent = `${names.length} vectors of ${vectors[0].length} numbers`;
    } catch (error) {
      this.downloaded.textContent = "";
      this.onProblem(error);
    }
  }
}
