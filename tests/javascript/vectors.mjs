// node vectors.mjs DEMO WORDS.json TEXTS.json OUT: what the engine of an exported page says of words and texts
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [demo, words, texts, output] = process.argv.slice(2);
const TEXTS = JSON.parse(readFileSync(texts));
const { Local } = await import(pathToFileURL(`${demo}/page/local.js`));
const { readTensors } = await import(pathToFileURL(`${demo}/page/engine.js`));
const json = (name) => JSON.parse(readFileSync(`${demo}/model/${name}`));
const tensors = (name) => {
  const bytes = readFileSync(`${demo}/model/${name}`);
  return readTensors(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};
const local = new Local(json("config.json"), json("units.json"), json("near.json"), json("words.json"), tensors("model.safetensors"), tensors("rows.safetensors"));
const listed = JSON.parse(readFileSync(words));
const vectors = await local.vectors(listed);
const near = await local.near(listed);
const neighbors = await local.neighbors(listed.slice(0, 50));
const explained = await local.explain("mispelling");
const tokens = await Promise.all(TEXTS.map((text) => local.tokens(text)));
writeFileSync(output, JSON.stringify({ vectors: vectors.map((vector) => Array.from(vector)), near, neighbors, explained, tokens }));
