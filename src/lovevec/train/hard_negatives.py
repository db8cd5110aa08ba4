"""Hard negatives: for each word the look-alikes that mean something else.

A model that reads spelling takes `march` and `marsh` for relatives. Shown such pairs on purpose, it learns
which differences of spelling matter. Look-alikes are the nearest words by Levenshtein distance.

Two words whose lengths differ by g are at least g edits apart. So each word meets the others by growing
difference of length, and stops when those still to come can be no nearer than the k it has. Nothing is
missed, and about half of all pairs of English words are never compared.

From EXACT_BELOW words on that would take hours. Then words are sorted in five ways (as they are spelled, from the end,
from the middle, from the second letter, by consonants), and each meets those that stand near it in one of them: the
sorted neighborhoods of record linkage. Measured on targets of 34,000 and 46,000 words: of the exact hundred it finds 84
and 81 %, of the first ten 96 and 95 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from lovevec.engine.threads import usable_cores
from lovevec.errors import LovevecError, MissingExtra
from lovevec.progress import Progress
from lovevec.train.synonyms import EXACT_BELOW, Shortlist, contains, place_in_row, symmetric
from lovevec.units.ragged import Ragged

Rows = npt.NDArray[np.int64]

# 256 × 8,000 one-byte distances stay in the processor's cache; with 64,000 rapidfuzz runs a third slower.
STRIP = 256
TILE = 8000
# The first tile is narrow: all of it is sorted, and what it teaches keeps most of the later ones out.
FIRST_TILE = 1000
UNBOUNDED = np.iinfo(np.int32).max
WITHIN = 500  # places, to either side
VOWELS = str.maketrans("", "", "aeiou")
ORDERS: tuple[Callable[[str], str], ...] = (
    lambda word: word,
    lambda word: word[::-1],
    lambda word: word[len(word) // 2 :] + word[: len(word) // 2],
    lambda word: word[1:] + word[:1],
    lambda word: word.translate(VOWELS),
)
# There a look-alike is one number: its distance, the difference of length, its row.
TO_DISTANCE, TO_GAP, ROW = 52, 32, (1 << 32) - 1
FARTHEST, LONGEST, NOBODY = np.iinfo(np.uint8).max, (1 << 20) - 1, np.iinfo(np.int64).max


def hard_negatives(
    words: Sequence[str],
    synonyms: Ragged | None = None,
    *,
    k: int = 100,
    progress: Progress | None = None,
    workers: int | None = None,
    exact: bool | None = None,
) -> npt.NDArray[np.int32]:
    """Give for each word the rows of its `k` nearest words without synonyms: int32 [n, k], padded with -1.

    Exact below EXACT_BELOW words, or as `exact` says. Of words at the same distance, those nearer in
    length come first, then those in lower rows (in most lists the more frequent). A synonym in either direction is left
    out; so is a second copy of the word.
    """
    if k < 1:
        raise LovevecError(f"k must be at least 1, not {k}")
    if synonyms is not None and len(synonyms) != len(words):
        raise LovevecError(f"synonyms of {len(synonyms):,} words do not fit {len(words):,} words")
    search = (_Search if (len(words) < EXACT_BELOW if exact is None else exact) else _Nearby)(words, synonyms, k)
    # Threads suffice: rapidfuzz and numpy release the interpreter lock, and no strip depends on another.
    with (
        (progress or Progress(quiet=True)).phase("hard negatives", total=search.total) as phase,
        ThreadPoolExecutor(workers or usable_cores()) as pool,
    ):
        for strips in search.rounds():
            for done in pool.map(search.fill, strips):
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
        self.total = len(words)
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

    def rounds(self) -> Iterator[Iterator[tuple[int, Rows]]]:
        """The strips, a thread's unit of work, in parts that have to be done one after the other: here in one, and a
        strip has words of one length."""
        by_length = self.by_length.items()
        yield ((length, rows[low : low + STRIP]) for length, rows in by_length for low in range(0, len(rows), STRIP))

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
            longest = length + gap
            kind, cutoff = np.uint8 if longest < 255 else np.int32, worst if worst < longest else None
            nearest.offer(self.compare(queries[searching], tile, kind, cutoff), searching, tile)
        wanted = nearest.distances > 0
        if self.synonyms is not None:
            wanted &= ~contains(self.synonyms.take(queries), nearest.rows, nearest.columns)
        rows, columns = nearest.rows[wanted], nearest.columns[wanted]
        place = place_in_row(rows)
        first = place < self.result.shape[1]
        self.result[queries[rows[first]], place[first]] = columns[first]
        return len(queries)

    def compare(self, queries: Rows, tile: Rows, kind: type, cutoff: int | None) -> npt.NDArray[Any]:
        """The distances [queries, tile]; beyond `cutoff` any larger number will do (long words gain)."""
        words = self.words[queries].tolist(), self.words[tile].tolist()
        table: npt.NDArray[Any] = self.cdist(
            *words, scorer=self.levenshtein, dtype=kind, score_cutoff=cutoff, workers=1
        )
        return table


class _Nearby(_Search):
    """The same among the words that stand near in one of several orders; a round for each of these.

    A look-alike is one number, larger the farther it is: distance, difference of length, row. So the nearest so far and
    those of another order are merged by sorting.
    """

    def __init__(self, words: Sequence[str], synonyms: Ragged | None, k: int) -> None:
        super().__init__(words, synonyms, k)
        self.total = len(ORDERS) * len(words)
        self.lengths = np.minimum(np.fromiter(map(len, words), np.int64, len(words)), LONGEST)
        self.distances: npt.NDArray[np.uint8] = np.full(self.result.shape, FARTHEST, np.uint8)
        self.struck_out = int(self.synonyms.lengths.max(initial=0)) if self.synonyms is not None else 0
        self.order = np.arange(0)

    def rounds(self) -> Iterator[Iterator[tuple[int, Rows]]]:
        """For each order the strips of the words sorted by it."""
        for key in ORDERS:
            keys = np.empty(len(self.words), dtype=object)
            keys[:] = [key(word) for word in self.words.tolist()]
            self.order = np.argsort(keys, kind="stable")
            yield ((low, self.order[low : low + STRIP]) for low in range(0, len(self.order), STRIP))

    def fill(self, strip: tuple[int, Rows]) -> int:
        """Merge the words near those of one strip with what they have, and give the number of its words."""
        low, queries = strip
        tile = self.order[max(low - WITHIN, 0) : low + len(queries) + WITHIN]
        table = self.compare(queries, tile, np.uint8, FARTHEST - 1)
        k = self.result.shape[1]
        before = self.numbers(queries, self.result[queries], self.distances[queries])
        near = np.concatenate([before, self.numbers(queries, tile, table)], axis=1)
        most = 2 * k + self.struck_out  # each of k may be there twice
        if near.shape[1] > most:
            near = np.partition(near, most - 1, axis=1)[:, :most]
        near.sort(axis=1)
        near[:, 1:][near[:, 1:] == near[:, :-1]] = NOBODY
        if self.synonyms is not None:
            rows = np.repeat(np.arange(len(queries)), near.shape[1])
            near[contains(self.synonyms.take(queries), rows, near.ravel() & ROW).reshape(near.shape)] = NOBODY
        near = np.sort(near, axis=1)[:, :k]
        width = near.shape[1]
        self.result[queries, :width] = np.where(near == NOBODY, -1, near & ROW)
        self.distances[queries, :width] = np.where(near == NOBODY, FARTHEST, near >> TO_DISTANCE)
        return len(queries)

    def numbers(self, queries: Rows, rows: npt.NDArray[Any], distances: npt.NDArray[np.uint8]) -> Rows:
        """Look-alikes [queries, n] as numbers; NOBODY for the word itself, its copies and what is farther than is
        counted."""
        gap = np.abs(self.lengths[rows] - self.lengths[queries][:, None])
        number = distances.astype(np.int64) << TO_DISTANCE | gap << TO_GAP | rows
        return np.where((distances == 0) | (distances == FARTHEST), NOBODY, number)
