"""Writers of vector files, one file a format, batch by batch in constant memory:

    with open_writer(Path("v.npy"), "npy", Shape(dim=300)) as writer:
        writer.add(words, rows, known)      # n words, float32 [n, 300], n bools

| format | is | reads it |
|---|---|---|
| vec | text: `rows dim`, then `word n n … n` a line | fastText, gensim, spaCy, lovevec |
| npy | numpy array [rows, dim]; words in `x.words.txt` beside `x.npy`, one a line | numpy, lovevec |
| npz | numpy archive: `vectors` [rows, dim], and `words` as UTF-8 bytes with a newline between two | numpy, lovevec |
| safetensors | the same two as tensors; can be memory-mapped | safetensors, lovevec |
| parquet | columns `word` (text) and `vector` (list of dim floats) | pandas, polars, duckdb, datasets |
| jsonl | `{"word": …, "vector": […], "known": …}` a line | everything |

Rows come out in the order in which they went in, repeats and empty words included. A count that is not known in
advance is filled in at the end where the output is a plain file; into a pipe, vec then has no first line.
Words that are not UTF-8 (surrogateescape) are written as the bytes they were; in JSON as `\\udcXX`, and in parquet,
which holds UTF-8 alone, spelled out as `\\xXX`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from lovevec.errors import LovevecError, Parameter
from lovevec.files import atomic_write
from lovevec.vectors.table import VectorTable
from lovevec.vectors.write.writer import Shape, Sink, Writer, join_words, open_sink, write_behind

__all__ = ["FORMATS", "SUFFIXES", "Format", "Shape", "Writer", "format_of", "open_writer", "save_table"]

Format = Literal["vec", "npy", "npz", "safetensors", "parquet", "jsonl"]
FORMATS: tuple[str, ...] = get_args(Format)
SUFFIXES: dict[str, Format] = {
    ".vec": "vec",
    ".txt": "vec",
    ".npy": "npy",
    ".npz": "npz",
    ".safetensors": "safetensors",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
TEXT_FORMATS = ("vec", "jsonl")
MIN_ROWS_FOR_THREAD = 20_000
ROWS_PER_BATCH = 16_384


def format_of(path: str | Path | None, named: str | None = None) -> Format:
    """The format that is named, or the one that the end of the file's name says; vec on standard output."""
    if named is not None:
        return next(name for name in get_args(Format) if name == named)
    if path is None:
        return "vec"
    try:
        return SUFFIXES[Path(path).suffix.lower()]
    except KeyError:
        known = ", ".join(SUFFIXES)
        raise LovevecError(
            f"{path}: its name does not say the format; end it in {known}, or use {Parameter('format')}"
        ) from None


@contextmanager
def open_writer(path: Path | None, kind: Format, shape: Shape) -> Iterator[Writer]:
    """A writer to `path`, or to standard output for None. The file is there, whole, when the block ends well."""
    if shape.precision == "float16" and kind in TEXT_FORMATS:
        raise LovevecError(f"float16 is for npy, npz, safetensors and parquet: {kind} is text")
    write: Callable[[Sink, Shape], AbstractContextManager[Writer]]
    module = "text" if kind in TEXT_FORMATS else "numpy" if kind in ("npy", "npz") else kind
    write = getattr(import_module(f"lovevec.vectors.write.{module}"), f"write_{kind}")
    with open_sink(path) as sink:
        if kind not in TEXT_FORMATS and sink.file.isatty():
            raise LovevecError(f"{kind} is not for a terminal: name a file with -o, or redirect the output")
        with write(sink, shape) as writer:
            if not sink.patchable or (shape.count is not None and shape.count < MIN_ROWS_FOR_THREAD):
                yield writer
                return
            with write_behind(writer, sink.file) as behind:
                yield behind


def save_table(table: VectorTable, path: Path) -> list[str]:
    """Write a table in the format that the file's name says; the lines that it gives are what the user should know.

    An .npz also keeps where the vectors came from (`table.source`), as `read_origin` of lovevec.vectors.read.numpy
    reads it.
    """
    kind = format_of(path)
    if kind == "npz":
        words = np.frombuffer(join_words(table.words, kind), np.uint8)
        origin = np.frombuffer(json.dumps(table.source).encode(), np.uint8)
        with atomic_write(path) as file:
            np.savez(file, vectors=table.vectors, words=words, origin=origin)
        return []
    with open_writer(path, kind, Shape(table.dim, len(table), exact=True)) as writer:
        for start in range(0, len(table), ROWS_PER_BATCH):
            batch = table.words[start : start + ROWS_PER_BATCH]
            writer.add(batch, table.vectors[start : start + ROWS_PER_BATCH], [True] * len(batch))
    return writer.notes()
