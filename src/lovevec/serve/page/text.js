// A whole text or a list of words: its words by reading, repairs, vectors to take home.

import { download, toCsv, toNpy, toParquet } from "./download.js";
import { A_NUMBER, coloured, element, fillModels } from "./panel.js";

const PATIENCE = 200;
const MOST_SHOWN = 100_000; // characters
const BATCH = 512;
const MOST_BYTES = 10_000_000; // of a file

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
    try {
      this.text.value = textOf(file.name, await file.arrayBuffer());
    } catch (error) {
      return this.onProblem(error);
    }
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
    const inParts = count("parts") ? `, ${count("parts")} in parts` : "";
    this.counts.textContent = `${tokens.length} words: ${count("known")} known, ${count("near")} near${inParts}, ${count("new")} new${cut}`;
  }

  dressed(shown, token) {
    if (token.reading === "known") return null;
    const source = A_NUMBER.test(shown) ? "its digits" : "its spelling";
    const says = `${shown}: ${token.reading}, ${token.repair ? `read as ${token.repair}` : `its vector comes from ${source}`}`;
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

// The text of a file: UTF-8, UTF-16 where its first bytes say so (as Excel writes it), else Windows' Western letters.
function textOf(name, buffer) {
  if (buffer.byteLength > MOST_BYTES) {
    throw new Error(`${name} is larger than ${MOST_BYTES / 1e6} MB: cut it, or use lovevec embed on the command line.`);
  }
  const [first, second] = new Uint8Array(buffer);
  const wide = { "255 254": "utf-16le", "254 255": "utf-16be" }[`${first} ${second}`];
  let text;
  try {
    text = new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(buffer);
  } catch {
    text = new TextDecoder("windows-1252").decode(buffer);
  }
  if (text.includes("\0")) throw new Error(`${name} is no text.`);
  return text;
}
