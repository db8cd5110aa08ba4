"""A file of word vectors written anew in another format, or as float16: rows pass through, nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec.vectors.read.builder import Job
from lovevec.vectors.read.recognise import read_file
from lovevec.vectors.table import ReadReport
from lovevec.vectors.write import Shape, format_of, open_writer
from lovevec.vectors.write.numpy import words_beside
from lovevec.vectors.write.writer import Precision, Writer


class Passage:
    """Rows from a reader to a writer, which is opened when the first ones come: only they tell the dimension."""

    def __init__(self, output: Path, dtype: Precision, stack: ExitStack) -> None:
        self.output, self.dtype, self.stack = output, dtype, stack
        self.writer: Writer | None = None

    def __call__(self, words: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Write one batch; a row that float16 cannot hold is refused."""
        if self.dtype == "float16":
            refuse_lost(words, rows)
        if self.writer is None:
            shape = Shape(rows.shape[1], precision=self.dtype, exact=True)
            self.writer = self.stack.enter_context(open_writer(self.output, format_of(self.output), shape))
        self.writer.add(words, rows.copy(), [True] * len(words))  # it may write later, when the reader is further on


def convert(
    path: Path,
    output: Path,
    dtype: Precision,
    limit: int | None,
    words: Path | None,
    overwrite: bool,
    progress: Progress,
) -> ReadReport:
    """See `lovevec.vectors.convert_vectors`."""
    if limit is not None and limit < 1:
        raise LovevecError(f"limit must be at least 1, not {limit}")
    if dtype not in ("float16", "float32"):
        raise LovevecError(f"dtype is {dtype!r}: choose float16 or float32")
    outputs = [output, *([words_beside(output)] if format_of(output) == "npy" else [])]
    for there in outputs:
        if there.exists() and there.resolve() in {path.resolve(), words and words.resolve()}:
            raise LovevecError(f"{there}: is the input too; write to another file")
        if there.exists() and not overwrite:
            raise LovevecError(f"{there}: is there already; choose another file, or {Parameter('overwrite', True)}")
    if not output.parent.is_dir():
        raise LovevecError(f"{output}: cannot be written: there is no folder {output.parent}")
    with ExitStack() as stack:
        return read_file(Job(path, limit, words, progress, Passage(output, dtype, stack))).report


def refuse_lost(words: Sequence[str], rows: NDArray[np.float32]) -> None:
    """An error for numbers that are too large for float16, and for rows all of whose numbers are too small."""
    with np.errstate(over="ignore"):
        half = rows.astype(np.float16)
    lost = np.flatnonzero(~np.isfinite(half).all(axis=1) | ~half.any(axis=1))
    if len(lost):
        word = words[int(lost[0])]
        raise LovevecError(f"the vector of {word!r:.60} has numbers too large or too small for float16: use float32")
