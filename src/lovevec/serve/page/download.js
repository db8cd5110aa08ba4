// Vectors as files: CSV, numpy's npy, Parquet. Parquet by hand: two columns, plain, one row group, no compression.

export function download(name, parts, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// CSV is opened by spreadsheets, which take =, +, -, @ at the begin of a cell for a formula: such names get an apostrophe
// before them, which says that they are text; numbers are left as they are. Names are always in quotes: a spreadsheet that
// takes ; or tabs for separators would else begin a cell inside of one. npy and Parquet are exact.
const FORMULA = /^[\s\0-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function toCsv(names, vectors) {
  const plain = (name) => (FORMULA.test(name) && !DECIMAL.test(name) ? `'${name}` : name);
  const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
  const head = ["word", ...Array.from(vectors[0] ?? [], (_, column) => `v${column}`)].join(",");
  const rows = names.map((name, row) => [quoted(plain(name)), ...Array.from(vectors[row], (number) => String(number))].join(","));
  return [[head, ...rows, ""].join("\n")];
}

// The numbers alone, float32 [rows, dim], in the order of the CSV's rows.
export function toNpy(vectors) {
  const shape = `(${vectors.length}, ${vectors[0]?.length ?? 0})`;
  let header = `{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }`;
  header += " ".repeat(63 - ((10 + header.length) % 64)) + "\n";
  const start = new Uint8Array(10);
  start.set([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0]);
  new DataView(start.buffer).setUint16(8, header.length, true);
  return [start, header, ...vectors];
}

// Columns `word` (string) and `vector` (list of float), as pyarrow, polars and DuckDB read them.
export function toParquet(names, vectors) {
  const dim = vectors[0]?.length ?? 0;
  const words = page(names.length, plainStrings(names));
  const numbers = page(names.length * dim, concat(listLevels(names.length, dim), ...vectors.map(bytesOf)));
  const first = 4;
  const second = first + words.length;
  const chunk = (type, path, count, size, offset) =>
    struct([2, i64(offset)], [3, struct([1, i32(type)], [2, list(5, [i32(0), i32(3)])], [3, list(8, path.map(text))],
      [4, i32(0)], [5, i64(count)], [6, i64(size)], [7, i64(size)], [9, i64(offset)])]);
  const footer = struct(
    [1, i32(2)],
    [2, list(12, [
      struct([4, text("schema")], [5, i32(2)]),
      struct([1, i32(6)], [3, i32(0)], [4, text("word")], [6, i32(0)]),
      struct([3, i32(0)], [4, text("vector")], [5, i32(1)], [6, i32(3)]),
      struct([3, i32(2)], [4, text("list")], [5, i32(1)]),
      struct([1, i32(4)], [3, i32(0)], [4, text("element")]),
    ])],
    [3, i64(names.length)],
    [4, list(12, [struct(
      [1, list(12, [
        chunk(6, ["word"], names.length, words.length, first),
        chunk(4, ["vector", "list", "element"], names.length * dim, numbers.length, second),
      ])],
      [2, i64(words.length + numbers.length)],
      [3, i64(names.length)],
    )])],
    [6, text("lovevec")],
  ).bytes;
  const length = new Uint8Array(new Uint32Array([footer.length]).buffer);
  return ["PAR1", words, numbers, footer, length, "PAR1"];
}

// A data page with its header: PLAIN values, RLE levels.
function page(count, content) {
  const size = content.length;
  const head = struct([1, i32(0)], [2, i32(size)], [3, i32(size)], [5, struct([1, i32(count)], [2, i32(0)], [3, i32(3)], [4, i32(3)])]);
  return concat(head.bytes, content);
}

function plainStrings(names) {
  const encoder = new TextEncoder();
  const coded = names.map((name) => encoder.encode(name));
  const all = new Uint8Array(coded.reduce((sum, bytes) => sum + 4 + bytes.length, 0));
  const view = new DataView(all.buffer);
  let at = 0;
  for (const bytes of coded) {
    view.setUint32(at, bytes.length, true);
    all.set(bytes, at + 4);
    at += 4 + bytes.length;
  }
  return all;
}

// Repetition levels: 0 at a row's begin, then 1; definition levels: 1 everywhere. In runs of (length, value).
function listLevels(rows, dim) {
  const run = (count, value) => [...varint(count * 2), value];
  const row = [...run(1, 0), ...(dim > 1 ? run(dim - 1, 1) : [])];
  const repetition = new Uint8Array(rows * row.length);
  for (let at = 0; at < rows; at += 1) repetition.set(row, at * row.length);
  return concat(sized(repetition), sized(Uint8Array.from(run(rows * dim, 1))));
}

function sized(bytes) {
  return concat(new Uint8Array(new Uint32Array([bytes.length]).buffer), bytes);
}

const bytesOf = (vector) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// Thrift's compact protocol: a value has its type's number and its bytes.

function varint(number) {
  const bytes = [];
  for (let left = number; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) + 128);
  }
}

const i32 = (number) => ({ type: 5, bytes: Uint8Array.from(varint(number * 2)) });
const i64 = (number) => ({ type: 6, bytes: Uint8Array.from(varint(number * 2)) });

function text(string) {
  const bytes = new TextEncoder().encode(string);
  return { type: 8, bytes: concat(Uint8Array.from(varint(bytes.length)), bytes) };
}

function list(type, items) {
  const head = items.length < 15 ? [items.length * 16 + type] : [0xf0 + type, ...varint(items.length)];
  return { type: 9, bytes: concat(Uint8Array.from(head), ...items.map((item) => item.bytes)) };
}

function struct(...fields) {
  let before = 0;
  const parts = fields.map(([number, value]) => {
    const head = (number - before) * 16 + value.type;
    before = number;
    return concat(Uint8Array.of(head), value.bytes);
  });
  return { type: 12, bytes: concat(...parts, Uint8Array.of(0)) };
}
