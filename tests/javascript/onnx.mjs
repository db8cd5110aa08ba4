// node onnx.mjs LOVE.onnx WORDS.json VECTORS: float32 vectors by onnxruntime, of units made by units.mjs beside the model
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import ort from "onnxruntime-node";

const BATCH = 128;
const [model, words, output] = process.argv.slice(2);
const { Units } = await import(pathToFileURL(join(dirname(model), "units.mjs")));
const units = new Units(JSON.parse(readFileSync(model.replace(/\.onnx$/, ".units.json"))));
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1 });

const rows = JSON.parse(readFileSync(words)).map((word) => units.encode(word));
const parts = [];
for (let low = 0; low < rows.length; low += BATCH) {
  const batch = rows.slice(low, low + BATCH);
  const width = Math.max(...batch.map((row) => row.length));
  const ids = new BigInt64Array(batch.length * width).fill(-1n);
  batch.forEach((row, i) => row.forEach((id, j) => (ids[i * width + j] = BigInt(id))));
  const { vectors } = await session.run({ ids: new ort.Tensor("int64", ids, [batch.length, width]) });
  parts.push(Buffer.from(vectors.data.buffer, vectors.data.byteOffset, vectors.data.byteLength));
}
writeFileSync(output, Buffer.concat(parts));
