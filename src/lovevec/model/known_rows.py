"""The known words of a model, and their own vectors as small codes: directions, a row for each known word.

    float16   2 bytes a number
    int8      1 byte: row / its largest number x 127
    int4      half a byte: the nearest of 16 levels, which lie where a normal distribution wants them (Max, 1960)

A row stands for `scale x codes`, with a scale that makes it of unit length. Measured on the shipped default's target
(docs/results/near.md): int8 and int4 cost at most 0.1 points of the mean of the six similarity sets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.engine.products import product
from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files.tensors import in_blocks, lengths_of

if TYPE_CHECKING:
    from lovevec._core import Rows

RowPrecision = Literal["float16", "int8", "int4", "none"]
ROW_PRECISIONS: tuple[str, ...] = get_args(RowPrecision)
CODE_DTYPES = {"float16": np.float16, "int8": np.int8, "int4": np.uint8}
ROW_KINDS = {"float16": 1, "int8": 2, "int4": 3}  # RowKind of native/core.h
HALF_LEVELS = (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326)
LEVELS = np.array([*(-level for level in reversed(HALF_LEVELS)), *HALF_LEVELS], dtype=np.float32)
ROWS_PER_BLOCK, CODES_PER_BLOCK = 1024, 65_536
ROWS_PER_PRODUCT = 256  # decoded and compared at a time: they stay in the cache
MEASURED_ROWS, MAX_LENGTH = 4096, 1.01
MAX_SCALE = 8.0  # of int4, whose smallest level is an eighth; codes of the others reach 1 or more in every row
MAX_WEIGHT, MAX_RANK = 1e6, 10**8
HALF_MAGNITUDE, HALF_ONE, HALF_INFINITY = np.uint16(0x7FFF), 0x3C00, 0x7C00  # bits of float16
WEIGHT_EXPONENT = 0.8  # lengths to this power are weights: measured on STS-B's train pairs (docs/results/texts.md)
# Added to every weight, as a share: else the most frequent words would not count at all, and `who is it` be `where is
# it` (measured on STS-B's train pairs and on questions by their types, docs/results/texts.md).
LEAST_WEIGHT = 0.05
TEXT_WEIGHTS = ("rank", "lengths")  # how much a word counts in a text, as `of_target` makes it

Floats = NDArray[np.float32]


class KnownWords(Sequence[str]):
    """The known words of a model folder: a JSON list of strings, parsed when somebody first asks, since most loads only
    want a vector. `path` is named in errors. There must be as many words as `rows`, where that is a number."""

    def __init__(self, content: bytes, path: Path, rows: int | None = None) -> None:
        self._content, self._path, self._rows = content, path, rows

    @cached_property
    def _words(self) -> list[str]:
        try:
            words = json.loads(self._content)
        except (ValueError, RecursionError) as error:
            raise FormatError(self._path, f"not readable as JSON ({reason(error)})") from None
        if not isinstance(words, list) or not set(map(type, words)) <= {str}:
            raise FormatError(self._path, "must be a list of words")
        if self._rows not in (None, len(words)):
            raise FormatError(self._path, f"{len(words):,} known words, but {self._rows:,} rows of their own")
        return words

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __eq__(self, other: object) -> bool:
        return self._words == (other._words if isinstance(other, KnownWords) else other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class KnownRows:
    """`codes` [words, dim] (int4: two a byte) and `scale` [words]; `weights` [words], how much each word counts in a
    text, if that is not by its rank; `ranks` [words], how frequent each is, if that is not by its place. Read-only."""

    codes: NDArray[Any]
    scale: Floats
    dim: int
    weights: Floats | None = None
    ranks: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        for array in (self.codes, self.scale, self.weights, self.ranks):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.scale)

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownRows, (self.codes, self.scale, self.dim, self.weights, self.ranks)

    @property
    def precision(self) -> str:
        return next(name for name, dtype in CODE_DTYPES.items() if self.codes.dtype == dtype)

    @property
    def parameters(self) -> int:
        return len(self) * self.dim

    @classmethod
    def of(cls, vectors: Floats, precision: str, weights: Floats | None = None) -> KnownRows:
        """Code the directions of `vectors` [words, dim], which may have any length; rows of zeros stay zeros."""
        if precision not in CODE_DTYPES:
            raise LovevecError(f"unknown precision of rows {precision!r}: choose one of {', '.join(ROW_PRECISIONS)}")
        codes = np.empty((len(vectors), _codes(vectors[:1], precision).shape[1]), CODE_DTYPES[precision])
        scale = np.zeros(len(vectors), dtype=np.float32)
        for low, rows in in_blocks(vectors, ROWS_PER_BLOCK):
            coded = _codes(rows, precision)
            lengths = lengths_of(cls(coded, np.ones(len(rows), dtype=np.float32), vectors.shape[1]).all())
            some = rows.any(axis=1) & (lengths > 0)
            scale[low : low + ROWS_PER_BLOCK] = np.where(some, 1 / np.where(some, lengths, 1), 0)
            codes[low : low + ROWS_PER_BLOCK] = coded
        return cls(codes, scale, vectors.shape[1], weights)

    @classmethod
    def of_target(cls, vectors: Floats, precision: str, weights: str) -> KnownRows:
        """Code a target's rows. In texts the words count by their rank, or with `weights="lengths"` by the lengths of
        their rows to the power of 0.8, relative to the mean length of the second, rarer half of the words, and a little
        besides (`with_least_weight`)."""
        if weights != "lengths":
            return cls.of(vectors, precision)
        lengths = lengths_of(vectors).astype(np.float32)
        usual = max(float(lengths[len(lengths) // 2 :].mean()), 1e-30)
        counts: Floats = (lengths / usual) ** np.float32(WEIGHT_EXPONENT)
        return cls.of(vectors, precision, with_least_weight(counts))

    @cached_property
    def core(self) -> Rows:
        """The same rows for the compiled core."""
        parts = {"kind": ROW_KINDS[self.precision], "dim": self.dim, "codes": self.codes, "scale": self.scale}
        rows: Rows = core().Rows(**parts, levels=LEVELS)
        return rows

    def take(self, rows: NDArray[np.integer]) -> KnownRows:
        weights = None if self.weights is None else self.weights[rows]
        ranks = None if self.ranks is None else self.ranks[rows]
        return KnownRows(self.codes[rows], self.scale[rows], self.dim, weights, ranks)

    def with_more(self, vectors: Floats, weights: Floats, ranks: NDArray[np.int32]) -> KnownRows:
        """These rows, and behind them more: their vectors, weights and ranks. Where these rows have no weights of their
        own, the new ones count by their rank as well."""
        more = KnownRows.of(vectors, self.precision)
        own = np.arange(len(self), dtype=np.int32) if self.ranks is None else self.ranks
        return KnownRows(
            np.concatenate([self.codes, more.codes]),
            np.concatenate([self.scale, more.scale]),
            self.dim,
            None if self.weights is None else np.concatenate([self.weights, weights]),
            np.concatenate([own, ranks]),
        )

    def __getitem__(self, rows: NDArray[np.integer]) -> Floats:
        """Decode some rows, by their numbers: float32 [len(rows), dim], each of unit length."""
        result = np.empty((len(rows), self.dim), dtype=np.float32)
        for low in range(0, len(rows), ROWS_PER_BLOCK):
            part = rows[low : low + ROWS_PER_BLOCK]
            plain = self.codes[part]
            if plain.dtype == np.uint8:
                plain = _pairs().take(plain, mode="clip").view(np.float32)[:, : self.dim]
            np.multiply(plain, self.scale[part][:, None], out=result[low : low + ROWS_PER_BLOCK])
        return result

    def products(self, queries: Floats) -> Floats:
        """Queries [q, dim] times all rows: [q, words], cosines where the queries have length 1.

        Codes are decoded a few rows at a time into the same small arrays, and scales come after: a third of the time
        that whole rows take. The BLAS has one thread: waiting for several, block after block, would take longer than
        they save."""
        result = np.empty((len(queries), len(self)), dtype=np.float32)
        places = np.empty((ROWS_PER_PRODUCT, self.codes.shape[1]), dtype=np.intp)
        pairs = np.empty((ROWS_PER_PRODUCT, self.codes.shape[1]), dtype=np.float64)
        for low in range(0, len(self), ROWS_PER_PRODUCT):
            codes: NDArray[Any] = self.codes[low : low + ROWS_PER_PRODUCT]
            if codes.dtype == np.uint8:
                places[: len(codes)] = codes
                _pairs().take(places[: len(codes)], out=pairs[: len(codes)], mode="clip")
                plain = pairs[: len(codes)].view(np.float32)[:, : self.dim]
            else:
                plain = codes.astype(np.float32)
            result[:, low : low + ROWS_PER_PRODUCT] = product(plain, queries.T).T
        result *= self.scale
        return result

    def all(self) -> Floats:
        return self[np.arange(len(self))]

    def to(self, precision: str) -> KnownRows:
        if precision == self.precision:
            return self
        return replace(KnownRows.of(self.all(), precision, self.weights), ranks=self.ranks)

    def tensors(self) -> dict[str, NDArray[Any]]:
        tensors = {"codes": self.codes, "scale": self.scale, "weights": self.weights, "ranks": self.ranks}
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], dim: int) -> KnownRows:
        """The inverse of `tensors`, for rows of `dim` dimensions; a ValueError says what is wrong with them."""
        codes, scale = tensors.get("codes"), tensors.get("scale")
        weights, ranks = tensors.get("weights"), tensors.get("ranks")
        if codes is None or scale is None or set(tensors) - {"codes", "scale", "weights", "ranks"}:
            raise ValueError("its tensors are not codes, scale and perhaps weights and ranks")
        if (
            codes.dtype.name not in {np.dtype(dtype).name for dtype in CODE_DTYPES.values()}
            or scale.dtype != np.float32
        ):
            raise ValueError(f"rows of {codes.dtype.name} with scales of {scale.dtype.name}")
        width = (dim + 1) // 2 if codes.dtype == np.uint8 else dim
        if codes.ndim != 2 or codes.shape[1] != width or scale.shape != (len(codes),):
            raise ValueError(f"codes of the shape {codes.shape} for rows of {dim} dimensions")
        largest = largest_half(codes) if codes.dtype == np.float16 else 0
        if not np.isfinite(scale).all() or largest >= HALF_INFINITY:
            raise ValueError("holds numbers that are not finite")
        if not (np.abs(scale) <= MAX_SCALE).all() or largest > HALF_ONE:
            raise ValueError("holds numbers that no row of unit length has")
        if weights is not None and (weights.dtype != np.float32 or weights.shape != scale.shape):
            raise ValueError(f"weights of the shape {weights.shape} for {len(scale):,} words")
        if weights is not None and not ((weights >= 0) & (weights <= MAX_WEIGHT)).all():
            raise ValueError(f"holds weights that are no numbers from 0 to {MAX_WEIGHT:,.0f}")
        if ranks is not None and (ranks.dtype != np.int32 or ranks.shape != scale.shape):
            raise ValueError(f"ranks of the shape {ranks.shape} for {len(scale):,} words")
        if ranks is not None and not ((ranks >= 0) & (ranks <= MAX_RANK)).all():
            raise ValueError(f"holds ranks that are no numbers from 0 to {MAX_RANK:,}")
        rows = cls(codes, scale, dim, weights, ranks)
        if len(rows):  # of a large table some are measured: all of them would cost a quarter of the time to load
            sample = rows[np.unique(np.linspace(0, len(rows) - 1, MEASURED_ROWS).astype(np.int64))]
            if not np.linalg.norm(sample, axis=1).max() <= MAX_LENGTH:
                raise ValueError("holds rows that are not of unit length")
        return rows


def with_least_weight(weights: Floats) -> Floats:
    """Weights [words] with LEAST_WEIGHT added, where 1 stays 1."""
    result: Floats = ((weights + LEAST_WEIGHT) / (1 + LEAST_WEIGHT)).astype(np.float32)
    return result


def largest_half(codes: NDArray[np.float16]) -> int:
    """The bits of the largest of float16 numbers without their signs, which have the order of the numbers: numpy is
    slow with float16 itself."""
    bits = codes.reshape(-1).view(np.uint16)
    blocks = (bits[low : low + CODES_PER_BLOCK] & HALF_MAGNITUDE for low in range(0, len(bits), CODES_PER_BLOCK))
    return max((int(block.max()) for block in blocks), default=0)


def _codes(vectors: Floats, precision: str) -> NDArray[Any]:
    """Code rows [n, dim], before any scale: [n, dim], or for int4, with two numbers a byte, [n, (dim + 1) // 2]."""
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
