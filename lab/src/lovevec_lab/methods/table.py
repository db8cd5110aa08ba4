"""Word vectors alone: known words have theirs, all others have none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors import ReadReport, VectorTable
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters


class Table(Method):
    """A table of vectors; a word that stands there in lower case only has the row of that."""

    def __init__(self, table: VectorTable, name: str) -> None:
        self.name, self.dim, self.table = name, table.dim, table
        self.words, self.vectors = table.words, table.vectors
        self.parameters = Parameters(table.vectors.size)
        self.row = {word: row for row, word in enumerate(table.words)}

    def first(self, count: int) -> Table:
        """The same with the first so many words only."""
        report = ReadReport("memory", dim=self.dim)
        return Table(VectorTable(list(self.words[:count]), self.vectors[:count], report), self.name)

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word, else of its lower-case form, else -1."""
        get = self.row.get
        return np.array([get(word, get(word.lower(), -1)) for word in words], dtype=np.int64)

    def covers(self, words: Sequence[str]) -> Bools:
        """Which words are known."""
        known: Bools = self.rows(words) >= 0
        return known

    def embed(self, words: Sequence[str]) -> Floats:
        """Their own rows; zeros for the unknown."""
        rows = self.rows(words)
        result = self.vectors[np.maximum(rows, 0)]
        result[rows < 0] = 0
        return result


def table_of(method: Method) -> Table | None:
    """The vectors of known words that a method stands on, as a method of their own; None for a model."""
    return None if method.table is None else Table(method.table, method.name)
