"""Known words near an unknown one, as the model sees both: the few of fifty thousand that tell what a map misses.

Comparing a word with all of them takes a millisecond. So they are put into clusters once (k-means by cosine), and a
word is compared with the members of the clusters whose centres are nearest: a thirtieth of all. What is missed so are
mostly the farther neighbors, which weigh little: docs/results/attach.md has both.

What is compared is whole numbers: known words' vectors as int8, a query's as int16, both in steps that are powers of
two. Their products and sums are exact, in int32 by the compiled core and in float32 by numpy alike, so that a word
finds the same neighbors with the same weights in any batch and by both. A cosine is off by less than 0.002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.engine.products import QUERY_BITS, ROW_BITS, on_grid, small_products
from lovevec.vectors.rows import lower_case, normalized

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Keys = NDArray[np.int32]
# The first rows of a table are its most frequent words. Each costs some time for every imputed word, and memory.
MAX_KNOWN_WORDS = 50_000  # at most 2^PLACE_BITS
NEIGHBORS_PER_WORD = 30
TEMPERATURE = 0.1
CLUSTERS, PROBES = 1024, 12
WORDS_PER_CLUSTER = 48  # that a cluster has, about; a few thousand words are compared with all
SAMPLE_PER_CLUSTER = 16  # words a cluster from which the centres are found
KMEANS_ROUNDS = 3
ROWS_PER_BLOCK = 4096
KMEANS_SEED = 0
QUERIES_PER_BLOCK = 256  # words whose cosines with all centres stay in the cache
# A cosine in steps of 2^-14 and a place behind it are one number of 32 bits.
COSINE_BITS, PLACE_BITS = 14, 16
MAX_CODE, MIN_BITS, MAX_BITS = 127, 3, 10  # of int8; bits
LANES = 64  # codes are padded with zeros to a multiple of it: a loop of whole vectors is a quarter faster
NOBODY = -(2**31)  # a cosine of -2


@dataclass(frozen=True, eq=False)
class Codes:
    """Rows in steps of 2^-bits, as int8: a quarter of the memory, and whole numbers. Padded with zeros to whole
    LANES."""

    steps: NDArray[np.int8]
    bits: int
    dim: int

    @classmethod
    def of(cls, rows: Floats) -> Codes:
        """Rows [n, dim] -> codes, in the finest steps that int8 holds for the largest number."""
        largest = max(float(rows.max(initial=0)), -float(rows.min(initial=0)), MAX_CODE / 2**MAX_BITS)
        bits = max(int(np.floor(np.log2(MAX_CODE / largest))), MIN_BITS)
        steps = np.zeros((len(rows), -(-rows.shape[1] // LANES) * LANES), dtype=np.int8)
        for low in range(0, len(rows), ROWS_PER_BLOCK):
            block = np.rint(rows[low : low + ROWS_PER_BLOCK] * np.float32(2**bits))
            steps[low : low + ROWS_PER_BLOCK, : rows.shape[1]] = np.clip(block, -MAX_CODE, MAX_CODE)
        return cls(steps, bits, rows.shape[1])

    def __len__(self) -> int:
        return len(self.steps)

    def take(self, which: slice | NDArray[Any]) -> Codes:
        """The codes of some rows: a slice, a mask or their numbers."""
        return Codes(self.steps[which], self.bits, self.dim)

    def floats(self) -> Floats:
        """The rows, [rows, dim]."""
        rows: Floats = self.steps[:, : self.dim] * np.float32(2.0**-self.bits)
        return rows

    @property
    def shift(self) -> int:
        """From a product with a query's steps to a cosine in steps of 2^-COSINE_BITS."""
        return QUERY_BITS + self.bits - COSINE_BITS


