"""The cheapest way from a word to a string, by dynamic programming over many pairs at once.

D[i, j] is the least cost of turning the word's first i letters into the string's first j:

    D[i-1, j-1]    the same letter, or another (its kind by symbols.py)
    D[i-1, j]      a letter of the word is lost
    D[i, j-1]      the string has one too many
    D[i-2, j-2]    two letters change places
    D[i-2, j-1], D[i-1, j-2], D[i-2, j-2]    a spelling of one or two letters is written for another

with `first` or `last` on top where a slip is at an end of the word. Costs are whole numbers, so the order of adding
them up does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.near.symbols import JOINTS, KIND, KINDS, VOWELS, Symbols

Costs = NDArray[np.int16]
Cells = tuple[NDArray[np.int64], NDArray[np.int64]]
GROUP_LENGTHS = (6, 8, 11)  # many pairs are put into groups by the string's length: up to 6, to 8, to 11, longer
MIN_PAIRS_TO_GROUP = 4000
FAR = np.int16(12_000)  # more than any alignment of 32 letters costs, and twice that is still an int16
SAME, OTHER, LOST, EXTRA, SWAP, TWO_ONE, TWO_TWO, ONE_TWO = range(8)
# How many letters of the word and of the string each move takes.
TAKES = np.array([[1, 1], [1, 1], [1, 0], [0, 1], [2, 2], [2, 1], [2, 2], [1, 2]])


@dataclass(frozen=True, eq=False)
class Slips:
    """What slips cost: the costs of all kinds, laid out by symbols."""

    symbols: Symbols
    costs: Costs  # [KINDS]

    @cached_property
    def substitution(self) -> Costs:
        """[symbols, symbols] what it costs to write the second for the first: 0 for a letter itself, else above 0."""
        costs: Costs = np.maximum(self.costs[self.symbols.substitution], np.int16(1))
        np.fill_diagonal(costs[1:, 1:], 0)
        return costs

    @cached_property
    def spellings(self) -> Costs:
        """[spellings, spellings] what it costs to write the second for the first; FAR where nobody does."""
        kind = self.symbols.spellings[2]
        return np.where(kind >= 0, self.costs[kind], FAR).astype(np.int16)

    @cached_property
    def classes(self) -> NDArray[np.uint8]:
        """[symbols] the class by which letters get lost or put in: 1 for vowels, 2 for h, 3 for joints, else 0."""
        vowel, silent, joint = (self.symbols.marks(letters) for letters in (VOWELS, "h", JOINTS))
        return np.where(vowel, 1, np.where(silent, 2, np.where(joint, 3, 0))).astype(np.uint8)

    def lost_kinds(self, words: NDArray[np.uint8], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
        """[pairs, letters] the kind of slip that leaves out each letter of a word."""
        kinds = np.array([KIND["lost"], KIND["lost vowel"], KIND["lost h"], KIND["lost"]], dtype=np.uint8)
        kind = kinds[self.classes[words]]
        end = (np.arange(words.shape[1]) == lengths[:, None] - 1) & (words == self.symbols.number["e"])
        kind[end] = KIND["lost end"]
        kind[_twins(words)] = KIND["lost twin"]
        return kind

    def extra_kinds(self, strings: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """[pairs, letters] the kind of slip that puts in each letter of a string."""
        kinds = np.array([KIND["extra"], KIND["extra vowel"], KIND["extra"], KIND["extra joint"]], dtype=np.uint8)
        kind = kinds[self.classes[strings]]
        kind[_twins(strings)] = KIND["extra twin"]
        return kind


def _twins(rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    if not rows.shape[1]:
        return np.zeros(rows.shape, dtype=np.bool_)
    same = (rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] > 0)
    none = np.zeros((len(rows), 1), dtype=np.bool_)
    twins: NDArray[np.bool_] = np.concatenate([none, same], axis=1) | np.concatenate([same, none], axis=1)
    return twins


@dataclass(frozen=True, eq=False)
class Pairs:
    """Words and strings to align, row for row: symbols [pairs, letters] and lengths."""

    words: NDArray[np.uint8]
    word_lengths: NDArray[np.int64]
    strings: NDArray[np.uint8]
    string_lengths: NDArray[np.int64]


def align(pairs: Pairs, slips: Slips, moves: NDArray[np.uint8] | None = None) -> Costs:
    """[pairs] the least costs; `moves` [letters + 1, letters + 1, pairs] receives the last step to each D[i, j].

    Many pairs are dealt with in groups of strings about as long, so that few places are computed for nothing.
    """
    if moves is not None or len(pairs.words) < MIN_PAIRS_TO_GROUP:
        return _align(pairs, slips, moves)
    result = np.empty(len(pairs.words), dtype=np.int16)
    group = np.searchsorted(GROUP_LENGTHS, pairs.string_lengths)
    for number in range(len(GROUP_LENGTHS) + 1):
        which = np.flatnonzero(group == number)
        words, strings = pairs.words[which], pairs.strings[which]
        part = Pairs(words, pairs.word_lengths[which], strings, pairs.string_lengths[which])
        result[which] = _align(part, slips)
    return result


def _align(pairs: Pairs, slips: Slips, moves: NDArray[np.uint8] | None = None) -> Costs:
    """Pairs from the longest word down, so that those whose word has i letters or more come first; all strings' places
    at once, but for letters too many, which follow one another. Spellings for others are rare: cell by cell."""
    if not len(pairs.words):
        return np.zeros(0, dtype=np.int16)
    order = np.argsort(-pairs.word_lengths, kind="stable")
    lengths, ends = pairs.word_lengths[order], pairs.string_lengths[order]
    most_i, most_j = int(lengths.max(initial=0)), int(ends.max(initial=0))
    words = np.ascontiguousarray(pairs.words[order, :most_i].T)  # [letters, pairs]
    strings = np.ascontiguousarray(pairs.strings[order, :most_j].T)
    lost = slips.costs[slips.lost_kinds(pairs.words[order, :most_i], lengths).T]
    extra = slips.costs[slips.extra_kinds(pairs.strings[order, :most_j]).T]
    one, two, _ = slips.symbols.spellings
    respellings = _Respellings(one, two, strings)
    substitution, width, numbers = slips.substitution.ravel(), slips.substitution.shape[1], strings.astype(np.int64)
    first, last, swap = (slips.costs[KIND[name]] for name in ("first", "last", "swap"))
    result = np.full(len(order), FAR, dtype=np.int16)
    rows = [np.full((most_j + 1, len(order)), FAR, dtype=np.int16) for _ in range(3)]  # D[i], D[i - 1], D[i - 2]

    for i in range(most_i + 1):
        rows = [rows[2], rows[0], rows[1]]
        active = int(np.searchsorted(-lengths, -i, side="right"))
        best, before, two_before = (row[:, :active] for row in rows)
        at_end = np.where(lengths[:active] == i, last, np.int16(0))
        at = [at_end + first if i == taken else at_end for taken in range(3)]  # by how many letters a slip takes
        step = None if moves is None else moves[i]

        def offer(
            cost: Costs, start: int, move: int, best: Costs = best, step: NDArray[np.uint8] | None = step
        ) -> None:
            """Offer a way to D[i, start:], taken where it is cheaper."""
            if step is not None:
                rows_of, cells = np.nonzero(cost < best[start:])
                step[rows_of + start, order[cells]] = move
            np.minimum(best[start:], cost, out=best[start:])

        def offer_some(cells: Cells, cost: Costs, start: int, move: int, best: Costs = best, step: Any = step) -> None:
            """Offer a way to some cells of D[i, start:] alone."""
            rows_of, columns = cells
            better = np.flatnonzero(cost < best[rows_of + start, columns])
            rows_of, columns = rows_of[better] + start, columns[better]
            best[rows_of, columns] = cost[better]
            if step is not None:
                step[rows_of, order[columns]] = move

        best[:] = FAR
        if i == 0:
            best[0] = 0
        else:
            letter, here = words[i - 1, :active], strings[:, :active]
            other = substitution.take(numbers[:, :active] + letter.astype(np.int64) * width)
            slip = other > 0
            if i == 1 or i == lengths[active - 1]:  # else there is nothing on top
                other += at[1] * slip
            if step is not None:
                offer(np.where(slip, FAR, before[:-1]), 1, SAME)
            offer(before[:-1] + other, 1, OTHER)
            offer(before + (lost[i - 1, :active] + at[1]), 0, LOST)
            cells, cost = respellings.as_two(one[letter], slips.spellings, active)
            offer_some(cells, before[cells] + cost + at[1][cells[1]], 2, ONE_TWO)
        if i > 1:
            previous = words[i - 2, :active]
            pair = two[previous, letter]
            cells, cost = respellings.as_one(pair, slips.spellings)
            offer_some(cells, two_before[cells] + cost + at[2][cells[1]], 1, TWO_ONE)
            cells, cost = respellings.as_two(pair, slips.spellings, active)
            offer_some(cells, two_before[cells] + cost + at[2][cells[1]], 2, TWO_TWO)
            crossed = (here[:-1] == letter) & (here[1:] == previous)
            crossed &= (letter != previous) & (letter > 0) & (previous > 0)
            cells = _nonzero(crossed)
            offer_some(cells, two_before[cells] + (swap + at[2][cells[1]]), 2, SWAP)
        more = extra[:, :active] + at[0]
        for j in range(1, most_j + 1):
            cost = best[j - 1] + more[j - 1]
            if step is not None:
                step[j, order[:active][cost < best[j]]] = EXTRA
            np.minimum(best[j], cost, out=best[j])
        np.minimum(best, FAR, out=best)
        done = np.flatnonzero(lengths[:active] == i)
        result[order[done]] = best[ends[done], done]
    return result


def _nonzero(marked: NDArray[np.bool_]) -> Cells:
    rows, columns = np.nonzero(marked)
    return rows.astype(np.int64), columns.astype(np.int64)


class _Respellings:
    """Where strings [letters, pairs] have spellings, of one letter or of two, that are written for others."""

    def __init__(self, one: NDArray[np.uint8], two: NDArray[np.uint8], strings: NDArray[np.uint8]) -> None:
        self.single = one[strings]
        double = two[strings[:-1], strings[1:]]
        self.columns, self.rows = np.nonzero(double.T)  # by pairs, so that the first pairs come first
        self.doubles = double[self.rows, self.columns]

    def as_one(self, spelling: NDArray[np.uint8], costs: Costs) -> tuple[Cells, Costs]:
        """Cells in which one letter is written for each pair's `spelling`, and what that costs."""
        columns = np.flatnonzero(spelling)
        cost = costs.ravel().take(self.single[:, columns] + spelling[columns].astype(np.int64) * costs.shape[1])
        rows, places = np.nonzero(cost < FAR)
        return (rows, columns[places]), cost[rows, places]

    def as_two(self, spelling: NDArray[np.uint8], costs: Costs, active: int) -> tuple[Cells, Costs]:
        """As `as_one`, for two letters written for each pair's `spelling`; a cell is that of the first one."""
        end = int(np.searchsorted(self.columns, active))
        rows, columns = self.rows[:end], self.columns[:end]
        cost = costs.ravel().take(self.doubles[:end] + spelling[columns].astype(np.int64) * costs.shape[1])
        there = np.flatnonzero(cost < FAR)
        return (rows[there], columns[there]), cost[there]


