"""Builds the table of one reading: which rows are fit for use, and a matrix that grows batch by batch.

A reader gets a `ReadRequest`, starts a `TableBuilder` with it and adds batches of rows; it never holds the matrix
twice, and where the request hands the rows on (`take`) it holds none. Files and tables in memory go through the same
rules, those of `RowPolicy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.progress import Phase, Progress
from lovevec.vectors.table import Oddity, ReadReport, VectorTable

ARRAY_BLOCK_BYTES = 1 << 22  # of an array file, read at once
CONVERT_ADVICE = "; lovevec convert makes a file that can"
Take = Callable[[Sequence[str], NDArray[np.float32]], None]


class RowPolicy:
    """Chooses rows batch by batch, writes what it drops into the report, and holds the words kept, in order."""

    def __init__(self, report: ReadReport) -> None:
        self.report = report
        self.words: dict[str, None] = {}

    def choose(
        self,
        words: Sequence[str | None],
        block: NDArray[np.float32],
        places: Sequence[int],
        room: int | None = None,
    ) -> list[int]:
        """Give the indices of the rows to keep, at most `room`; None stands for a word that is not UTF-8.

        `places` are lines or row numbers, for the report. Rows after the last one that finds room are not looked at, so
        they are not in the report either.
        """
        odd = _odd_vectors(block)
        kept: list[int] = []
        known, report = self.words, self.report
        met = 0
        for index, word in enumerate(words):
            if room is not None and len(kept) == room:
                break
            met += 1
            if word is None:
                report.note(Oddity.NOT_UTF8, places[index])
            elif not word or word.isspace():
                report.note(Oddity.EMPTY, places[index])
            elif index in odd:
                report.note(odd[index], places[index])
            elif word in known:
                report.note(Oddity.REPEATED, places[index])
            else:
                known[word] = None
                kept.append(index)
                if " " in word:
                    report.note(Oddity.SPACED, places[index])
        if met and report.promised is not None and report.read + met > report.promised:
            extra = report.read + met - max(report.promised, report.read)
            report.note(Oddity.EXTRA, places[met - extra], extra)
        report.read += met
        report.kept += len(kept)
        return kept


def _odd_vectors(block: NDArray[np.float32]) -> dict[int, Oddity]:
    """Find the rows [n, dim] that hold NaN or Inf, or nothing but zeros.

    The sum of squares clears nearly every row in one pass; only rows where it is 0 or not finite (which very
    small and very large numbers cause too) are looked at more closely.
    """
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", block, block)
    odd: dict[int, Oddity] = {}
    for index in np.flatnonzero(~((squares > 0) & (squares < np.inf))).tolist():
        row = block[index]
        if not np.isfinite(row).all():
            odd[index] = Oddity.NOT_FINITE
        elif not row.any():
            odd[index] = Oddity.ZERO
    return odd


class TableBuilder:
    """Takes batches of rows, keeps those that the policy chooses or hands them on, and stops at `limit` rows kept."""

    def __init__(self, request: ReadRequest, report: ReadReport, phase: Phase, hint: int) -> None:
        self.path, self.limit, self.take = request.path, request.limit, request.take
        self.report, self.phase, self.policy = report, phase, RowPolicy(report)
        self.hint = hint if self.limit is None else min(hint, self.limit)
        self.matrix: NDArray[np.float32] | None = None

    @property
    def full(self) -> bool:
        return self.limit is not None and self.report.kept >= self.limit

    def add(self, words: Sequence[str | None], block: NDArray[np.float32], places: Sequence[int]) -> None:
        """Take the rows of `block` [n, dim] that are fit for use; `places` are their lines or row numbers."""
        before, met = self.report.kept, self.report.read
        room = None if self.limit is None else self.limit - before
        kept = self.policy.choose(words, block, places, room)
        self.phase.advance(self.report.read - met)
        if not kept:
            return
        chosen = block if len(kept) == len(block) else block[kept]
        if self.take is not None:
            self.take([word for index in kept if (word := words[index]) is not None], chosen)
            return
        after = before + len(kept)
        matrix = self._reserve(after)
        matrix[before:after] = chosen

    def expect(self, coming: int, share: float) -> None:
        """Guess the final number of rows: with the `coming` ones this share of the file, 0 to 1, is read."""
        self.hint = int((self.report.kept + coming) / share * 1.01)
        if self.limit is not None:
            self.hint = min(self.hint, self.limit)
        if self.report.promised is None:
            self.phase.total = int((self.report.read + coming) / share)

    def finish(self) -> VectorTable:
        if self.take is not None and self.report.kept:
            return VectorTable(list(self.policy.words), np.empty((0, self.report.dim), np.float32), self.report)
        if self.matrix is None:
            dropped = "; ".join(self.report.lines()[1:])
            raise FormatError(self.path, "no usable rows" + (f": {dropped}" if dropped else ""))
        self.matrix.resize((self.report.kept, self.report.dim), refcheck=False)
        return VectorTable(list(self.policy.words), self.matrix, self.report)

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
                f"read fewer rows with {Parameter('limit', 'N')}"
            ) from None
        return self.matrix


@dataclass(frozen=True)
class ReadRequest:
    """What the caller wants to read: which file, how many rows at most, which word list, and where progress is shown.

    `take` gets the rows, batch by batch, instead of a matrix. `mmap` leaves them in their file.
    """

    path: Path
    limit: int | None
    words: Path | None
    progress: Progress
    take: Take | None = None
    mmap: bool = False

    @contextmanager
    def build(self, report: ReadReport, hint: int) -> Iterator[TableBuilder]:
        total = report.promised
        if total is not None and self.limit is not None:
            total = min(total, self.limit)
        with self.progress.phase("reading", total=total, unit="rows") as phase:
            yield TableBuilder(self, report, phase, hint)

    def fill(
        self, report: ReadReport, words: Sequence[str | None], blocks: Iterable[NDArray[np.generic]]
    ) -> VectorTable:
        start = 0
        with self.build(report, len(words)) as builder, np.errstate(over="ignore"):
            for block in blocks:
                places = range(start + 1, start + 1 + len(block))
                builder.add(words[start : start + len(block)], block.astype(np.float32, copy=False), places)
                start += len(block)
                if builder.full:
                    break
            return builder.finish()

    def map(
        self,
        report: ReadReport,
        words: Sequence[str | None],
        blocks: Iterable[NDArray[np.generic]],
        dtype: np.dtype[Any],
        offset: int,
    ) -> VectorTable:
        """A table whose rows stay in the file, from byte `offset` on: all are checked once, and none may have to go."""
        if dtype not in (np.float16, np.float32):
            raise FormatError(
                self.path, f"holds {dtype} numbers: only float16 and float32 can be mapped{CONVERT_ADVICE}"
            )
        table = replace(self, take=lambda words, rows: None, mmap=False).fill(report, words, blocks)
        if report.kept < report.read:
            dropped = "; ".join(report.lines()[1:])
            raise FormatError(
                self.path, f"has rows that are no part of a table, and cannot be mapped{CONVERT_ADVICE} ({dropped})"
            )
        shape = (report.kept, report.dim)
        return replace(table, vectors=np.memmap(self.path, dtype, "r", offset, shape))

    def check_table(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or min(shape) < 1:
            raise FormatError(self.path, f"vectors must be a table [words, numbers], this array has the shape {shape}")

    def advice(self, kept: int) -> str:
        """How to read a file that is shorter than it should be, to end an error with; empty if no row is there."""
        return f"; {Parameter('limit', kept)} takes what is there" if kept else ""
