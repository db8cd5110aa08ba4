"""Tables of word vectors: `read_vectors(path)` finds out the format of a file and gives a `VectorTable`.

Formats: word2vec text and binary, GloVe, fastText `.vec` and `.bin`, numpy `.npy` (with a word list) and
`.npz`, safetensors; spaCy pipelines (a folder, a `.whl`, or the name of an installed package) and navec's `.tar`; text
and word2vec binary also through gzip, xz, or a zip with one file.

What happens to odd rows. Nothing is passed over in silence: the report counts it and names the first places.

| seen | done |
|---|---|
| word with spaces, in text | kept: the last d fields are the vector |
| more numbers behind a word than the header promises | row dropped; without a header they are part of the word |
| repeated word | first row kept, later ones dropped |
| NaN, Inf, or a number too large for float32 | row dropped |
| zeros only | row dropped |
| empty word (or nothing but white space) | row dropped |
| word not valid UTF-8 | row dropped |
| blank line | passed over |
| word that has another word's row (pruned tables of spaCy) | dropped |
| row whose word is not told (spaCy) | dropped |
| more rows than the header promises | kept |
| fewer rows than the header promises | FormatError; `limit=N` takes the first N |
| header with the wrong number of columns | FormatError |
| too few fields, or a field that is no number | FormatError with the line |
| file cut short, damaged archive, sizes that cannot be | FormatError |
| empty file, no usable row | FormatError |

Byte-order marks, Windows line ends and those of old Macs (carriage returns alone) are accepted. d comes from the
header, else from the count of numbers that most of the first 50 lines share. Spaces at the end of a word cannot be told
from the separator and are cut. Words in a word2vec binary end at their first space. `limit` counts the rows kept, from
the top.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.progress import Progress
from lovevec.vectors.table import Oddity, ReadReport, VectorTable, bare_name

if TYPE_CHECKING:
    from lovevec.vectors.read.fasttext_bin import FastTextBin
    from lovevec.vectors.read.spacy import FloretVectors
    from lovevec.vectors.write.convert import convert_vectors

__all__ = ["FastTextBin", "FloretVectors", "Oddity", "ReadReport", "VectorTable", "convert_vectors", "read_vectors"]
ON_FIRST_USE = {
    "FastTextBin": "read.fasttext_bin",
    "FloretVectors": "read.spacy",
    "convert_vectors": "write.convert",
}  # a table alone costs little
MAPPED_SUFFIXES, LARGE_FILE = (".npy", ".safetensors"), 1 << 29  # bytes of a file that `mmap=None` leaves where it is


def __getattr__(name: str) -> object:
    if name in ON_FIRST_USE:
        return getattr(import_module(f"lovevec.vectors.{ON_FIRST_USE[name]}"), name)
    raise AttributeError(f"module 'lovevec.vectors' has no attribute {name!r}")


def read_vectors(
    path: str | os.PathLike[str],
    *,
    limit: int | None = None,
    words: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    mmap: bool | None = False,
) -> VectorTable:
    """Read a file of word vectors in any of the formats above.

    `limit` stops after that many rows kept; `words` names the word list of an array file. `mmap=True` leaves the rows
    of a .safetensors or .npy file, float16 or float32, where they are: the system brings in what is used. `mmap=None`
    does so where the file is large and can be mapped.

        table = read_vectors("glove.6B.300d.txt", limit=100_000)
        table.words[0], table.vectors.shape     # ('the', (100000, 300))
    """
    if limit is not None and limit < 1:
        raise LovevecError(f"limit must be at least 1, not {limit}")
    from lovevec.vectors.read import read_file
    from lovevec.vectors.read.builder import ReadRequest

    word_list = None if words is None else Path(words)
    large = mmap is None and is_large(Path(path))
    request = ReadRequest(Path(path), limit, word_list, progress or Progress(quiet=True), mmap=mmap or large)
    try:
        if large:
            with suppress(FormatError):  # other numbers, or rows that have to go; what else is wrong is told below
                return replace(read_file(request), name=bare_name(request.path))
            request = replace(request, mmap=False)
        return replace(read_file(request), name=bare_name(request.path))
    except MemoryError:
        raise LovevecError(
            f"{path}: memory has no room for it; read fewer rows with {Parameter('limit', 'N')}"
        ) from None


def is_large(path: Path) -> bool:
    """Whether a file is of a kind that can be mapped, and so large that it is worth it."""
    return path.suffix in MAPPED_SUFFIXES and path.is_file() and path.stat().st_size >= LARGE_FILE
