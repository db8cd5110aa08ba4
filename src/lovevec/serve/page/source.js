// Who answers: the server at this address, or the model inside the page (local.js) where the page says where it lies.

const READING = 10; // known words that one string may stand for: all of them, so that the rest is the chance of several words

export class Problem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function openSource() {
  const folder = document.querySelector('meta[name="lovevec-model"]')?.content;
  if (!folder) return new Server();
  const { Local } = await import("./local.js");
  return Local.open(folder);
}

class Server {
  key = sessionStorage.getItem("lovevec-key") ?? "";
  remembered = new Map();

  useKey(key) {
    this.key = key;
    sessionStorage.setItem("lovevec-key", key);
  }

  async models() {
    const { data } = await this.fetch("v1/models");
    return data.map(({ id, dim, kind, known_words: words }) => ({ id, dim, kind, words }));
  }

  // [{reading, kind, confidence, near: [{word, probability}], new, parts: [{text, start, end, reading, word, probability}]}]
  near(words, model) {
    return this.ask("near", { input: words, model, k: READING });
  }

  // [[{word, cosine}]]; what was asked before is not asked again.
  async neighbors(words, model) {
    const name = (word) => `${model}\n${word}`;
    const missing = [...new Set(words)].filter((word) => !this.remembered.has(name(word)));
    if (missing.length) {
      const found = await this.ask("neighbors", { input: missing, model, k: 10 });
      if (this.remembered.size > 2000) this.remembered.clear();
      missing.forEach((word, place) => this.remembered.set(name(word), found[place].neighbors));
      return words.map((word) => this.remembered.get(name(word)) ?? found[missing.indexOf(word)].neighbors);
    }
    return words.map((word) => this.remembered.get(name(word)));
  }

  // {normalised, units: [{name, weight, share, start, end}], attention}
  async explain(word, model) {
    return (await this.ask("explain", { input: [word], model, k: 0 }))[0];
  }

  async similar(one, other, model) {
    return (await this.ask("similar", { pairs: [[one, other]], model }))[0].cosine;
  }

  // [{text, start, end, reading, repair}]; places count code points.
  async tokens(text, model) {
    return (await this.ask("tokens", { input: [text], model }))[0].tokens;
  }

  // {text, edits: [{start, end, before, after, probability, reading, suggestions: [{word, probability}]}]}; places count
  // code points.
  async correct(text, model, threshold) {
    return (await this.ask("correct", { input: [text], model, threshold }))[0];
  }

  // [{id, texts}]: none where the server was started without an index.
  async indexes() {
    return (await this.fetch("v1/indexes")).data;
  }

  // [{id, text, score, why: {met: [{query, word, reading, share}], words, letters, meaning}}]
  async search(query, index, k) {
    return (await this.ask("search", { input: [query], index, k, why: true }))[0].hits;
  }

  // Float32Arrays; `kind` is word or text.
  async vectors(strings, kind, model) {
    const found = await this.ask("embeddings", { input: strings, model, input_type: kind, encoding_format: "base64" });
    return found.map(({ embedding }) => {
      const bytes = Uint8Array.from(atob(embedding), (character) => character.charCodeAt(0));
      return new Float32Array(bytes.buffer);
    });
  }

  async ask(what, question) {
    return (await this.fetch(`v1/${what}`, { method: "POST", body: JSON.stringify(question) })).data;
  }

  async fetch(path, options = {}) {
    const headers = { "Content-Type": "application/json" };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    let answer;
    try {
      answer = await fetch(path, { ...options, headers });
    } catch {
      throw new Problem("The server does not answer.", 0);
    }
    const content = await answer.json().catch(() => null);
    if (!answer.ok) throw new Problem(content?.error?.message ?? `The server answers ${answer.status}.`, answer.status);
    return content;
  }
}
