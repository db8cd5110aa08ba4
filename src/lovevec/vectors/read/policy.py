"""Which rows of a table are fit for use. Files and tables in memory go through the same rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.report import Noted, ReadReport
from lovevec.vectors.wordindex import WordIndex


class RowPolicy:
    """Chooses rows batch by batch, writes what it drops into the report, and remembers the words seen."""

    def __init__(self, report: ReadReport) -> None:
        self.report = report
        self.index = WordIndex()

    def choose(
        self,
        words: Sequence[str | None],
        block: NDArray[np.float32],
        places: Sequence[int],
        room: int | None = None,
    ) -> list[int]:
        """Give the indices of the rows to keep, at most `room`; None stands for a word that is not UTF-8.

        Rows after the last one that finds room are not looked at, so they are not in the report either.
        """
        odd = odd_vectors(block)
        kept: list[int] = []
        add, report = self.index.add, self.report
        met = 0
        for index, word in enumerate(words):
            if room is not None and len(kept) == room:
                break
            met += 1
            if word is None:
                report.note(Noted.NOT_UTF8, places[index])
            elif not word or word.isspace():
                report.note(Noted.EMPTY, places[index])
            elif index in odd:
                report.note(odd[index], places[index])
            elif not add(word):
                report.note(Noted.REPEATED, places[index])
            else:
                kept.append(index)
                if " " in word:
                    report.note(Noted.SPACED, places[index])
        if report.promised is not None and report.read + met > report.promised:
            extra = report.read + met - max(report.promised, report.read)
            report.note(Noted.EXTRA, places[met - extra], extra)
        report.read += met
        report.kept += len(kept)
        return kept


def odd_vectors(block: NDArray[np.float32]) -> dict[int, Noted]:
    """Find the rows that hold NaN or Inf, or nothing but zeros.

    The sum of squares clears nearly every row in one pass; only rows where it is 0 or not finite (which very
    small and very large numbers cause too) are looked at more closely.
    """
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", block, block)
    odd: dict[int, Noted] = {}
    for index in np.flatnonzero(~((squares > 0) & (squares < np.inf))).tolist():
        row = block[index]
        if not np.isfinite(row).all():
            odd[index] = Noted.NOT_FINITE
        elif not row.any():
            odd[index] = Noted.ZERO
    return odd
