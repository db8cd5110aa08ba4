"""Words that are run together: `alot`, `blacklivesmatter`, `hapybirthday`. The likeliest cut of a string into known
words. So are compounds, which some languages write as one, with letters between their words: `Arbeitszimmer`.

A cut costs what the ranks of its words cost (each of them is drawn by its frequency), `join` for each place where a
blank is lacking, and `short` for each word of one letter or two; as a reading of the string it has the utility

    u = constant - cost

beside those of the near words and of new (readings.py). One of the words may be misspelled: then its alignment costs on
top what it costs a near word. That is looked for only where the string would be new otherwise (reader.py), and only
where the words around it, known to the letter, cover the string cheaply: the damaged word is what the best of the
beginnings, the best of the ends, or both leave.

Costs are whole numbers, and of two cuts that cost the same the one with fewer words is taken, of these the one with the
longer last word, then the one with the longer word before it: so every way to compute it agrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near.lexicon import word_hashes
from lovevec.units.ragged import Ragged

FEATURES = ("constant", "join", "rank", "short")
MIN_JOINED_LENGTH = 4  # letters of a string that is cut
MAX_PARTS = 6
MAX_PART = 20  # letters of a word that others are run together with
SHORT = 2  # letters of a short word
MAX_ONE_LETTER_ROW = 30  # words of one letter (a, I) are among the most frequent words, or none
MIN_DAMAGED_LENGTH, MIN_DAMAGED_PART = 7, 3  # letters of a string with a damaged word, and of that word
BEGINNINGS = 2  # that are tried, and as many ends
MIN_SHARE = 3  # words around a damaged one have at least one letter in three of the string
MAX_COST_PER_LETTER = 40  # of these words
# Letters that some languages put between the words of a compound: Arbeit-s-zimmer, Sonne-n-schein.
LINKS = {"de": ("s", "es", "n", "en"), "nl": ("s", "en", "e"), "da": ("s", "e"), "nb": ("s", "e"), "sv": ("s",)}
LINKED_WORDS, MIN_LINKED, LINK_COST = 20_000, 4, 32  # the most frequent words, of so many letters; what a link costs
FAR = 1 << 24
BASE = 0x9E3779B97F4A7C15  # of the hashes of words (lexicon.py)

Integers = NDArray[np.int32]
Chain = tuple[int, tuple[int, list[tuple[int, int]]]]
Table = list[list[tuple[int, int, int]]]


class Cuts(NamedTuple):
    """Cuts of strings: `rows` [strings, MAX_PARTS] of the words in the table, -1 where there are no more; `ends`
    [strings, MAX_PARTS] where each word ends; `costs` [strings], FAR for a string that cannot be cut."""

    rows: Integers
    ends: Integers
    costs: Integers

    @classmethod
    def empty(cls, count: int) -> Cuts:
        """Of strings that cannot be cut."""
        shape = count, MAX_PARTS
        return cls(np.full(shape, -1, np.int32), np.zeros(shape, np.int32), np.full(count, FAR, np.int32))

    def put(self, number: int, words: list[tuple[int, int]], cost: int) -> None:
        """The cut of one string: (row, end) of each of its words."""
        self.costs[number] = cost
        for place, (row, end) in enumerate(words):
            self.rows[number, place], self.ends[number, place] = row, end


class Gap(NamedTuple):
    """What known words around it leave of a string: a word that may be damaged, from `start` to `end`; the words before
    and behind it, (row, end) each, and what they cost with the blanks that are lacking."""

    start: int
    end: int
    before: list[tuple[int, int]]
    behind: list[tuple[int, int]]
    cost: int


class JoinedWords:
    """The known words that may be run together: their letters as code points, their rows in the table, and what each
    costs; `join` is what a lacking blank costs."""

    def __init__(self, codes: Ragged, rows: Integers, costs: Integers, join: int) -> None:
        self.codes, self.rows, self.costs, self.join = codes, rows, costs, join

    @cached_property
    def _words(self) -> Mapping[int, tuple[int, int]]:
        """The row and the cost of each word by its hash; of words with the same hash those of the first."""
        words = zip(word_hashes(self.codes).tolist(), self.rows.tolist(), self.costs.tolist(), strict=True)
        return {one: (row, cost) for one, row, cost in reversed(list(words))}

    def __call__(self, strings: Ragged) -> Cuts:
        """The cheapest cut of each string, given as code points."""
        cuts = Cuts.empty(len(strings))
        for number in range(len(strings)):
            codes = strings.row(number).tolist()
            if len(codes) < MIN_JOINED_LENGTH:
                continue
            words = list(self._segments(codes))
            if not words or words[0][0] > 0 or all(end < len(codes) for _, end, _, _ in words):
                continue
            if (best := _chain(self._table(len(codes), words), len(codes))) is not None:
                cuts.put(number, best[1], best[0])
        return cuts

    def gaps(self, codes: list[int]) -> list[Gap]:
        """The places of a string where a damaged word may stand: behind the beginnings that cost least a letter, before
        such ends, and between the best of both."""
        size = len(codes)
        beginnings = _cheapest(self._chains(codes))[:BEGINNINGS]
        ends = _cheapest(self._chains(codes, backward=True))[:BEGINNINGS]
        found = [Gap(length, size, words, [], cost + self.join) for length, (cost, words) in beginnings]
        found += [Gap(0, size - length, [], _turned(words, size), cost + self.join) for length, (cost, words) in ends]
        if beginnings and ends:
            (start, (cost, before)), (length, (more, behind)) = beginnings[0], ends[0]
            found.append(Gap(start, size - length, before, _turned(behind, size), cost + more + 2 * self.join))
        return [
            gap
            for gap in found
            if gap.end - gap.start >= MIN_DAMAGED_PART and len(gap.before) + len(gap.behind) < MAX_PARTS
        ]

    def _chains(self, codes: list[int], backward: bool = False) -> list[tuple[int, list[tuple[int, int]]] | None]:
        """For each length what it costs to cut so many letters from the begin into known words, of the whole string
        into two at least, and these words; None where that cannot be. `backward`: from the end, words from the last
        on."""
        size = len(codes)
        words = list(self._segments(codes))
        if backward:
            words = [(size - end, size - start, row, cost) for start, end, row, cost in words]
            words.sort(key=itemgetter(0, 1))
        best = self._table(size, words)
        return [None, *(_chain(best, length) for length in range(1, size + 1))]

    def _table(self, size: int, words: list[tuple[int, int, int, int]]) -> Table:
        """[count][end] the least cost of cutting the first `end` letters into so many words, and where the last of
        these starts and its row; the words come by their starts."""
        best: Table = [[(FAR, 0, -1)] * (size + 1) for _ in range(MAX_PARTS + 1)]
        best[0][0] = (0, 0, -1)
        for start, end, row, cost in words:
            for count in range(MAX_PARTS):
                before = best[count][start][0]
                if before < FAR and (total := before + cost + (self.join if count else 0)) < best[count + 1][end][0]:
                    best[count + 1][end] = total, start, row
        return best

    def _segments(self, codes: list[int]) -> Iterator[tuple[int, int, int, int]]:
        """The words that stand in a string, but for the whole: (start, end, row, cost)."""
        size, words = len(codes), self._words
        for start in range(size):
            hashed = 0
            for end in range(start + 1, min(size, start + MAX_PART) + 1):
                hashed = (hashed * BASE + codes[end - 1] + 1) & 0xFFFFFFFFFFFFFFFF
                if end - start < size and (word := words.get(hashed)) is not None:
                    yield start, end, *word


def _chain(best: Table, length: int) -> tuple[int, list[tuple[int, int]]] | None:
    """The cheapest words that the first letters are cut into, with their cost; of as cheap ones the fewest."""
    count = min(range(1, MAX_PARTS + 1), key=lambda count: best[count][length][0])
    if (cost := best[count][length][0]) >= FAR:
        return None
    end, chain = length, []
    for left in range(count, 0, -1):
        _, start, row = best[left][end]
        chain.append((row, end))
        end = start
    return cost, chain[::-1]


def spans_of(string: str, ends: Sequence[int]) -> list[tuple[int, int]]:
    """Where words that are run together stand in a string, by their `ends` in what the reader compares: of a letter
    that stands three times or more in a row it keeps two. Where nobody knows (a listed form: `alot`), each has the
    whole."""
    letters = string.lower()
    kept = [
        place
        for place, letter in enumerate(letters)
        if not (place > 1 and letter == letters[place - 1] == letters[place - 2])
    ]
    if len(letters) != len(string) or ends[-1] != len(kept) or len(set(ends)) < len(ends):
        return [(0, len(string))] * len(ends)
    return list(pairwise([0, *(kept[end] for end in ends[:-1]), len(string)]))


def _cheapest(chains: list[tuple[int, list[tuple[int, int]]] | None]) -> list[Chain]:
    """Lengths with their chains, those that cost least a letter first, of equal ones the longer; none that is dear,
    covers little of the string, or leaves too little for a damaged word."""
    size = len(chains) - 1
    found = [
        (length, chain)
        for length, chain in enumerate(chains)
        if chain
        and length <= size - MIN_DAMAGED_PART
        and length * MIN_SHARE >= size
        and chain[0] <= length * MAX_COST_PER_LETTER
    ]
    # a / b < c / d without fractions: everything over the same number, which all lengths divide
    return sorted(found, key=lambda one: (one[1][0] * _MULTIPLE // one[0], -one[0]))


_MULTIPLE = 720_720  # of 1 to 16; of longer lengths the quotient is rounded down, by every way to compute it alike


def _turned(words: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Words of a chain from the end on, as they stand in the string."""
    starts = [0, *(end for _, end in words[:-1])]
    return [(row, size - start) for (row, _), start in zip(reversed(words), reversed(starts), strict=True)]
