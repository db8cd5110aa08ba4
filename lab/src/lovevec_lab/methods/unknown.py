"""What programs give a word of which nothing is known.

UNK      one vector for all, the mean of the known ones: usual for tables without one of their own
Random   for each a vector drawn at random, the same in every text and every run; unlike zeros, it disturbs
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from lovevec_lab.methods.fallback import FallbackMethod
from lovevec_lab.methods.method import Bools, Floats, Parameters
from lovevec_lab.methods.table import Table


class Unk(FallbackMethod):
    """The table and its mean vector, which says nothing of the word, so that it does not count as covering it."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "UNK", Parameters(table.parameters.embedding + table.dim))
        self.vector = table.vectors.mean(axis=0, dtype=np.float64).astype(np.float32)

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The same for all."""
        return np.tile(self.vector, (len(words), 1)), np.zeros(len(words), dtype=np.bool_)


class Random(FallbackMethod):
    """The table, and directions at random behind it, as long as the table's vectors are."""

    def __init__(self, table: Table, seed: int = 0) -> None:
        super().__init__(table, "Random")
        self.seed, self.length = seed, float(np.median(np.linalg.norm(table.vectors, axis=1)))

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """Decided by the seed and the spelling alone."""
        keys = [[self.seed, crc32(word.encode("utf-8", "surrogatepass"))] for word in words]
        drawn = np.array([np.random.default_rng(key).standard_normal(self.dim) for key in keys])
        drawn *= self.length / np.linalg.norm(drawn, axis=1, keepdims=True)
        return drawn.astype(np.float32), np.zeros(len(words), dtype=np.bool_)
