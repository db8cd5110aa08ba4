"""Known words that may stand in for an unknown one: those spelled most alike, and those that it is put together from.

Spelled alike: the likeness of two words is the cosine of their sets of n-grams, |X ∩ Y| / √(|X|·|Y|), over all runs of
2 and of 3 characters, the word's ends marked:

    tree -> ^t tr re ee e$ ^tr tre ree ee$

An inverted index knows for each n-gram the words that have it, so that only words with something in common are met.

Put together:

    blackboarding -> black boarding        unhappiness -> happiness        footballers -> football ers

Of all ways to cut a word into known words of three characters or more and single characters, the likeliest is taken.
Words are as likely as Zipf's law has it by their rank in the table; a character that is left over costs as much as the
rarest word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import codes_of
from lovevec.units.ragged import Ragged, offsets_of, spread

LENGTHS = (2, 3)
BITS = 21  # a code point has no more, so that three of them fit into one number, exactly
BEGIN, END = "\x02", "\x03"
SHARES = (0.7, 0.55, 0.4, 0.2, 0.0)
SHORTEST = 3  # characters of a segment

Rows = NDArray[np.int64]


class Overlap:
    """An index of words by their n-grams."""

    def __init__(self, words: Sequence[str]) -> None:
        grams = ngram_sets(words)
        self._grams, place = np.unique(grams.values, return_inverse=True)
        owner = spread(np.arange(len(words)), grams.lengths)
        order = np.lexsort((owner, place))
        self._having = Ragged(owner[order], offsets_of(np.bincount(place, minlength=len(self._grams))))
        self._scale = (1 / np.sqrt(grams.lengths)).astype(np.float32)

    def nearest(
        self, words: Sequence[str], k: int, leave_out: Rows | None = None
    ) -> list[tuple[Rows, NDArray[np.float32]]]:
        """For each word the rows of the k most alike and how alike they are, the most alike first, equal ones in order.

        Words that share nothing do not count. `leave_out` names one row for each word that does not count, or -1.
        """
        grams = ngram_sets(words)
        place = np.minimum(np.searchsorted(self._grams, grams.values), len(self._grams) - 1)
        known = self._grams[place] == grams.values
        found = []
        for number, (low, high) in enumerate(zip(grams.offsets, grams.offsets[1:], strict=False)):
            shared = self._having.take(place[low:high][known[low:high]]).values
            alike = np.bincount(shared, minlength=len(self._scale)).astype(np.float32) * self._scale
            if leave_out is not None and leave_out[number] >= 0:
                alike[leave_out[number]] = 0
            rows = _largest(alike, k)
            found.append((rows, (alike[rows] / np.sqrt(high - low)).astype(np.float32)))
        return found


def ngram_sets(words: Sequence[str]) -> Ragged:
    """The distinct n-grams of each word, as numbers: its code points, 21 bits each; those of pairs below zero."""
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) + 2
    codes = codes_of("".join(f"{BEGIN}{word}{END}" for word in words)).astype(np.int64)
    owner = spread(np.arange(len(words)), lengths)
    left = spread(offsets_of(lengths)[1:], lengths) - np.arange(len(codes))  # characters to the word's end
    owners, keys = [], []
    for length in LENGTHS:
        start = np.flatnonzero(left >= length)
        key = np.zeros(len(start), dtype=np.int64)
        for step in range(length):
            key = (key << BITS) | codes[start + step]
        owners.append(owner[start])
        keys.append(-1 - key if length == min(LENGTHS) else key)  # else `xy` would be NUL, x, y
    owned, made = np.concatenate(owners), np.concatenate(keys)
    order = np.lexsort((made, owned))
    owned, made = owned[order], made[order]
    first = np.ones(len(made), dtype=np.bool_)
    first[1:] = (owned[1:] != owned[:-1]) | (made[1:] != made[:-1])
    return Ragged(made[first], offsets_of(np.bincount(owned[first], minlength=len(words))))


def _largest(values: NDArray[np.floating], k: int) -> Rows:
    """Where the k largest numbers above 0 stand, the largest first, of equal ones the first.

    Among so many equal numbers np.partition takes milliseconds: instead a bound is lowered until k are above it.
    """
    most = values.max(initial=0)
    for share in SHARES:
        places = np.flatnonzero(values > share * most)
        if len(places) >= k:
            break
    result: Rows = places[np.lexsort((places, -values[places]))[:k]]
    return result


class Segments:
    """Cuts words into those of a table: word -> row."""

    def __init__(self, row: Mapping[str, int]) -> None:
        self.row = row
        harmonic = log(len(row)) + 0.5772  # 1 + 1/2 + … + 1/n
        self._whole = log(harmonic)
        self._left_over = self._whole + log(len(row) + 1)
        self._longest = max(map(len, row))

    def __call__(self, word: str, leave_out: int = -1) -> list[int]:
        """The rows of the known words of its likeliest segmentation, from left to right; `leave_out` is not used."""
        ends = len(word)
        cost, start, found = [0.0] * (ends + 1), [0] * (ends + 1), [-1] * (ends + 1)
        for end in range(1, ends + 1):
            cost[end], start[end] = cost[end - 1] + self._left_over, end - 1
            for begin in range(max(0, end - self._longest), end - SHORTEST + 1):
                row = self.row.get(word[begin:end], -1)
                if row < 0 or row == leave_out:
                    continue
                total = cost[begin] + self._whole + log(row + 1)
                if total < cost[end]:
                    cost[end], start[end], found[end] = total, begin, row
        rows = []
        while ends:
            if found[ends] >= 0:
                rows.append(found[ends])
            ends = start[ends]
        return rows[::-1]