def slip_counts(pairs: Pairs, slips: Slips) -> NDArray[np.float64]:
    """[pairs, KINDS] how often each kind of slip stands in the cheapest alignment."""
    size = len(pairs.words)
    shape = int(pairs.word_lengths.max(initial=0)) + 1, int(pairs.string_lengths.max(initial=0)) + 1, size
    moves = np.zeros(shape, dtype=np.uint8)
    align(pairs, slips, moves)
    lost, extra = slips.lost_kinds(pairs.words, pairs.word_lengths), slips.extra_kinds(pairs.strings)
    one, two, spelling = slips.symbols.spellings
    counts = np.zeros((size, len(KINDS)))
    i, j = pairs.word_lengths.copy(), pairs.string_lengths.copy()
    while len(going := np.flatnonzero((i > 0) | (j > 0))):
        at, to = i[going], j[going]
        move = moves[at, to, going]
        word, string = pairs.words[going], pairs.strings[going]
        w1, w2, s1, s2 = _back(word, at, 1), _back(word, at, 2), _back(string, to, 1), _back(string, to, 2)
        kind = np.select(
            [
                move == OTHER,
                move == LOST,
                move == EXTRA,
                move == SWAP,
                move == TWO_ONE,
                move == TWO_TWO,
                move == ONE_TWO,
            ],
            [
                slips.symbols.substitution[w1, s1],
                _back(lost[going], at, 1),
                _back(extra[going], to, 1),
                np.full(len(going), KIND["swap"]),
                spelling[two[w2, w1], one[s1]],
                spelling[two[w2, w1], two[s2, s1]],
                spelling[one[w1], two[s2, s1]],
            ],
            0,
        )
        slip = move != SAME
        np.add.at(counts, (going[slip], kind[slip]), 1)
        takes = TAKES[move]
        first = slip & ((at == takes[:, 0]) | ((at == 0) & (move == EXTRA)))
        counts[going[first], KIND["first"]] += 1
        counts[going[slip & (at == pairs.word_lengths[going])], KIND["last"]] += 1
        i[going] -= takes[:, 0]
        j[going] -= takes[:, 1]
    return counts


def _back(rows: NDArray[np.uint8], ends: NDArray[np.int64], steps: int) -> NDArray[np.uint8]:
    """[rows] what stands `steps` places before the end of each row."""
    letters: NDArray[np.uint8] = rows[np.arange(len(rows)), np.maximum(ends - steps, 0)]
    return letters
