"""The cheapest way from a word to a string, by dynamic programming over many pairs at once.

D[i, j] is the least cost of turning the word's first i letters into the string's first j:

    D[i-1, j-1]    the same letter, or another (its kind by symbols.py)
    D[i-1, j]      a letter of the word is lost
    D[i, j-1]      the string has one too many
    D[i-2, j-2]    two letters change places
    D[i-2, j-1], D[i-1, j-2], D[i-2, j-2]    a spelling of one or two letters is written for another

with `first` or `last` on top where a slip is at an end of the word, but for a mark that was left out. Costs are whole
numbers, so the order of adding them up does not matter.

A digit is never lost, put in, swapped or taken for another digit: 500 is not 5. It only stands for a letter that it
looks like, or a letter for it (`bl00d`). Else the slip costs DIGIT_COST, and what costs as much is no candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lovevec.near.symbols import DIGITS, JOINTS, KIND, KINDS, VOWELS, Symbols

Costs = NDArray[np.int16]
PAIRS_PER_BLOCK = 512  # aligned together: few enough for the processor's cache
FAR = np.int16(12_000)  # more than any alignment of 32 letters costs, and twice that is still an int16
DIGIT_COST = np.int16(512)  # 16 nats: 32 of these, and FAR, are still an int16
DIGIT = len(KINDS)  # the kind of slip that no string is read by
SAME, OTHER, LOST, EXTRA, SWAP, TWO_ONE, TWO_TWO, ONE_TWO = range(8)
# [twin or not, class of letter (the last one: e at the end of the word)]
DIGIT_CLASS = 4
LOST_KINDS = np.array(
    [
        [*(KIND[name] for name in ("lost", "lost vowel", "lost h", "lost")), DIGIT, KIND["lost end"]],
        [*[KIND["lost twin"]] * 4, DIGIT, KIND["lost twin"]],
    ],
    dtype=np.uint8,
)
EXTRA_KINDS = np.array(
    [
        [*(KIND[name] for name in ("extra", "extra vowel", "extra", "extra joint")), DIGIT],
        [*[KIND["extra twin"]] * 4, DIGIT],
    ],
    dtype=np.uint8,
)
# How many letters of the word and of the string each move takes.
TAKES = ((1, 1), (1, 1), (1, 0), (0, 1), (2, 2), (2, 1), (2, 2), (1, 2))


@dataclass(frozen=True, eq=False)
class Slips:
    """What slips cost: the costs of all kinds, laid out by symbols."""

    symbols: Symbols
    kind_costs: Costs  # [KINDS]

    @cached_property
    def costs(self) -> Costs:
        """[KINDS + 1] what each kind of slip costs, DIGIT the last."""
        return np.append(self.kind_costs, DIGIT_COST)

    @cached_property
    def free(self) -> np.int16:
        """What a letter for a letter costs that costs nothing on top at an end of the word: a mark left out, if that
        costs less than another mark (what else costs the same gets dearer by one); 0 where there is none."""
        bare, case = self.costs[KIND["bare"]], self.costs[KIND["case"]]
        cost: np.int16 = np.int16(max(int(bare), 1) if bare < case else 0)
        return cost

    @cached_property
    def substitution(self) -> Costs:
        """[symbols, symbols] what it costs to write the second for the first: 0 for a letter itself, else above 0."""
        kinds, digit = self.symbols.substitution, self.symbols.marks(DIGITS).astype(np.bool_)
        costs: Costs = np.maximum(self.costs[kinds], np.int16(1))
        costs += (costs == self.free) & (kinds != KIND["bare"])
        looks_alike = (kinds == KIND["print"]) & (digit[:, None] != digit)
        costs[(digit[:, None] | digit) & ~looks_alike] = DIGIT_COST
        np.fill_diagonal(costs[1:, 1:], 0)
        return costs

    @cached_property
    def spellings(self) -> Costs:
        """[spellings, spellings] what it costs to write the second for the first; FAR where nobody does."""
        kind = self.symbols.spellings[2]
        return np.where(kind >= 0, self.costs[kind], FAR).astype(np.int16)

    @cached_property
    def classes(self) -> NDArray[np.uint8]:
        """[symbols] the class by which letters get lost or put in: 1 for vowels, 2 for h, 3 for joints, 4 for digits,
        else 0."""
        vowel, silent, joint, digit = (self.symbols.marks(letters) for letters in (VOWELS, "h", JOINTS, DIGITS))
        return np.select([vowel > 0, silent > 0, joint > 0, digit > 0], [1, 2, 3, DIGIT_CLASS], 0).astype(np.uint8)

    def lost_kinds(self, words: NDArray[np.uint8], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
        """[pairs, letters] the kind of slip that leaves out each letter of a word."""
        end = (np.arange(words.shape[1]) == lengths[:, None] - 1) & (words == self.symbols.number["e"])
        return LOST_KINDS[_twins(words), np.where(end, DIGIT_CLASS + 1, self.classes[words])]

    def extra_kinds(self, strings: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """[pairs, letters] the kind of slip that puts in each letter of a string."""
        return EXTRA_KINDS[_twins(strings), self.classes[strings]]


def _twins(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[rows, letters] 1 where a letter has the same beside it, else 0."""
    same = (rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] > 0)
    twins = np.zeros(rows.shape, dtype=np.uint8)
    twins[:, 1:] = same
    twins[:, :-1] |= same
    return twins


