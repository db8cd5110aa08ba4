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
WEIGHT_STEP = 0.75  # of a query's mean distance from the mean
LEAST = 1e-9  # that is divided by


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

    def cosines(self, query: NDArray[np.int16], scale: float, rows: NDArray[np.int64] | None = None) -> Floats:
        """[texts] or [len(rows)] the cosines of texts with a query, which `coded_query` gave."""
        codes, own = (self.codes, self.scale) if rows is None else (self.codes[rows], self.scale[rows])
        sums, wide = np.empty(len(codes), dtype=np.float32), query.astype(np.float64)
        for low in range(0, len(codes), ROWS_PER_BLOCK):
            sums[low : low + ROWS_PER_BLOCK] = codes[low : low + ROWS_PER_BLOCK].astype(np.float64) @ wide
        result: Floats = sums * own * np.float32(scale)
        return result


class Signs(NamedTuple):
    """Sketches of texts, by which most of those that are far from a query are told without their vectors.

    bits [texts, ceil(dim / 64)] for each number of a vector whether it is above the mean, 64 in one number
    mean [dim] of the vectors, more or less: those of some encoders all point the same way
    """

    bits: NDArray[np.uint64]
    mean: Floats

    @classmethod
    def of(cls, meaning: Meaning) -> Signs:
        """From the vectors of texts."""
        step = len(meaning.codes) // TEXTS_PER_MEAN + 1
        total = meaning.scale[::step].astype(np.float64) @ meaning.codes[::step]
        mean = (total / max(len(meaning.scale[::step]), 1)).astype(np.float32)
        bits = np.empty((len(meaning.codes), -(-len(mean) // 64)), dtype=np.uint64)
        for low in range(0, len(bits), ROWS_PER_BLOCK):
            part = slice(low, low + ROWS_PER_BLOCK)
            bits[part] = _packed(meaning.codes[part] * meaning.scale[part, None] > mean)
        return cls(bits, mean)

    def asked(self, codes: NDArray[np.int16], scale: float) -> NDArray[np.uint64]:
        """[3, ceil(dim / 64)] a query: its own bits; and by two more how much each of them counts, from 0 to 3, which
        says how far it is from the mean."""
        away = codes * scale - self.mean.astype(np.float64)
        far = np.abs(away)
        weights = np.minimum(far / max(WEIGHT_STEP * float(far.mean()), LEAST), 3).astype(np.uint8)
        return _packed(np.stack([away > 0, weights & 1, weights >> 1]))

    def gaps(self, asked: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[len(rows)] how far texts are from a query: the sum over bits that differ of how much they count."""
        differ = self.bits[rows] ^ asked[0]
        ones, twos = (
            np.unpackbits((differ & own).view(np.uint8), axis=1).sum(axis=1, dtype=np.int64) for own in asked[1:]
        )
        gaps: NDArray[np.int64] = ones + 2 * twos
        return gaps


def _packed(bits: NDArray[Any]) -> NDArray[np.uint64]:
    """[n, m] of bits -> [n, ceil(m / 64)]."""
    packed = np.zeros((len(bits), -(-bits.shape[1] // 64) * 8), dtype=np.uint8)
    own = np.packbits(bits, axis=1)
    packed[:, : own.shape[1]] = own
    return packed.view(np.uint64)


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
