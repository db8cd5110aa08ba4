"""Grows one table batch by batch, so that a reader never holds the matrix twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, LovevecError
from lovevec.progress import Phase
from lovevec.vectors.read.policy import RowPolicy
from lovevec.vectors.report import ReadReport
from lovevec.vectors.table import VectorTable


class TableBuilder:
    """Takes batches of rows, keeps those that the policy chooses, and stops at `limit` rows kept."""

    def __init__(self, path: Path, report: ReadReport, phase: Phase, limit: int | None = None, hint: int = 0) -> None:
        self.path, self.report, self.phase, self.limit = path, report, phase, limit
        self.policy = RowPolicy(report)
        self.words = self.policy.index.words
        self.hint = hint if limit is None else min(hint, limit)
        self.matrix: NDArray[np.float32] | None = None

    @property
    def full(self) -> bool:
        """Whether `limit` rows are kept, so that reading can stop."""
        return self.limit is not None and len(self.words) >= self.limit

    def add(self, words: Sequence[str | None], block: NDArray[np.float32], places: Sequence[int]) -> None:
        """Take the rows of `block` [n, dim] that are fit for use; `places` are their lines or row numbers."""
        room = None if self.limit is None else self.limit - len(self.words)
        before, met = len(self.words), self.report.read
        kept = self.policy.choose(words, block, places, room)
        self.phase.advance(self.report.read - met)
        if not kept:
            return
        after = before + len(kept)
        matrix = self._reserve(after)
        matrix[before:after] = block if len(kept) == len(block) else block[kept]

    def expect(self, coming: int, share: float) -> None:
        """Guess the final number of rows: with the `coming` ones this share of the file, 0 to 1, is read."""
        self.hint = int((len(self.words) + coming) / share * 1.01)
        if self.limit is not None:
            self.hint = min(self.hint, self.limit)
        if self.report.promised is None:
            self.phase.total = int((self.report.read + coming) / share)

    def finish(self) -> VectorTable:
        """Hand over the table, cut to size in place."""
        if self.matrix is None:
            dropped = "; ".join(self.report.lines()[1:])
            raise FormatError(self.path, "no usable rows" + (f": {dropped}" if dropped else ""))
        self.matrix.resize((len(self.words), self.report.dim), refcheck=False)
        return VectorTable(self.words, self.matrix, self.report)

    def _reserve(self, rows: int) -> NDArray[np.float32]:
        """Make room for `rows` rows. Growing is a realloc, which on Linux moves pages and copies nothing.

        `resize` fills what it adds with zeros, so that memory is really taken: the steps follow the guess of
        `expect`, which is close when it matters, near the end of the file.
        """
        dim = self.report.dim
        try:
            if self.matrix is None:
                self.matrix = np.empty((max(rows, self.hint), dim), np.float32)
            elif rows > len(self.matrix):
                size = min(max(self.hint, rows + rows // 64), rows + rows // 4)
                self.matrix.resize((size, dim), refcheck=False)
        except MemoryError:
            gigabytes = max(rows, self.hint) * dim * 4 / 2**30
            raise LovevecError(
                f"{self.path}: its vectors need {gigabytes:.1f} GiB of memory, which is not there; "
                "read fewer rows with limit=N (--limit N)"
            ) from None
        return self.matrix