@dataclass(frozen=True, eq=False)
class Pairs:
    """Words and strings to align, row for row: symbols [pairs, letters] and lengths."""

    words: NDArray[np.uint8]
    word_lengths: NDArray[np.int64]
    strings: NDArray[np.uint8]
    string_lengths: NDArray[np.int64]


def align(pairs: Pairs, slips: Slips, moves: NDArray[np.uint8] | None = None) -> Costs:
    """[pairs] the least costs; `moves` [letters + 1, letters + 1, pairs] receives the last step to each D[i, j]: OTHER
    for the same letter, too, and TWO_TWO for a swap, too.

    Many pairs are computed in blocks of words and strings about as long, so that little is computed for nothing.
    """
    size = len(pairs.words)
    if moves is not None or size <= PAIRS_PER_BLOCK:
        return _align(pairs, slips, moves)
    result = np.empty(size, dtype=np.int16)
    order = np.argsort(pairs.word_lengths * 64 + pairs.string_lengths, kind="stable")
    for low in range(0, size, PAIRS_PER_BLOCK):
        which = order[low : low + PAIRS_PER_BLOCK]
        words, strings = pairs.words[which], pairs.strings[which]
        result[which] = _align(Pairs(words, pairs.word_lengths[which], strings, pairs.string_lengths[which]), slips)
    return result


def _align(pairs: Pairs, slips: Slips, moves: NDArray[np.uint8] | None = None) -> Costs:
    """Row by row, all places of the strings and all pairs at once. What lies behind the end of a word or a string is
    computed too, but nothing before it depends on that."""
    size, lengths, ends = len(pairs.words), pairs.word_lengths, pairs.string_lengths
    most_i, most_j = int(lengths.max(initial=0)), int(ends.max(initial=0))
    ways, extra = _ways(pairs, slips, most_i, most_j)
    least = np.full((most_i + 1, most_j + 1, size), FAR, dtype=np.int16)  # D
    least[0, 0] = 0
    for i in range(most_i + 1):
        best, step = least[i], None if moves is None else moves[i]
        for move, costs in ways:
            letters, start = TAKES[move]
            if i >= letters and start <= most_j:
                cost = least[i - letters, : most_j + 1 - start] + costs[i - letters]
                if step is not None:
                    step[start : most_j + 1][cost < best[start:]] = move
                np.minimum(best[start:], cost, out=best[start:])
        # Letters too many follow one another: D[i, j] is the least of all D[i, k] + extra[k + 1] + … + extra[j].
        before = best if step is None else best.copy()
        best -= extra[i]
        np.minimum.accumulate(best, axis=0, out=best)
        best += extra[i]
        if step is not None:
            step[: most_j + 1][best < before] = EXTRA
    result: Costs = least[lengths, ends, np.arange(size)]
    return result


