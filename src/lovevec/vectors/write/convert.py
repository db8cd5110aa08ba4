"""A file of word vectors written anew in another format, or as float16: rows pass through, nothing is kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec.vectors.read import read_file
from lovevec.vectors.read.builder import ReadRequest
from lovevec.vectors.table import ReadReport
from lovevec.vectors.write import Shape, format_of, open_writer
from lovevec.vectors.write.numpy import words_beside
from lovevec.vectors.write.writer import Precision, Writer


def convert_vectors(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    dtype: Precision = "float32",
    limit: int | None = None,
    words: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ReadReport:
    """Write a file of word vectors anew, in the format that the output's name says; odd rows are dropped and reported.

    Rows are passed on batch by batch, so that memory holds the words and a few megabytes. `limit` stops after that many
    rows; `words` names the word list of an array file. A row that float16 cannot hold is an error.

        convert_vectors("crawl.vec", "crawl.safetensors", dtype="float16")
        table = read_vectors("crawl.safetensors", mmap=True)
    """
    if limit is not None and limit < 1:
        raise LovevecError(f"limit must be at least 1, not {limit}")
    if dtype not in ("float16", "float32"):
        raise LovevecError(f"dtype is {dtype!r}: choose float16 or float32")
    source, goal, word_list = Path(path), Path(output), None if words is None else Path(words)
    inputs = {source.resolve(), word_list and word_list.resolve()}
    for file in [goal, *([words_beside(goal)] if format_of(goal) == "npy" else [])]:
        if file.exists() and file.resolve() in inputs:
            raise LovevecError(f"{file}: is the input too; write to another file")
        if file.exists() and not overwrite:
            raise LovevecError(f"{file}: is there already; choose another file, or {Parameter('overwrite', True)}")
    if not goal.parent.is_dir():
        raise LovevecError(f"{goal}: cannot be written: there is no folder {goal.parent}")
    writer: Writer | None = None  # opened when the first rows come: only they tell the dimension

    def convert(words: Sequence[str], rows: NDArray[np.float32]) -> None:
        nonlocal writer
        if dtype == "float16":
            _refuse_out_of_range(words, rows)
        if writer is None:
            shape = Shape(rows.shape[1], precision=dtype, exact=True)
            writer = stack.enter_context(open_writer(goal, format_of(goal), shape))
        writer.add(words, rows.copy(), [True] * len(words))  # it may write later, when the reader is further on

    with ExitStack() as stack:
        return read_file(ReadRequest(source, limit, word_list, progress or Progress(quiet=True), convert)).report


def _refuse_out_of_range(words: Sequence[str], rows: NDArray[np.float32]) -> None:
    with np.errstate(over="ignore"):
        half = rows.astype(np.float16)
    outside = np.flatnonzero(~np.isfinite(half).all(axis=1) | ~half.any(axis=1))
    if len(outside):
        word = words[int(outside[0])]
        raise LovevecError(f"the vector of {word!r:.60} has numbers too large or too small for float16: use float32")
