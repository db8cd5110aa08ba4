"""The known words' own vectors inside a model, as small codes: directions, a row for each known word.

    float16   2 bytes a number
    int8      1 byte: row / its largest number x 127
    int4      half a byte: the nearest of 16 levels, which lie where a normal distribution wants them (Max, 1960)

A row stands for `scale x codes`, with a scale that makes it of unit length. Measured on the shipped default's target
(docs/results/near.md): int8 and int4 cost at most 0.1 points of the mean of the six similarity sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.products import product
from lovevec.errors import LovevecError
from lovevec.files.tensors import in_blocks, lengths_of

RowPrecision = Literal["float16", "int8", "int4", "none"]
ROW_PRECISIONS: tuple[str, ...] = get_args(RowPrecision)
DTYPES = {"float16": np.float16, "int8": np.int8, "int4": np.uint8}
HALF_LEVELS = (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326)
LEVELS = np.array([*(-level for level in reversed(HALF_LEVELS)), *HALF_LEVELS], dtype=np.float32)
BLOCK = 1024
FEW = 256  # rows that are compared at a time: they stay in the cache
LARGEST_SCALE = 8.0  # of int4, whose smallest level is an eighth; codes of the others reach 1 or more in every row
LARGEST_WEIGHT = 1e6
SIGNLESS, HALF_ONE, HALF_INFINITY = np.uint16(0x7FFF), 0x3C00, 0x7C00  # bits of float16
FLATTER = 0.8  # lengths to this power are weights: measured on STS-B's train pairs (docs/results/texts.md)
WEIGHTS = ("rank", "lengths")  # how much a word counts in a text, as `of_target` makes it

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class KnownRows:
    """`codes` [words, dim] (int4: two a byte) and `scale` [words]; `weights` [words], how much each word counts in a
    text, if that is not by its rank. Read-only."""

    codes: NDArray[Any]
    scale: Floats
    dim: int
    weights: Floats | None = None

    def __post_init__(self) -> None:
        self.codes.flags.writeable = self.scale.flags.writeable = False
        if self.weights is not None:
            self.weights.flags.writeable = False

    def __len__(self) -> int:
        return len(self.scale)

    @property
    def precision(self) -> str:
        """How the rows are stored."""
        return next(name for name, dtype in DTYPES.items() if self.codes.dtype == dtype)

    @property
    def parameters(self) -> int:
        """How many numbers it holds."""
        return len(self) * self.dim

    @classmethod
    def of(cls, vectors: Floats, precision: str, weights: Floats | None = None) -> KnownRows:
        """Code rows of any length; rows of zeros stay so."""
        if precision not in DTYPES:
            raise LovevecError(f"unknown precision of rows {precision!r}: choose one of {', '.join(ROW_PRECISIONS)}")
        codes = np.empty((len(vectors), _codes(vectors[:1], precision).shape[1]), DTYPES[precision])
        scale = np.zeros(len(vectors), dtype=np.float32)
        for low, rows in in_blocks(vectors, BLOCK):
            coded = _codes(rows, precision)
            lengths = lengths_of(cls(coded, np.ones(len(rows), dtype=np.float32), vectors.shape[1]).all())
            some = rows.any(axis=1) & (lengths > 0)
            scale[low : low + BLOCK] = np.where(some, 1 / np.where(some, lengths, 1), 0)
            codes[low : low + BLOCK] = coded
        return cls(codes, scale, vectors.shape[1], weights)

    @classmethod
    def of_target(cls, vectors: Floats, precision: str, weights: str) -> KnownRows:
        """Code a target's rows; the words count by their rank, or by the rows' lengths."""
        if weights != "lengths":
            return cls.of(vectors, precision)
        lengths = lengths_of(vectors).astype(np.float32)
        counts: Floats = (lengths / max(float(lengths[len(lengths) // 2 :].mean()), 1e-30)) ** np.float32(FLATTER)
        return cls.of(vectors, precision, counts)

    def take(self, rows: NDArray[np.integer]) -> KnownRows:
        """Some of the words."""
        weights = None if self.weights is None else self.weights[rows]
        return KnownRows(self.codes[rows], self.scale[rows], self.dim, weights)

    def __getitem__(self, rows: NDArray[np.integer]) -> Floats:
        """[len(rows), dim] of unit length."""
        result = np.empty((len(rows), self.dim), dtype=np.float32)
        for low in range(0, len(rows), BLOCK):
            part = rows[low : low + BLOCK]
            plain = self.codes[part]
            if plain.dtype == np.uint8:
                plain = _pairs().take(plain, mode="clip").view(np.float32)[:, : self.dim]
            np.multiply(plain, self.scale[part][:, None], out=result[low : low + BLOCK])
        return result

    def products(self, queries: Floats) -> Floats:
        """queries [q, dim] times all rows: [q, words]. Codes are decoded a few rows at a time into the same small
        arrays, and scales come after: a third of the time that whole rows take. The BLAS has one thread: waiting for
        several, block after block, would take longer than they save."""
        result = np.empty((len(queries), len(self)), dtype=np.float32)
        places = np.empty((FEW, self.codes.shape[1]), dtype=np.intp)
        pairs = np.empty((FEW, self.codes.shape[1]), dtype=np.float64)
        for low in range(0, len(self), FEW):
            codes: NDArray[Any] = self.codes[low : low + FEW]
            if codes.dtype == np.uint8:
                places[: len(codes)] = codes
                _pairs().take(places[: len(codes)], out=pairs[: len(codes)], mode="clip")
                plain = pairs[: len(codes)].view(np.float32)[:, : self.dim]
            else:
                plain = codes.astype(np.float32)
            result[:, low : low + FEW] = product(plain, queries.T).T
        result *= self.scale
        return result

    def all(self) -> Floats:
        """[words, dim]"""
        return self[np.arange(len(self))]

    def to(self, precision: str) -> KnownRows:
        """The same rows, stored otherwise; themselves if they are so already."""
        return self if precision == self.precision else KnownRows.of(self.all(), precision, self.weights)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """By the names they have in the file."""
        tensors = {"codes": self.codes, "scale": self.scale}
        return tensors if self.weights is None else tensors | {"weights": self.weights}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], dim: int) -> KnownRows:
        """The inverse, for rows of so many dimensions; ValueError says what is wrong."""
        codes, scale = tensors.get("codes"), tensors.get("scale")
        weights = tensors.get("weights")
        if codes is None or scale is None or set(tensors) - {"codes", "scale", "weights"}:
            raise ValueError("its tensors are not codes, scale and perhaps weights")
        if codes.dtype.name not in {np.dtype(dtype).name for dtype in DTYPES.values()} or scale.dtype != np.float32:
            raise ValueError(f"rows of {codes.dtype.name} with scales of {scale.dtype.name}")
        width = (dim + 1) // 2 if codes.dtype == np.uint8 else dim
        if codes.ndim != 2 or codes.shape[1] != width or scale.shape != (len(codes),):
            raise ValueError(f"codes of the shape {codes.shape} for rows of {dim} dimensions")
        largest = _largest_half(codes) if codes.dtype == np.float16 else 0
        if not np.isfinite(scale).all() or largest >= HALF_INFINITY:
            raise ValueError("holds numbers that are not finite")
        if not (np.abs(scale) <= LARGEST_SCALE).all() or largest > HALF_ONE:
            raise ValueError("holds numbers that no row of unit length has")
        if weights is not None and (weights.dtype != np.float32 or weights.shape != scale.shape):
            raise ValueError(f"weights of the shape {weights.shape} for {len(scale):,} words")
        if weights is not None and not ((weights >= 0) & (weights <= LARGEST_WEIGHT)).all():
            raise ValueError(f"holds weights that are no numbers from 0 to {LARGEST_WEIGHT:,.0f}")
        return cls(codes, scale, dim, weights)


def _largest_half(codes: NDArray[np.float16]) -> int:
    """The bits of the largest of float16 numbers without their signs, which have the order of the numbers: numpy is
    slow with float16 itself."""
    bits = codes.reshape(-1).view(np.uint16)
    blocks = (bits[low : low + BLOCK * 64] & SIGNLESS for low in range(0, len(bits), BLOCK * 64))
    return max((int(block.max()) for block in blocks), default=0)


def _codes(vectors: Floats, precision: str) -> NDArray[Any]:
    """Rows -> codes, before any scale."""
    vectors = np.asarray(vectors, dtype=np.float32)
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    unit = vectors / np.where(largest > 0, largest, 1)
    if precision == "float16":
        return unit.astype(np.float16)
    if precision == "int8":
        return np.rint(unit * 127).astype(np.int8)
    spread = np.sqrt((unit.astype(np.float64) ** 2).mean(axis=1, keepdims=True))
    between = (LEVELS[1:] + LEVELS[:-1]) / 2
    level = np.searchsorted(between, unit / np.where(spread > 0, spread, 1)).astype(np.uint8)
    if level.shape[1] % 2:
        level = np.concatenate([level, np.zeros((len(level), 1), dtype=np.uint8)], axis=1)
    return level[:, ::2] | level[:, 1::2] << 4


@cache
def _pairs() -> NDArray[np.float64]:
    """[256] the two float32 numbers of a byte, side by side in eight bytes: looked up in one go."""
    byte = np.arange(256)
    return np.stack([LEVELS[byte & 15], LEVELS[byte >> 4]], axis=1).view(np.float64)[:, 0]