def _ways(pairs: Pairs, slips: Slips, most_i: int, most_j: int) -> tuple[list[tuple[int, Costs]], Costs]:
    """What each move costs [words' letters, strings' letters or 1, pairs], by the letters that it takes last, from the
    first place on where it can be; of letters too many the sums [words' letters + 1, strings' letters + 1, pairs]."""
    words, strings = (np.ascontiguousarray(rows.T) for rows in (pairs.words[:, :most_i], pairs.strings[:, :most_j]))
    first, last, swap = (slips.costs[KIND[name]] for name in ("first", "last", "swap"))
    at = (np.arange(most_i + 1)[:, None] == pairs.word_lengths) * last  # [i, pairs] on top of a slip behind letter i
    at_none, at_one, at_two = at.copy(), at[1:].copy(), at[2:].copy()  # that takes none, one or two letters
    for top in (at_none, at_one, at_two):
        top[:1] += first
    substitution = _look_up(slips.substitution, words, strings)
    substitution += ((substitution > 0) & (substitution != slips.free)) * at_one[:, None]
    lost = slips.costs[slips.lost_kinds(pairs.words[:, :most_i], pairs.word_lengths)].T + at_one
    one, two, _ = slips.symbols.spellings
    word_pairs, string_pairs = two[words[:-1], words[1:]], two[strings[:-1], strings[1:]]
    one_two = _look_up(slips.spellings, one[words], string_pairs) + at_one[:, None]
    two_one = _look_up(slips.spellings, word_pairs, one[strings]) + at_two[:, None]
    two_two = _look_up(slips.spellings, word_pairs, string_pairs) + at_two[:, None]
    before, letter = words[:-1].astype(np.int32), words[1:].astype(np.int32)
    can_swap = (before != letter) & (before > 0) & (letter > 0)
    can_swap &= (slips.classes[before] != DIGIT_CLASS) & (slips.classes[letter] != DIGIT_CLASS)
    crossed = np.where(can_swap, letter << 8 | before, -1)
    swaps = crossed[:, None] == (strings[:-1].astype(np.int32) << 8 | strings[1:])
    np.minimum(two_two, (at_two + swap)[:, None], out=two_two, where=swaps)
    extra = np.zeros((most_j + 1, len(pairs.words)), dtype=np.int16)
    extra[1:] = slips.costs[slips.extra_kinds(pairs.strings[:, :most_j])].T
    np.cumsum(extra, axis=0, out=extra)
    extras = extra + np.arange(most_j + 1, dtype=np.int16)[:, None] * at_none[:, None]
    costs = (OTHER, substitution), (LOST, lost[:, None]), (ONE_TWO, one_two), (TWO_ONE, two_one), (TWO_TWO, two_two)
    return [*costs], extras


def _look_up(table: Costs, left: NDArray[np.uint8], right: NDArray[np.uint8]) -> Costs:
    """[letters, letters, pairs] table[left, right] for each of `left` with each of `right`, both [letters, pairs]."""
    costs: Costs = table.ravel().take((left.astype(np.intp) * table.shape[1])[:, None] + right)
    return costs


def slip_counts(pairs: Pairs, slips: Slips) -> NDArray[np.float64]:
    """[pairs, KINDS] how often each kind of slip stands in the cheapest alignment."""
    size = len(pairs.words)
    shape = int(pairs.word_lengths.max(initial=0)) + 1, int(pairs.string_lengths.max(initial=0)) + 1, size
    moves = np.zeros(shape, dtype=np.uint8)
    align(pairs, slips, moves)
    lost, extra = slips.lost_kinds(pairs.words, pairs.word_lengths), slips.extra_kinds(pairs.strings)
    one, two, spelling = slips.symbols.spellings
    counts = np.zeros((size, len(KINDS) + 1))
    i, j = pairs.word_lengths.copy(), pairs.string_lengths.copy()
    while len(going := np.flatnonzero((i > 0) | (j > 0))):
        at, to = i[going], j[going]
        move = moves[at, to, going]
        word, string = pairs.words[going], pairs.strings[going]
        w1, w2, s1, s2 = _back(word, at, 1), _back(word, at, 2), _back(string, to, 1), _back(string, to, 2)
        move[(move == OTHER) & (slips.substitution[w1, s1] == 0)] = SAME
        crossed = (w1 == s2) & (w2 == s1) & (w1 != w2) & (w1 > 0) & (w2 > 0)
        crossed &= (slips.classes[w1] != DIGIT_CLASS) & (slips.classes[w2] != DIGIT_CLASS)
        respelled = slips.spellings[two[w2, w1], two[s2, s1]] <= slips.costs[KIND["swap"]]
        move[(move == TWO_TWO) & crossed & ~respelled] = SWAP
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
        takes = np.array(TAKES)[move]
        slip &= (move != OTHER) | (slips.substitution[w1, s1] != slips.free)  # what is added at an end of the word
        first = slip & ((at == takes[:, 0]) | ((at == 0) & (move == EXTRA)))
        counts[going[first], KIND["first"]] += 1
        counts[going[slip & (at == pairs.word_lengths[going])], KIND["last"]] += 1
        i[going] -= takes[:, 0]
        j[going] -= takes[:, 1]
    return counts[:, : len(KINDS)]


def _back(rows: NDArray[np.uint8], ends: NDArray[np.int64], steps: int) -> NDArray[np.uint8]:
    """[rows] what stands `steps` places before the end of each row."""
    letters: NDArray[np.uint8] = rows[np.arange(len(rows)), np.maximum(ends - steps, 0)]
    return letters
