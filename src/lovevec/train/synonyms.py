"""Synonyms: which words mean nearly the same, the closest rows of the target by cosine.

They serve twice. Augmentation shows a synonym in a word's place, so that words of like meaning come to lie close,
which spelling alone cannot teach. And where the loss pushes a word away from its look-alikes, one that is also a
synonym (`colour`, `color`) must be left alone.

The synonyms of all words are one Ragged: row i lists the rows of word i's synonyms, nearest first.

To compare all pairs takes hours from EXACT_BELOW words on. Then words are put into clusters by meaning, and each meets
the members of the NEARBY clusters whose centres are nearest to it. On targets of 34,000 and 52,000 words that finds
97 and 96 % of the exact ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lovevec.attach.neighbors import clusters
from lovevec.errors import LovevecError
from lovevec.files.tensors import in_blocks, release
from lovevec.progress import Phase, Progress
from lovevec.units.ragged import Ragged
from lovevec.vectors.rows import normalized

# One tile of similarities: large enough to keep the matrix product busy, small enough (32 MB) to throw away.
TILE_ROWS = 1024
TILE_COLUMNS = 8192
EXACT_BELOW = 200_000
NEARBY = 16
MAX_CLUSTERS = np.iinfo(np.uint16).max
WORDS_PER_CENTRE = 24  # a sample from which the centres are found

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Pairs = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


def find_synonyms(
    vectors: npt.NDArray[Any],
    *,
    similarity: float = 0.6,
    most: int = 10,
    progress: Progress | None = None,
    exact: bool | None = None,
) -> Ragged:
    """Find for each row of `vectors` [n, d] the `most` nearest others whose cosine is at least `similarity`.

    `exact`, up to float32 rounding, by default below EXACT_BELOW rows; then equal cosines go to the lower row. A row
    without direction (all zero, or not finite) has no synonyms and is nobody's.
    """
    if not similarity > 0 or most < 1:
        raise LovevecError(f"synonyms need similarity > 0 and most >= 1, not {similarity} and {most}")
    vectors = np.asarray(vectors)
    if vectors.ndim != 2:
        raise LovevecError(f"vectors must be a table [words, dimensions], not {vectors.ndim}-dimensional")
    # A minus turns cosines into distances; the bar just lets `similarity` itself pass.
    bar = np.nextafter(-np.float32(similarity), np.float32(0))
    exact = len(vectors) < EXACT_BELOW if exact is None else exact
    with (progress or Progress(quiet=True)).phase("synonyms", total=len(vectors)) as phase:
        rows, columns = (_among_all if exact else _among_nearby)(vectors, bar, most, phase)
    return Ragged.from_lengths(columns, np.bincount(rows, minlength=len(vectors)))


def _among_all(vectors: npt.NDArray[Any], bar: np.float32, most: int, phase: Phase) -> Pairs:
    """Pairs of a row and one of its synonyms, sorted; all pairs are compared."""
    unit, everyone = _directions(vectors), np.arange(len(vectors))
    rows, columns = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for start in range(0, len(unit), TILE_ROWS):
        block = -unit[start : start + TILE_ROWS]
        nearest = Shortlist(np.full(len(block), most), np.full(len(block), bar))
        _offer_tiles(nearest, block, everyone[start : start + TILE_ROWS], unit, everyone)
        rows.append((nearest.rows + start).astype(np.int32))
        columns.append(nearest.columns.astype(np.int32))
        phase.advance(len(block))
    return np.concatenate(rows), np.concatenate(columns)


def _among_nearby(vectors: npt.NDArray[Any], bar: np.float32, most: int, phase: Phase) -> Pairs:
    """The same among the members of the clusters nearest to each row; vectors are brought to length 1 as they are met,
    since a copy of all would be as large as the table."""
    count = len(vectors)
    centres, nearby, members = _find_clusters(vectors)
    edges = [0, *np.cumsum(np.bincount(nearby.ravel(), minlength=len(centres))).tolist()]
    asked = (np.argsort(nearby, axis=None, kind="stable") // nearby.shape[1]).astype(np.int32)
    distances = np.full((count, most), bar, dtype=np.float32)
    synonyms = np.full((count, most), -1, dtype=np.int32)
    for cluster, met in enumerate(members):
        asking = asked[edges[cluster] : edges[cluster + 1]]
        there = _directions(vectors[met])
        for start in range(0, len(asking), TILE_ROWS):
            rows = asking[start : start + TILE_ROWS]
            block = -_directions(vectors[rows])
            nearest = Shortlist(np.full(len(rows), most), distances[rows].max(axis=1))
            _offer_tiles(nearest, block, rows, there, met)
            _merge(distances, synonyms, rows, nearest)
        phase.advance(len(met))
        release(vectors)
    rows, places = np.nonzero(synonyms >= 0)
    return rows.astype(np.int32), synonyms[rows, places]


def _offer_tiles(nearest: Shortlist, block: Floats, rows: Rows, there: Floats, met: Rows) -> None:
    """Compare the `block` of `rows` with the vectors `there` of the rows `met`, tile by tile; nobody meets itself."""
    for first in range(0, len(met), TILE_COLUMNS):
        columns = met[first : first + TILE_COLUMNS]
        tile = block @ there[first : first + TILE_COLUMNS].T
        place = np.minimum(np.searchsorted(columns, rows), len(columns) - 1)
        itself = np.flatnonzero(columns[place] == rows)
        tile[itself, place[itself]] = 0
        nearest.offer(tile, np.arange(len(rows)), columns)


def _find_clusters(vectors: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint16], list[Rows]]:
    """Clusters, about as many as each has members: their centres, those nearest to each row [rows, NEARBY], and the
    rows of each."""
    count = min(int(np.sqrt(len(vectors))), MAX_CLUSTERS)
    drawn = np.random.default_rng(0).permutation(len(vectors))[: WORDS_PER_CENTRE * count]
    centres, _ = clusters(_directions(vectors[np.sort(drawn)]), count)
    probed = min(NEARBY, len(centres))
    nearby, own = (np.empty((len(vectors), wide), dtype=np.uint16) for wide in (probed, 1))  # quick to sort
    for low, rows in in_blocks(vectors, TILE_COLUMNS):
        distance = -_directions(rows) @ centres.T
        nearby[low : low + TILE_COLUMNS] = np.argpartition(distance, probed - 1, axis=1)[:, :probed]
        own[low : low + TILE_COLUMNS, 0] = distance.argmin(axis=1)
    order = np.argsort(own, axis=None, kind="stable")
    return centres, nearby, np.split(order, np.cumsum(np.bincount(own.ravel(), minlength=len(centres)))[:-1])


def _merge(distances: npt.NDArray[np.float32], synonyms: npt.NDArray[np.int32], rows: Rows, nearest: Shortlist) -> None:
    """Add the new-found synonyms of `rows` to those that they have; the nearest stay, in order."""
    some, which = np.unique(nearest.rows, return_inverse=True)
    rows, most = rows[some], distances.shape[1]
    new = np.full((len(some), most), np.inf, dtype=np.float32)
    names = np.full((len(some), most), -1, dtype=np.int32)
    place = place_in_row(which)
    new[which, place], names[which, place] = nearest.distances, nearest.columns
    new, names = np.hstack([distances[rows], new]), np.hstack([synonyms[rows], names])
    order = np.lexsort((names, new), axis=1)[:, :most]
    distances[rows] = np.take_along_axis(new, order, axis=1)
    synonyms[rows] = np.take_along_axis(names, order, axis=1)


def symmetric(synonyms: Ragged) -> Ragged:
    """Let b list a wherever a lists b: own synonyms first, then by row those that name this one."""
    owners = synonyms.owners
    backward = ~contains(synonyms, synonyms.values, owners)
    rows = np.concatenate([owners, synonyms.values[backward]])
    columns = np.concatenate([synonyms.values, owners[backward].astype(synonyms.values.dtype)])
    order = np.argsort(rows, kind="stable")
    return Ragged.from_lengths(columns[order], np.bincount(rows, minlength=len(synonyms)))


def contains(lists: Ragged, rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Tell for each pair (row, column) whether the list of `row` holds `column`."""
    width = 1 + max(int(lists.values.max(initial=0)), int(columns.max(initial=0)))
    pairs = np.sort(np.append(lists.owners * width + lists.values, len(lists) * width))  # an end beyond all pairs
    queries = rows.astype(np.int64) * width + columns
    inside: npt.NDArray[np.bool_] = pairs[np.searchsorted(pairs, queries)] == queries
    return inside & (columns >= 0)


