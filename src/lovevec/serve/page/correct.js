// A text with its misspellings put right: each correction can be taken back, or be made another word.

import { coloured, element, fillModels, percent } from "./panel.js";

const PATIENCE = 300;
const MOST_SHOWN = 100_000; // characters
const KINDS = { near: "misspelled", parts: "words that are run together", known: "a word, but another one seems to be meant" };

export class CorrectView {
  constructor(source, models, { onRead, onProblem }) {
    Object.assign(this, { source, onRead, onProblem, turn: 0, asked: false, picked: new Map(), edits: [], letters: [] });
    for (const id of ["draft", "threshold", "least", "corrected", "corrections", "hint", "choices", "copy", "copied"]) {
      this[id] = document.getElementById(id);
    }
    this.model = document.getElementById("draft-model");
    fillModels(this.model, models);
    for (const field of [this.draft, this.threshold]) {
      field.addEventListener("input", () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.update(), PATIENCE);
      });
    }
    this.model.addEventListener("change", () => this.update());
    this.copy.addEventListener("click", () => this.takeHome());
    this.choices.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.selected.button.focus();
    });
  }

  open() {
    if (!this.asked) this.update();
    this.asked = true;
  }

  async update() {
    const turn = (this.turn += 1);
    const letters = Array.from(this.draft.value); // code points, as the server counts
    const shown = letters.slice(0, MOST_SHOWN).join("");
    const threshold = Number(this.threshold.value) / 100;
    this.least.textContent = percent(threshold);
    try {
      const { edits } = await this.source.correct(shown, this.model.value, threshold);
      if (turn === this.turn) this.show(letters, edits);
    } catch (error) {
      if (turn === this.turn) this.onProblem(error);
    }
  }

  // What somebody chose for a word stays while the text around it is written.
  show(letters, edits) {
    const count = new Map();
    this.letters = letters;
    this.edits = edits.map((edit) => {
      count.set(edit.before, (count.get(edit.before) ?? 0) + 1);
      return { ...edit, options: optionsOf(edit), key: `${edit.before}\n${count.get(edit.before)}` };
    });
    const text = letters.slice(0, MOST_SHOWN).join("");
    this.corrected.replaceChildren(...coloured(text, this.edits, (before, edit) => this.buttonOf(edit)));
    this.select(null);
    this.count();
    this.onRead();
  }

  buttonOf(edit) {
    edit.button = element("button", { type: "button" });
    edit.button.addEventListener("focus", () => this.select(edit));
    edit.button.addEventListener("click", () => {
      this.pick(edit, this.wordOf(edit) === edit.before ? edit.after : edit.before);
      this.select(edit);
    });
    edit.button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      this.choices.querySelector(":checked").focus();
    });
    this.dress(edit);
    return edit.button;
  }

  wordOf(edit) {
    const picked = this.picked.get(edit.key);
    return edit.options.some(({ word }) => word === picked) ? picked : edit.after;
  }

  pick(edit, word) {
    this.picked.set(edit.key, word);
    this.dress(edit);
    this.count();
  }

  dress(edit) {
    const word = this.wordOf(edit);
    const isMade = word !== edit.before;
    edit.button.className = `token edit ${isMade ? "changed" : "kept"}`;
    edit.button.textContent = word;
    edit.button.setAttribute("aria-pressed", String(isMade));
    edit.button.setAttribute("aria-label", isMade ? `${word}, in the place of ${edit.before}` : `${word}, as it was written`);
    edit.button.title = isMade ? `${edit.before} → ${word}` : `as it was written; perhaps ${edit.after}`;
  }

  // The words that may stand in the place of one, beneath the text.
  select(edit) {
    this.selected = edit;
    this.hint.hidden = Boolean(edit);
    this.choices.hidden = !edit;
    if (!edit) return;
    const chosen = this.wordOf(edit);
    const legend = element("legend", {}, element("strong", { textContent: edit.before }), `: ${KINDS[edit.reading]}`);
    this.choices.replaceChildren(legend, ...edit.options.map(({ word, probability }) => {
      const radio = element("input", { type: "radio", name: "choice", checked: word === chosen });
      radio.addEventListener("change", () => this.pick(edit, word));
      const says = word === edit.before ? "as it was" : percent(probability);
      return element("label", {}, radio, element("span", { textContent: word }), " ", element("span", { className: "number", textContent: says }));
    }));
  }

  count() {
    const made = this.edits.filter((edit) => this.wordOf(edit) !== edit.before).length;
    const left = this.edits.length - made;
    const cut = this.letters.length > MOST_SHOWN ? `; the first ${MOST_SHOWN.toLocaleString("en")} characters are looked at` : "";
    this.corrections.textContent = `${made} ${made === 1 ? "word" : "words"} corrected${left ? `, ${left} left as written` : ""}${cut}`;
    this.copied.textContent = "";
  }

  // The whole text as it is to be.
  text() {
    const parts = [];
    let at = 0;
    for (const edit of this.edits) {
      parts.push(this.letters.slice(at, edit.start).join(""), this.wordOf(edit));
      at = edit.end;
    }
    return parts.join("") + this.letters.slice(at).join("");
  }

  async takeHome() {
    const text = this.text();
    try {
      await navigator.clipboard.writeText(text);
      this.copied.textContent = "Copied.";
    } catch {
      this.copied.textContent = copyOfOld(text) ? "Copied." : "The browser does not let us copy: select the text and copy it.";
    }
    this.copy.focus();
  }
}

// What was written, what the correction is, and what else may have been meant.
function optionsOf({ before, after, probability, suggestions }) {
  const others = suggestions.filter(({ word }) => word !== after && word !== before);
  return [{ word: after, probability }, ...others, { word: before, probability: 0 }];
}

// Where the page comes neither from this machine nor by https there is no other way.
function copyOfOld(text) {
  const field = element("textarea", { value: text, readOnly: true, className: "skip" });
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}
