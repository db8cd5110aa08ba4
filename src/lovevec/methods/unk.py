"""UNK: one vector for all unknown words, the mean of the known ones, usual for tables without one of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.methods.method import Bools, Floats, Parameters
from lovevec.methods.table import Table
from lovevec.methods.with_fallback import WithFallback


class Unk(WithFallback):
    """The table and its mean vector, which says nothing of the word, so that it does not count as covering it."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "UNK", Parameters(table.parameters.embedding + table.dim))
        self.vector = table.vectors.mean(axis=0, dtype=np.float64).astype(np.float32)

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The same for all."""
        return np.tile(self.vector, (len(words), 1)), np.zeros(len(words), dtype=np.bool_)
