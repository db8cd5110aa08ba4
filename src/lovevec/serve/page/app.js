// The page: panels of words beside the map, texts, who answers, what went wrong.

import { CorrectView } from "./correct.js";
import { WordMap } from "./map.js";
import { Panel } from "./panel.js";
import { SearchView } from "./search.js";
import { openSource } from "./source.js";
import { TextView } from "./text.js";

const at = (id) => document.getElementById(id);
const FIRST_WORD = "leukamia";
const SECOND_WORD = "lukemia";

const mapFile = fetch("page/map.bin"); // on its way while the rest starts

class Page {
  constructor(source) {
    this.source = source;
    this.seen = [];
  }

  async open() {
    this.models = await this.source.models();
    at("about").textContent = this.source.about?.() ??
      this.models.map(({ id, words, dim }) => `${id}: ${words.toLocaleString("en")} known words, ${dim} dimensions`).join(" · ");
    at("reference").hidden = Boolean(this.source.about);
    const onProblem = (error) => this.complain(error);
    const onRead = () => (at("problem").hidden = true);
    this.views = { text: new TextView(this.source, this.models, { onProblem }) };
    // The model inside the page reads words, and no sentences: correcting needs the server.
    at("tab-correct").hidden = !this.source.correct;
    if (this.source.correct) this.views.correct = new CorrectView(this.source, this.models, { onRead, onProblem });
    const indexes = (await this.source.indexes?.()) ?? [];
    at("tab-search").hidden = !indexes.length;
    if (indexes.length) this.views.search = new SearchView(this.source, indexes, { onRead, onProblem });
    at("panels").replaceChildren();
    this.panels = [this.addPanel(1)];
    this.listen();
    const from = new URLSearchParams(location.search);
    this.panels[0].set(from.get("word") ?? FIRST_WORD);
    if (from.has("with")) this.compare(from.get("with"));
    if (from.has("query")) at("query").value = from.get("query");
    const name = location.hash.slice(1);
    if (Object.hasOwn(this.views, name)) this.choose(name);
    else this.panels[0].word.focus({ preventScroll: true });
    this.map = new WordMap(at("map"), await (await mapFile).arrayBuffer());
    this.showMap();
  }

  addPanel(number) {
    const panel = new Panel(number, this.source, this.models, {
      onRead: (found) => {
        at("problem").hidden = true;
        this.seen[number - 1] = found;
        this.showMap();
      },
      onProblem: (error) => this.complain(error),
    });
    at("panels").append(panel.root);
    return panel;
  }

  compare(word) {
    const both = this.panels.length === 1;
    at("compare").setAttribute("aria-pressed", String(both));
    at("compare").textContent = both ? "One word alone" : "Compare with another word or model";
    at("view-word").classList.toggle("both", both);
    if (both) {
      this.panels.push(this.addPanel(2));
      const [first, second] = this.panels;
      if (this.models.length > 1) second.model.selectedIndex = 1;
      second.set(this.models.length > 1 && !word ? first.word.value : word || SECOND_WORD);
    } else {
      this.panels.pop().root.remove();
      this.seen.length = 1;
      this.showMap();
    }
  }

  async showMap() {
    const marks = this.map ? this.seen.map((found, number) => this.mark(found, number)).filter(Boolean) : [];
    if (!this.map) return;
    this.map.show(marks);
    const near = this.seen.filter((found) => found?.neighbors).map(({ word, neighbors }) =>
      `“${word}” lies among ${neighbors.slice(0, 3).map((one) => one.word).join(", ")}.`);
    at("map-says").textContent = [...near, await this.together()].join(" ");
  }

  // How near the two words are, by one model; or what two models agree on.
  async together() {
    const [one, other] = this.seen;
    if (!one?.neighbors || !other?.neighbors) return "";
    if (one.model === other.model) {
      const cosine = await this.source.similar(one.word, other.word, one.model).catch(() => null);
      return cosine === null ? "" : `Cosine of the two: ${cosine.toFixed(2)}.`;
    }
    const same = one.neighbors.filter((near) => other.neighbors.some(({ word }) => word === near.word)).length;
    return `${same} of ${one.neighbors.length} nearest words are the same by both models.`;
  }

  mark(found, number) {
    if (!found?.neighbors) return null;
    const way = found.way.map((step) => this.map.place(step.word, step.neighbors)).filter(Boolean);
    const near = found.neighbors.map((one) => one.word);
    const place = this.map.place(found.name, found.neighbors);
    return { word: found.word, place, path: way, near, colour: number ? "--two" : "--one" };
  }

  complain(error) {
    at("problem").textContent = error.message;
    at("problem").hidden = false;
    if (error.status === 401) at("key").hidden = false;
  }

  choose(name) {
    for (const tab of document.querySelectorAll('[role="tab"]')) {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      at(tab.getAttribute("aria-controls")).hidden = !chosen;
    }
    this.views[name]?.open();
  }

  listen() {
    at("compare").addEventListener("click", () => this.compare());
    at("closer").addEventListener("click", () => this.map?.zoomBy(1.6));
    at("farther").addEventListener("click", () => this.map?.zoomBy(1 / 1.6));
    at("whole").addEventListener("click", () => this.map?.whole());
    document.addEventListener("theme", () => this.map?.draw());
    const tabs = [...document.querySelectorAll('[role="tab"]:not([hidden])')];
    tabs.forEach((tab, place) => {
      tab.addEventListener("click", () => this.choose(tab.id.slice(4)));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(place + step + tabs.length) % tabs.length];
        this.choose(next.id.slice(4));
        next.focus();
      });
    });
  }
}

function askForKey(source) {
  at("key").hidden = false;
  at("key").addEventListener("submit", (event) => {
    event.preventDefault();
    source.useKey(at("key-value").value);
    location.reload();
  });
}

try {
  const source = await openSource();
  const page = new Page(source);
  try {
    await page.open();
  } catch (error) {
    page.complain(error);
    if (error.status === 401) askForKey(source);
  }
} catch (error) {
  at("problem").textContent = error.message;
  at("problem").hidden = false;
}
