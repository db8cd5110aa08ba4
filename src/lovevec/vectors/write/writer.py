"""Writers of vector files, batch by batch in constant memory: `open_writer(path, "npy", dim)`.

| format | is | reads it |
|---|---|---|
| vec | text: `rows dim`, then `word n n … n` a line | fastText, gensim, spaCy, lovevec |
| npy | numpy array [rows, dim]; words in `x.words.txt` beside `x.npy`, one a line | numpy, lovevec |
| npz | numpy archive: `vectors` [rows, dim], and `words` as UTF-8 bytes with a newline between two | numpy, lovevec |
| parquet | columns `word` (text) and `vector` (list of dim floats) | pandas, polars, duckdb, datasets |
| jsonl | `{"word": …, "vector": […], "known": …}` a line | everything |

Rows come out in the order in which they went in, repeats and empty words included. A count that is not known in
advance is filled in at the end where the output is a plain file; into a pipe, vec then has no first line.
Words that are not UTF-8 (surrogateescape) are written as the bytes they were; in JSON as `\\udcXX`, and in parquet,
which holds UTF-8 alone, spelled out as `\\xXX`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.vectors.write.sink import Sink, open_sink

Format = Literal["vec", "npy", "npz", "parquet", "jsonl"]
FORMATS: tuple[str, ...] = get_args(Format)
SUFFIXES: dict[str, Format] = {
    ".vec": "vec",
    ".txt": "vec",
    ".npy": "npy",
    ".npz": "npz",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
TEXT = ("vec", "jsonl")
Precision = Literal["float32", "float16"]
MANY = 20_000  # rows that are worth a thread
SPACE = re.compile(r"\s")


@dataclass(frozen=True)
class Shape:
    """What is known of the table before its rows come: `count` is None when the rows were not counted."""

    dim: int
    count: int | None = None
    precision: Precision = "float32"
    exact: bool = False


class Writer(Protocol):
    """Takes rows, batch after batch."""

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch; `known` is looked at by jsonl alone."""

    def notes(self) -> list[str]:
        """What the user should know once all is written."""


MakeWriter = Callable[[Sink, Shape], AbstractContextManager[Writer]]


def format_of(path: Path | None, named: str | None = None) -> Format:
    """The format that is named, or the one that the end of the file's name says; vec on standard output."""
    if named is not None:
        return next(each for each in get_args(Format) if each == named)
    if path is None:
        return "vec"
    try:
        return SUFFIXES[path.suffix.lower()]
    except KeyError:
        known = ", ".join(SUFFIXES)
        raise LovevecError(f"{path}: its name does not say the format; end it in {known}, or use --format") from None


@contextmanager
def open_writer(path: Path | None, kind: Format, shape: Shape) -> Iterator[Writer]:
    """A writer to `path`, or to standard output. The file is there, whole, when the block ends well."""
    if shape.precision == "float16" and kind in TEXT:
        raise LovevecError(f"float16 is for npy, npz and parquet: {kind} is text")
    make: MakeWriter = import_module(f"lovevec.vectors.write.{kind}").write
    with open_sink(path) as sink:
        if kind not in TEXT and sink.file.isatty():
            raise LovevecError(f"{kind} is not for a terminal: name a file with -o, or redirect the output")
        with make(sink, shape) as writer:
            if not sink.patchable or (shape.count is not None and shape.count < MANY):
                yield writer
                return
            from lovevec.vectors.write.behind import write_behind

            with write_behind(writer, sink.file) as behind:
                yield behind


def check_count(sink: Sink, promised: int | None, rows: int) -> None:
    """Say so when the rows are not as many as the header, which is out already, promises."""
    if promised is not None and promised != rows:
        raise LovevecError(f"{sink.name}: {rows:,} words came, {promised:,} were counted before: did the input change?")


def join_words(words: Sequence[str], kind: str) -> bytes:
    """Words as bytes with a newline after each; a word that holds one itself would make two."""
    joined = "\n".join([*words, ""])
    if joined.count("\n") != len(words):
        odd = next(word for word in words if "\n" in word)
        raise LovevecError(f"{odd[:40]!r} holds a line end, which {kind} cannot: use jsonl or parquet")
    return joined.encode("utf-8", "surrogateescape")
