"""Random: every unknown word has a vector of its own, drawn at random; so many programs for text begin.

The same word has the same vector in every text and every run. It says nothing of the word; unlike zeros, it disturbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from lovevec.methods.method import Bools, Floats
from lovevec.methods.table import Table
from lovevec.methods.with_fallback import WithFallback


class Random(WithFallback):
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