def _directions(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Scale each row to length 1 in float32; rows that are zero or not finite become zero.

    Dividing by the largest entry first keeps the squares of very large or very small rows in range.
    """
    unit = np.array(vectors, dtype=np.float32, order="C")
    peak = np.abs(unit).max(axis=1, initial=0)
    usable = np.isfinite(peak) & (peak > 0)
    unit[~usable] = 0
    unit /= np.where(usable, peak, 1)[:, None]
    return normalized(unit)


class Shortlist:
    """The nearest few of each row, out of tables of distances that pass by one at a time.

    Row i keeps at most `most[i]` and takes only what is below `worst[i]`, a bar that falls once the list is
    full. So nearly all of a table is dismissed by one comparison. Of equals, the first to come stays.
    """

    def __init__(self, most: npt.NDArray[np.int64], worst: npt.NDArray[Any]) -> None:
        self.most, self.worst = most, worst
        self.rows, self.columns = np.empty(0, np.int64), np.empty(0, np.int64)
        self.distances: npt.NDArray[Any] = np.empty(0, np.uint8)

    def offer(self, table: npt.NDArray[Any], rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> None:
        """Take what is near enough from a `table` of distances between `rows` and `columns`."""
        kind = table.dtype
        limit = np.finfo(kind).max if kind.kind == "f" else np.iinfo(kind).max
        bar = np.minimum(self.worst[rows], limit).astype(kind)
        passed = np.flatnonzero(table < bar[:, None])
        if not len(passed):
            return
        self.rows = np.concatenate([self.rows, rows[passed // len(columns)]])
        self.columns = np.concatenate([self.columns, columns[passed % len(columns)]])
        self.distances = np.concatenate([self.distances, table.ravel()[passed]])
        # Sixteen bits hold the rows of any tile, and numpy sorts them several times faster.
        order = np.lexsort((self.distances, self.rows.astype(np.uint16)))
        sorted_rows = self.rows[order]
        kept = order[place_in_row(sorted_rows) < self.most[sorted_rows]]
        self.rows, self.columns, self.distances = self.rows[kept], self.columns[kept], self.distances[kept]
        ends = np.cumsum(np.bincount(self.rows, minlength=len(self.most)))
        full = np.diff(ends, prepend=0) == self.most
        self.worst[full] = self.distances[ends[full] - 1]


def place_in_row(rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number the entries of each row from 0: [4, 4, 4, 7, 7] -> [0, 1, 2, 0, 1]."""
    counts = np.bincount(rows)
    return np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
