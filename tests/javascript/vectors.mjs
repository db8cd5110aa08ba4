// node vectors.mjs DEMO WORDS.json OUT: vectors, readings and confidence of words by the engine of an exported page
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [demo, words, output] = process.argv.slice(2);
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
const tokens = await local.tokens("The goverment of Reykjavik\nis deplatformed, tommorow. A well-knwon e-mail 𝔘 x");
writeFileSync(output, JSON.stringify({ vectors: vectors.map((vector) => Array.from(vector)), near, neighbors, explained, tokens }));
