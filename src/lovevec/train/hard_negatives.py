"""Hard negatives: for each word the look-alikes that mean something else.

A model that reads spelling takes `march` and `marsh` for relatives. Shown such pairs on purpose, it learns
which differences of spelling matter. Look-alikes are the nearest words by Levenshtein distance.

Two words whose lengths differ by g are at least g edits apart. So each word meets the others by growing
difference of length, and stops when those still to come can be no nearer than the k it has. Nothing is
missed, and about half of all pairs of English words are never compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from lovevec.engine.threads import usable_cores
from lovevec.errors import LovevecError, MissingExtra
from lovevec.progress import Progress
from lovevec.train.synonyms import Shortlist, contains, place_in_row, symmetric
from lovevec.units.ragged import Ragged

Rows = npt.NDArray[np.int64]

# 256 × 8,000 one-byte distances stay in the processor's cache; with 64,000 rapidfuzz runs a third slower.
STRIP = 256
TILE = 8000
# The first tile is narrow: all of it is sorted, and what it teaches keeps most of the later ones out.
FIRST_TILE = 1000
UNBOUNDED = np.iinfo(np.int32).max


def hard_negatives(
    words: Sequence[str],
    synonyms: Ragged | None = None,
    *,
    k: int = 100,
    progress: Progress | None = None,
    workers: int | None = None,
) -> npt.NDArray[np.int32]:
    """Give for each word the rows of its `k` nearest words without synonyms: int32 [n, k], padded with -1.

    Exact. Of words at the same distance, those nearer in length come first, then those in lower rows (in most
    lists the more frequent). A synonym in either direction is left out; so is a second copy of the word.
    """
    if k < 1:
        raise LovevecError(f"k must be at least 1, not {k}")
    if synonyms is not None and len(synonyms) != len(words):
        raise LovevecError(f"synonyms of {len(synonyms):,} words do not fit {len(words):,} words")
    search = _Search(words, synonyms, k)
    # Threads suffice: rapidfuzz and numpy release the interpreter lock, and no strip depends on another.
    with (
        (progress or Progress(quiet=True)).phase("hard negatives", total=len(words)) as phase,
        ThreadPoolExecutor(workers or usable_cores()) as pool,
    ):
        for done in pool.map(search.fill, search.strips()):
            phase.advance(done)
    return search.result


class _Search:
    """What all strips share: the words by length, how many each must find, and the table they fill."""

    def __init__(self, words: Sequence[str], synonyms: Ragged | None, k: int) -> None:
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist
        except ImportError:
            raise MissingExtra("rapidfuzz", "train") from None
        self.cdist, self.levenshtein = cdist, Levenshtein.distance
        self.words = np.empty(len(words), dtype=object)
        self.words[:] = words
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        self.by_length = {length: np.flatnonzero(lengths == length) for length in np.unique(lengths).tolist()}
        self.synonyms = symmetric(synonyms) if synonyms is not None else None
        # Besides k, as many as will be struck out again: copies of the word (itself is one) and synonyms.
        copies = Counter(words)
        self.needed = k + np.fromiter((copies[word] for word in words), np.int64, len(words))
        if self.synonyms is not None:
            self.needed += self.synonyms.lengths
        self.result: npt.NDArray[np.int32] = np.full((len(words), k), -1, np.int32)

    def strips(self) -> Iterator[tuple[int, Rows]]:
        """Cut the words into strips of one length each, the unit of work of a thread."""
        for length, rows in self.by_length.items():
            for start in range(0, len(rows), STRIP):
                yield length, rows[start : start + STRIP]

    def tiles(self, length: int) -> Iterator[tuple[int, Rows]]:
        """Yield all words as (difference of length, rows), in the order that decides ties."""
        size = FIRST_TILE
        for gap in sorted({abs(other - length) for other in self.by_length}):
            sides = [self.by_length[side] for side in {length - gap, length + gap} if side in self.by_length]
            ring = np.sort(np.concatenate(sides))
            start = 0
            while start < len(ring):
                yield gap, ring[start : start + size]
                start, size = start + size, TILE

    def fill(self, strip: tuple[int, Rows]) -> int:
        """Find the negatives of one strip, write them to the result, and give the number of its words."""
        length, queries = strip
        nearest = Shortlist(self.needed[queries], np.full(len(queries), UNBOUNDED, np.int32))
        searching = np.arange(len(queries))
        for gap, tile in self.tiles(length):
            searching = searching[nearest.worst[searching] > gap]
            if not len(searching):
                break
            worst = int(nearest.worst[searching].max())
            nearest.offer(self.compare(queries[searching], tile, length + gap, worst), searching, tile)
        wanted = nearest.distances > 0
        if self.synonyms is not None:
            wanted &= ~contains(self.synonyms.take(queries), nearest.rows, nearest.columns)
        rows, columns = nearest.rows[wanted], nearest.columns[wanted]
        place = place_in_row(rows)
        first = place < self.result.shape[1]
        self.result[queries[rows[first]], place[first]] = columns[first]
        return len(queries)

    def compare(self, queries: Rows, tile: Rows, longest: int, worst: int) -> npt.NDArray[Any]:
        """Compare queries with a tile; beyond `worst` any larger number will do (long words gain)."""
        table: npt.NDArray[Any] = self.cdist(
            self.words[queries].tolist(),
            self.words[tile].tolist(),
            scorer=self.levenshtein,
            dtype=np.uint8 if longest < 255 else np.int32,
            score_cutoff=worst if worst < longest else None,
            workers=1,
        )
        return table
