"""The nearest known words by cosine, exactly: all of them compared, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BLOCK_NUMBERS = 1 << 23
# More than float32 rounding can make of a cosine: what might be among the nearest is computed again in float64.
MARGIN = np.float32(1e-5)
LEFT_OUT = np.float32(-2)
GROUP = 64


class Known:
    """The known words: where each stands, and their vectors. Both are made when first asked for, by one thread."""

    def __init__(self, words: Sequence[str], embed: Callable[[Sequence[str]], Floats]) -> None:
        self.words, self._embed = words, embed
        self._place: dict[str, int] | None = None
        self._vectors: Floats | None = None
        self._lock = RLock()

    @property
    def place(self) -> dict[str, int]:
        """Word -> its row."""
        if self._place is None:
            with self._lock:
                if self._place is None:
                    self._place = {word: row for row, word in enumerate(self.words)}
        return self._place

    @property
    def vectors(self) -> Floats:
        """[words, dim] in float32: 192 MB for 160,000 words of 300 dimensions. Half of that in float16 would have to
        be converted for every block of queries, which takes longer than comparing them."""
        if self._vectors is None:
            with self._lock:
                if self._vectors is None:
                    self._vectors = self._embed(self.words)
        return self._vectors

    def neighbors(self, queries: Floats, own: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """For each query the k nearest known words with their cosine, leaving out the query's `own` word."""
        rows = np.array([self.place.get(word, -1) for word in own], dtype=np.int64)
        found = nearest(queries, self.vectors, k, rows)
        return [[(self.words[row], cosine) for row, cosine in near] for near in found]


def nearest(
    queries: Floats,
    rows: Floats,
    k: int,
    leave_out: NDArray[np.int64] | None = None,
    lengths: NDArray[np.floating] | None = None,
) -> list[list[tuple[int, float]]]:
    """For each query [q, dim] the k nearest of `rows` [n, dim]: (row, cosine), nearest first, equal ones in the order
    of the rows. `leave_out` names one row for each query that does not count, or -1. Queries are of unit length, and so
    are the rows, unless `lengths` [n] holds theirs.

    The answer to a query does not depend on the others: float32 products only find candidates.
    """
    found: list[list[tuple[int, float]]] = []
    step = max(1, BLOCK_NUMBERS // max(len(rows), 1))
    for low in range(0, len(queries), step):
        block = queries[low : low + step]
        cosine = block @ rows.T
        if lengths is not None:
            cosine /= lengths
        if leave_out is not None:
            given = np.flatnonzero(leave_out[low : low + step] >= 0)
            cosine[given, leave_out[low : low + step][given]] = 2 * LEFT_OUT
        found += [_best(query, near, rows, k, lengths) for query, near in zip(block, cosine, strict=True)]
    return found


def _best(
    query: Floats, near: Floats, rows: Floats, k: int, lengths: NDArray[np.floating] | None
) -> list[tuple[int, float]]:
    places = np.flatnonzero(near >= max(_least(near, k) - MARGIN, LEFT_OUT))
    # Row by row, the products of one row are summed in an order that does not depend on how many rows there are.
    exact = (rows[places].astype(np.float64) * query).sum(axis=1)
    if lengths is not None:
        exact /= lengths[places]
    best = np.lexsort((places, -exact))[:k]
    return [(int(places[i]), float(min(max(exact[i], -1.0), 1.0))) for i in best]


def _least(near: Floats, k: int) -> np.float32:
    """The k-th largest of `near`. No group's largest that is below the k-th largest of these can be it, so only the few
    numbers that are not below are sorted."""
    if k >= len(near):
        return np.float32(-np.inf)
    groups = len(near) // GROUP
    if groups >= k:
        largest = near[: groups * GROUP].reshape(groups, GROUP).max(axis=1)
        near = near[near >= np.partition(largest, -k)[-k]]
    result: np.float32 = np.partition(near, -k)[-k]
    return result
