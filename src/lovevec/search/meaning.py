"""What texts mean, as vectors in one byte a number: codes times a scale, of unit length.

A query is rounded to whole numbers, too, so that its products with codes are sums of whole numbers, which have the same
bits by numpy and by the compiled core, in any order. A cosine is off by about 0.002.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
QUERY_LEVELS = 2047  # times 127 times 8,000 numbers is below 2^31
ROWS_PER_BLOCK = 8192
TEXTS_PER_MEAN = 65_536


class Meaning(NamedTuple):
    """Vectors of texts: `codes` [texts, dim] and `scale` [texts]. Texts without words have zeros."""

    codes: NDArray[np.int8]
    scale: Floats

    @classmethod
    def of(cls, vectors: Floats) -> Meaning:
        """From vectors of any length [texts, dim]."""
        codes, scale = np.empty(vectors.shape, dtype=np.int8), np.empty(len(vectors), dtype=np.float32)
        for low in range(0, len(vectors), ROWS_PER_BLOCK):
            part = slice(low, low + ROWS_PER_BLOCK)
            codes[part], scale[part] = coded(vectors[part])
        return cls(codes, scale)

    @classmethod
    def together(cls, parts: list[Meaning]) -> Meaning:
        """The texts of all parts in turn."""
        return cls(np.concatenate([one.codes for one in parts]), np.concatenate([one.scale for one in parts]))

    def take(self, rows: NDArray[np.int64]) -> Meaning:
        """Some of the texts."""
        return Meaning(self.codes[rows], self.scale[rows])

    def signs(self) -> NDArray[np.uint64]:
        """A sketch of each text: which of its codes are above the mean, which is much the same in some of the texts."""
        sample = self.codes[:: len(self.codes) // TEXTS_PER_MEAN + 1]
        level = sample.sum(axis=0, dtype=np.int64) // max(len(sample), 1)
        return signs_of(self.codes, level.astype(np.int8))

    def cosines(self, query: NDArray[np.int16], scale: float, rows: NDArray[np.int64] | None = None) -> Floats:
        """[texts] or [len(rows)] the cosines of texts with a query, which `coded_query` gave."""
        codes, own = (self.codes, self.scale) if rows is None else (self.codes[rows], self.scale[rows])
        sums, wide = np.empty(len(codes), dtype=np.float32), query.astype(np.float64)
        for low in range(0, len(codes), ROWS_PER_BLOCK):
            sums[low : low + ROWS_PER_BLOCK] = codes[low : low + ROWS_PER_BLOCK].astype(np.float64) @ wide
        result: Floats = sums * own * np.float32(scale)
        return result


def signs_of(codes: NDArray[np.integer[Any]], level: NDArray[np.integer[Any]] | int = 0) -> NDArray[np.uint64]:
    """[n, ceil(dim / 64)] a bit for each code that is above its level; rows of 64 of them in one number."""
    signs = np.zeros((len(codes), -(-codes.shape[1] // 64) * 8), dtype=np.uint8)
    for low in range(0, len(codes), ROWS_PER_BLOCK):
        bits = np.packbits(codes[low : low + ROWS_PER_BLOCK] > level, axis=1)
        signs[low : low + ROWS_PER_BLOCK, : bits.shape[1]] = bits
    return signs.view(np.uint64)


def coded(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Codes and scales of rows, which then have unit length."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    codes = np.rint(vectors * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)
    lengths = np.sqrt(np.square(codes, dtype=np.float32).sum(axis=1))
    return codes, np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)


def coded_query(vector: Floats) -> tuple[NDArray[np.int16], float]:
    """A query as whole numbers, and the scale that gives them unit length; 0 for zeros."""
    largest = float(np.abs(vector).max(initial=0))
    if not largest > 0:
        return np.zeros(len(vector), dtype=np.int16), 0.0
    codes = np.rint(vector * (QUERY_LEVELS / largest)).astype(np.int16)
    return codes, float(1 / np.sqrt(np.square(codes, dtype=np.float64).sum()))
