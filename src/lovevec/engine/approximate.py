"""The nearest rows of a large table, nearly: faiss' inverted lists (extra `ann`), with candidates compared exactly.

Rows are put into √n · 2 clusters or so, and of each only its numbers in 8 bits are kept, a quarter of the table's size.
A query is compared with the rows of the nearest clusters; the best 4k candidates are compared again by their own rows.
Measured beside the graphs of hnswlib, usearch and faiss (bench/ann.py): a graph answers a query sooner, but takes
thirty times as long or more to build.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import MissingExtra

Floats = NDArray[np.float32]
CLUSTERS_PER_QUERY = 32  # clusters whose rows a query is compared with
CANDIDATES_PER_NEIGHBOR = 4  # candidates for each neighbor, since 8 bits are not quite the row
SAMPLE_ROWS_PER_CLUSTER = 40  # from which the centres are found: what faiss asks for
ROWS_PER_INSERT = 65_536  # so that a table that is mapped, or not of unit length, is never copied whole
SEED = 18


class ApproximateIndex:
    """An index of `rows` [n, dim]; `lengths` [n] are theirs where they are not of unit length."""

    def __init__(self, rows: NDArray[Any], lengths: NDArray[np.floating] | None = None) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingExtra("faiss-cpu", "ann") from None
        self._rows, self._lengths = rows, lengths
        count, dim = rows.shape
        clusters = max(1, min(2 * math.isqrt(count), count // SAMPLE_ROWS_PER_CLUSTER))
        quantizer = faiss.IndexFlatIP(dim)
        self._index = faiss.IndexIVFScalarQuantizer(
            quantizer, dim, clusters, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        )
        self._index.cp.seed, self._index.cp.niter = SEED, 8
        self._index.nprobe = min(CLUSTERS_PER_QUERY, clusters)
        sample = np.sort(np.random.default_rng(SEED).permutation(count)[: SAMPLE_ROWS_PER_CLUSTER * clusters])
        self._index.train(self._unit(sample))
        for low in range(0, count, ROWS_PER_INSERT):
            self._index.add(self._unit(np.arange(low, min(low + ROWS_PER_INSERT, count))))

    def _unit(self, places: NDArray[np.int64]) -> Floats:
        rows: Floats = self._rows[places].astype(np.float32, copy=False)
        if self._lengths is not None:
            rows = rows / np.asarray(self._lengths[places], dtype=np.float32)[:, None]
        return np.ascontiguousarray(rows)

    def candidates(self, queries: Floats, k: int) -> NDArray[np.int64]:
        """[queries, CANDIDATES_PER_NEIGHBOR · k] the places of rows that may be the k nearest ones of each query;
        -1 where there are no more."""
        count = CANDIDATES_PER_NEIGHBOR * k
        places: NDArray[np.int64] = self._index.search(np.ascontiguousarray(queries, np.float32), count)[1]
        return places
