// node vectors.mjs DEMO WORDS.json TEXTS.json OUT: what the engine of an exported page says of words and texts
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [demo, words, texts, output] = process.argv.slice(2);
const { FILES, Local } = await import(pathToFileURL(`${demo}/page/local.js`));
const { readTensors } = await import(pathToFileURL(`${demo}/page/engine.js`));
const read = (name) => {
  const bytes = readFileSync(`${demo}/model/${name}`);
  return name.endsWith(".json") ? JSON.parse(bytes) : readTensors(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};
const local = new Local(Object.fromEntries(Object.entries(FILES).map(([part, name]) => [part, read(name)])));
const listed = JSON.parse(readFileSync(words));
const vectors = await local.vectors(listed);
const near = await local.near(listed);
const neighbors = await local.neighbors(listed.slice(0, 50));
const explained = await local.explain("mispelling");
const tokens = await Promise.all(JSON.parse(readFileSync(texts)).map((text) => local.tokens(text)));
writeFileSync(output, JSON.stringify({ vectors: vectors.map((vector) => Array.from(vector)), near, neighbors, explained, tokens }));
