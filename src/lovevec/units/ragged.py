"""Rows of different lengths in one flat array: `values[offsets[i]:offsets[i + 1]]` is row i."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]


@dataclass(frozen=True)
class Ragged:
    """Many short integer rows without a Python object for each: flat `values`, `offsets` of length rows + 1."""

    values: Ints
    offsets: NDArray[np.int64]

    @classmethod
    def from_lengths(cls, values: Ints, lengths: Ints) -> Ragged:
        return cls(values, offsets_of(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> Ints:
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        lengths: NDArray[np.int64] = self.offsets[1:] - self.offsets[:-1]  # np.diff takes ten times as long for a few
        return lengths

    @property
    def owners(self) -> NDArray[np.int64]:
        """The number of the row that each value stands in."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Ints) -> Ragged:
        """These rows in this order; a row may be taken more than once."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = offsets_of(lengths)
        return Ragged(self.values[np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])], offsets)

    def draw(self, rows: Ints, default: Ints, rng: np.random.Generator) -> Ints:
        """A random value of each row, or its `default` where the row is empty; `default` has the shape of the result,
        to which `rows` is broadcast."""
        first = self.offsets[rows]
        count = self.offsets[rows + 1] - first
        places = first + (rng.random(default.shape) * count).astype(np.int64)
        if not len(self.values):
            return default
        return np.where(count > 0, self.values[np.minimum(places, len(self.values) - 1)], default)

    def put(self, out: NDArray[Any], starts: Ints) -> None:
        """Write each row into the flat array `out`, from its place in `starts` on."""
        out[np.repeat(starts - self.offsets[:-1], self.lengths) + np.arange(len(self.values))] = self.values

    def equal_lengths(self, most: int) -> Iterator[tuple[NDArray[np.int64], Ints]]:
        """All rows as rectangles of one length each: (which rows, values [rows, length]), `most` values at a time."""
        lengths = self.lengths
        order = np.argsort(lengths, kind="stable")
        cuts = np.flatnonzero(np.diff(lengths[order])) + 1
        for group in np.split(order, cuts) if len(order) else []:
            length = int(lengths[group[0]])
            step = max(1, most // max(length, 1))
            for low in range(0, len(group), step):
                rows = group[low : low + step]
                yield rows, self.values[self.offsets[rows][:, None] + np.arange(length)]

    def split(self, bound: int) -> tuple[Ragged, Ragged]:
        """Two sets of rows: the values of each row below `bound`, and its other values."""
        low = self.values < bound
        before = offsets_of(low.astype(np.int64))  # how many below `bound` stand before each value
        below = before[self.offsets]
        return Ragged(self.values[low], below), Ragged(self.values[~low], self.offsets - below)

    def padded(self, width: int = 0) -> Ints:
        """A rectangle [rows, longest (at least `width`)] with zeros behind each row's end."""
        lengths = self.lengths
        width = max(width, int(lengths.max(initial=0)))
        out = np.zeros((len(self), width), dtype=self.values.dtype)
        out[np.arange(width) < lengths[:, None]] = self.values
        return out


def join_rows(first: Ragged, second: Ragged) -> Ragged:
    """Each row of `first` with the same row of `second` behind it."""
    offsets = first.offsets + second.offsets
    values = np.empty(offsets[-1], dtype=first.values.dtype)
    first.put(values, offsets[:-1])
    second.put(values, offsets[:-1] + first.lengths)
    return Ragged(values, offsets)


def merge(where: NDArray[np.bool_], yes: Ragged, no: Ragged) -> Ragged:
    """Row i is the next row of `yes` where `where[i]`, else the next of `no`."""
    lengths = np.empty(len(where), dtype=np.int64)
    lengths[where], lengths[~where] = yes.lengths, no.lengths
    offsets = offsets_of(lengths)
    values = np.empty(offsets[-1], dtype=yes.values.dtype)
    mine = np.repeat(where, lengths)
    values[mine], values[~mine] = yes.values, no.values
    return Ragged(values, offsets)


def offsets_of(lengths: Ints | NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where rows of these lengths begin, and where the last ends: [3, 1] -> [0, 3, 4]."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def spread(per_row: Ints, lengths: Ints) -> Ints:
    """One value per row -> the same value for each element of the row."""
    return np.repeat(per_row, lengths)