@dataclass(frozen=True, eq=False)
class KnownNeighbors:
    """Known words as the model sees them: its `vectors` (unit rows) of the words at `rows` of a `table`.

    They are sorted by cluster: that of `centres[c]` has the places from `starts[c]` to `starts[c + 1]`.
    """

    vectors: Codes
    rows: Rows
    table: Floats
    centres: Codes
    starts: Rows

    def __call__(self, queries: Floats, compiled: bool = False) -> tuple[Rows, Floats]:
        """The places of the nearest known words of each query (unit rows), and their weights, a softmax of the cosine:
        both [queries, NEIGHBORS_PER_WORD] or fewer columns. By the compiled core or numpy with the same bits."""
        steps = np.zeros((len(queries), self.vectors.steps.shape[1]), dtype=np.int16)
        steps[:, : queries.shape[1]] = np.rint(queries * np.float32(2**QUERY_BITS))
        keys = np.full((len(queries), min(NEIGHBORS_PER_WORD, len(self.vectors))), NOBODY, dtype=np.int32)
        if compiled:
            known = self.centres.steps, self.vectors.steps, self.starts
            core().search(steps, *known, keys, self.centres.shift, self.vectors.shift, PROBES)
        else:
            self._by_numpy(steps.astype(np.float32), keys)
        return _places(keys), _softmax(keys >> PLACE_BITS)

    def _by_numpy(self, queries: Floats, keys: Keys) -> None:
        probes = self._probes(queries)
        near = np.full((probes.size, NEIGHBORS_PER_WORD), NOBODY, dtype=np.int32)
        by_cluster = np.argsort(probes, axis=None, kind="stable")
        edges = np.searchsorted(probes.ravel()[by_cluster], np.arange(len(self.centres) + 1)).tolist()
        for cluster in np.unique(probes).tolist():
            asked = by_cluster[edges[cluster] : edges[cluster + 1]]
            low, high = self.starts[cluster : cluster + 2].tolist()
            if low == high:
                continue
            members = self.vectors.steps[low:high].astype(np.float32)
            products = small_products(queries[asked // probes.shape[1]], members.T)
            best = _last(_keys(products, low, self.vectors.shift), NEIGHBORS_PER_WORD)
            near[asked, : best.shape[1]] = best
        keys[:] = np.sort(_last(near.reshape(len(queries), -1), keys.shape[1]), axis=1)[:, ::-1]

    def _probes(self, queries: Floats) -> Rows:
        """The clusters that each query is compared with."""
        probes = np.empty((len(queries), min(PROBES, len(self.centres))), dtype=np.int64)
        centres = self.centres.steps.astype(np.float32).T
        for low in range(0, len(queries), QUERIES_PER_BLOCK):
            keys = _keys(small_products(queries[low : low + QUERIES_PER_BLOCK], centres), 0, self.centres.shift)
            probes[low : low + QUERIES_PER_BLOCK] = np.sort(_places(_last(keys, probes.shape[1])), axis=1)
        return probes

    def misses(self, slope: Floats) -> Floats:
        """What the linear map `slope` misses: each word's own direction less what is made of the model's vector."""
        result = np.empty((len(self.rows), slope.shape[1]), dtype=np.float32)
        for low in range(0, len(result), ROWS_PER_BLOCK):
            own = normalized(self.table[self.rows[low : low + ROWS_PER_BLOCK]].astype(np.float32, copy=False))
            result[low : low + ROWS_PER_BLOCK] = (
                own - self.vectors.take(slice(low, low + ROWS_PER_BLOCK)).floats() @ slope
            )
        return result

    def without(self, rows: Rows) -> KnownNeighbors:
        """The same neighbors without those that stand at some rows of the table."""
        keep = ~np.isin(self.rows, rows)
        before = np.concatenate([[0], np.cumsum(keep)])
        return replace(self, vectors=self.vectors.take(keep), rows=self.rows[keep], starts=before[self.starts])


def find_known_neighbors(
    impute: Callable[[Sequence[str]], Floats], words: Sequence[str], table: Floats
) -> KnownNeighbors:
    """The first words of the table, one for each lower-cased form: a model that lower-cases sees no other."""
    _, keep = lower_case(words[: 2 * MAX_KNOWN_WORDS])
    rows = np.flatnonzero(keep)[:MAX_KNOWN_WORDS]
    vectors = impute([words[row] for row in rows.tolist()])
    for low in range(0, len(vectors), ROWS_PER_BLOCK):  # in place: beside a large table every copy counts
        vectors[low : low + ROWS_PER_BLOCK] = on_grid(vectors[low : low + ROWS_PER_BLOCK], ROW_BITS)
    centres, cluster = clusters(vectors, min(CLUSTERS, len(rows) // WORDS_PER_CLUSTER))
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(len(centres) + 1))
    return KnownNeighbors(Codes.of(vectors).take(order), rows[order], table, Codes.of(centres), starts)


def clusters(vectors: Floats, count: int) -> tuple[Floats, Rows]:
    """Centres [count, dim], on the grid, and the cluster of each row: k-means by cosine. With at most PROBES clusters
    all would be looked at, so there is one."""
    if count <= PROBES:
        return on_grid(vectors[:1], ROW_BITS), np.zeros(len(vectors), dtype=np.int64)
    drawn = np.random.default_rng(KMEANS_SEED).permutation(len(vectors))[: SAMPLE_PER_CLUSTER * count]
    sample, centres = vectors[drawn], vectors[drawn[:count]]
    for _ in range(KMEANS_ROUNDS):
        cluster = _nearest_centre(sample, centres)
        order = np.argsort(cluster, kind="stable")
        inside, starts = np.unique(cluster[order], return_index=True)
        sums = np.zeros_like(centres)
        sums[inside] = np.add.reduceat(sample[order], starts, axis=0)
        centres = np.where(sums.any(axis=1, keepdims=True), on_grid(normalized(sums), ROW_BITS), centres)
    return centres, _nearest_centre(vectors, centres)


def _nearest_centre(vectors: Floats, centres: Floats) -> Rows:
    nearest = np.empty(len(vectors), dtype=np.int64)
    for low in range(0, len(vectors), ROWS_PER_BLOCK):
        block = on_grid(vectors[low : low + ROWS_PER_BLOCK], QUERY_BITS)
        nearest[low : low + ROWS_PER_BLOCK] = (block @ centres.T).argmax(axis=1)
    return nearest


def _keys(products: Floats, first: int, shift: int) -> Keys:
    """A cosine and its place (its column, counted from `first`) as one number: larger for a larger cosine, so that
    sorting numbers sorts both, and no two are equal. `products` are whole numbers, of queries' steps with codes."""
    keys: Keys = products.astype(np.int32)
    keys >>= shift
    keys <<= PLACE_BITS
    keys += np.arange(first, first + keys.shape[1], dtype=np.int32)
    return keys


def _places(keys: Keys) -> Rows:
    return (keys & ((1 << PLACE_BITS) - 1)).astype(np.int64)


def _last(keys: Keys, count: int) -> Keys:
    """The `count` largest of each row, in any order; changes `keys`."""
    if keys.shape[1] > count:
        keys.partition(keys.shape[1] - count, axis=1)
    return keys[:, -count:]


def _softmax(steps: Keys) -> Floats:
    """Of cosines in steps, the largest first; nobody weighs nothing."""
    weights = np.exp((steps - steps[:, :1]) / (2**COSINE_BITS * TEMPERATURE))
    weights[steps == NOBODY >> PLACE_BITS] = 0
    result: Floats = (weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)).astype(np.float32)
    return result
