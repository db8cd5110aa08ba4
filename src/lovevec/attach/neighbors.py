"""Known words near an unknown one, as the model sees them: what mends the map (see space.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.sample import Model
from lovevec.engine.nearest import nearest
from lovevec.vectors.rows import lower_case, normalized

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
# The first rows of a table are its most frequent words. Each costs time for every imputed word, and a row of memory.
MOST_WORDS = 50_000
COUNT = 30
TEMPERATURE = 0.1


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The model's `vectors` (unit rows) of the words at `rows` of a `table` of vectors."""

    vectors: Floats
    rows: Rows
    table: Floats

    def __call__(self, queries: Floats) -> tuple[Floats, Floats]:
        """Weighted means over the nearest known words of each query: of the model's vectors, and of their own
        directions. The weights are a softmax of the cosine."""
        candidates = nearest(queries, self.vectors, min(COUNT, len(self.vectors)))
        places = np.array([[place for place, _ in near] for near in candidates])
        cosine = np.array([[value for _, value in near] for near in candidates])
        weights = np.exp((cosine - cosine[:, :1]) / TEMPERATURE)
        weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)[:, None, :]
        own = normalized(self.table[self.rows[places]])
        return np.matmul(weights, self.vectors[places])[:, 0, :], np.matmul(weights, own)[:, 0, :]

    def without(self, rows: Rows) -> Neighbors:
        """The same, less some rows of the table."""
        keep = ~np.isin(self.rows, rows)
        return Neighbors(self.vectors[keep], self.rows[keep], self.table)


def known_neighbors(model: Model, words: Sequence[str], table: Floats) -> Neighbors:
    """The first words of the table, one for each lower-cased form: a model that lower-cases sees no other."""
    _, keep = lower_case(words[: 2 * MOST_WORDS])
    rows = np.flatnonzero(keep)[:MOST_WORDS]
    return Neighbors(model.embed([words[row] for row in rows.tolist()]), rows, table)
