"""Words that are run together, against all cuts of a string, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core
from tests.near.strings import LISTED, ORTHOGRAPHY

from lovevec.damage.misspell import misspell
from lovevec.near.alignment import DIGIT_COST, align
from lovevec.near.channel import DEFAULT, UNIT, Channel
from lovevec.near.index import Spellings
from lovevec.near.joined import (
    BEGINNINGS,
    FAR,
    MAX_COST_PER_LETTER,
    MAX_ONE_LETTER_ROW,
    MAX_PART,
    MAX_PARTS,
    MIN_DAMAGED_LENGTH,
    MIN_DAMAGED_PART,
    MIN_JOINED_LENGTH,
    MIN_SHARE,
    JoinedWords,
)
from lovevec.near.novelty import LISTED as LISTED_FEATURE
from lovevec.near.novelty import score
from lovevec.near.orthography import Orthography
from lovevec.near.reader import NO_CANDIDATE_COST, Reader
from lovevec.units.characters import to_codes

Chain = tuple[int, list[tuple[int, int]]]


def joined_words(words: list[str], costs: list[int], join: int) -> JoinedWords:
    """Rows are those of a table in which other words stand between."""
    return JoinedWords(to_codes(words), np.arange(len(words), dtype=np.int32) * 3 + 1, np.array(costs, np.int32), join)


def all_cuts(string: str, words: dict[str, int], whole: int | None = None) -> Iterator[list[str]]:
    """Every way to cut a string into known words, up to MAX_PARTS of them, none of them the `whole`."""
    whole = len(string) if whole is None else whole
    if not string:
        yield []
    for size in range(1, min(len(string), MAX_PART) + 1):
        if size < whole and string[:size] in words:
            yield from (
                [string[:size], *rest] for rest in all_cuts(string[size:], words, whole) if len(rest) < MAX_PARTS
            )


def best_cut(
    string: str, words: dict[str, int], join: int, whole: int | None = None, backward: bool = False
) -> list[str] | None:
    """The cheapest; of equal ones that of fewer words, then the one with the longer last word, then before it. From the
    end on it is the other way round."""

    def key(cut: list[str]) -> tuple:
        order = cut if backward else cut[::-1]
        return sum(words[word] for word in cut) + join * (len(cut) - 1), len(cut), [-len(word) for word in order]

    return min((cut for cut in all_cuts(string, words, whole) if cut), key=key, default=None)


FEW = ["a", "b", "e", "ab", "ba", "be", "bee", "aba", "eb", "abe", "ee", "abeab"]
STRINGS = st.text("abe", max_size=11)
COSTS = st.lists(st.integers(0, 3), min_size=len(FEW), max_size=len(FEW))


@given(
    st.lists(STRINGS, min_size=1, max_size=4),
    COSTS,
    st.integers(0, 2),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
@settings(max_examples=150)
def test_a_cut_is_the_best_of_all_with_many_that_cost_the_same(strings, costs, join, chosen):
    words = [(word, cost) for word, cost, keep in zip(FEW, costs, chosen, strict=True) if keep]
    by_word = dict(words)
    joined = joined_words([word for word, _ in words], [cost for _, cost in words], join)
    rows = {word: 3 * place + 1 for place, (word, _) in enumerate(words)}
    cuts = joined(to_codes(strings))
    for number, string in enumerate(strings):
        best = best_cut(string, by_word, join) if len(string) >= MIN_JOINED_LENGTH else None
        if best is None:
            assert cuts.costs[number] == FAR
            assert cuts.rows[number].tolist() == [-1] * MAX_PARTS
            assert cuts.ends[number].tolist() == [0] * MAX_PARTS
            continue
        assert cuts.costs[number] == sum(by_word[word] for word in best) + join * (len(best) - 1)
        padding = MAX_PARTS - len(best)
        assert cuts.rows[number].tolist() == [*(rows[word] for word in best), *[-1] * padding]
        assert cuts.ends[number].tolist() == [*np.cumsum([*map(len, best)]).tolist(), *[0] * padding]


def test_of_words_that_stand_twice_the_first_counts():
    joined = joined_words(["ab", "cd", "ab", "cd"], [5, 5, 1, 1], 1)
    cuts = joined(to_codes(["abcd"]))
    assert (cuts.rows[0, :2].tolist(), cuts.costs[0]) == ([1, 4], 11)


def test_long_words_and_many_words_are_none():
    words = ["x" * 20, "y" * 21, "ab"]
    joined = joined_words(words, [1, 1, 1], 0)
    strings = ["x" * 20 + "ab", "y" * 21 + "ab", "ab" * 6, "ab" * 7, "x" * 40, "x" * 20, "ab", "aba"]
    assert joined(to_codes(strings)).costs.tolist() == [2, FAR, 6, FAR, 2, FAR, FAR, FAR]


def chains(string: str, words: dict[str, int], join: int, backward: bool) -> list[tuple[int, list[str]]]:
    """The best cuts of the beginnings (or ends) that may stand around a damaged word, cheapest a letter first, of equal
    ones the longest."""
    found = []
    for size in range(1, len(string) - MIN_DAMAGED_PART + 1):
        part = string[len(string) - size :] if backward else string[:size]
        cut = best_cut(part, words, join, len(string), backward)
        if cut is None:
            continue
        cost = sum(words[word] for word in cut) + join * (len(cut) - 1)
        if size * MIN_SHARE >= len(string) and cost <= size * MAX_COST_PER_LETTER:
            found.append((cost, cut))

    def key(one: tuple[int, list[str]]) -> tuple:
        size = len("".join(one[1]))
        return Fraction(one[0], size), -size

    return sorted(found, key=key)[:BEGINNINGS]


@given(st.text("abex", min_size=1, max_size=13), COSTS, st.integers(0, 20), st.sampled_from([1, 7, 90]))
@settings(max_examples=100)
def test_gaps_are_what_the_best_words_at_both_ends_leave(string, costs, join, times):
    words = {word: cost * times for word, cost in zip(FEW, costs, strict=True)}
    joined, rows = joined_words(FEW, list(words.values()), join), {word: 3 * row + 1 for row, word in enumerate(FEW)}
    begins, ends = (chains(string, words, join, backward) for backward in (False, True))
    expected = [(cut, []) for _, cut in begins] + [([], cut) for _, cut in ends]
    if begins and ends:
        expected.append((begins[0][1], ends[0][1]))
    size, found = len(string), []
    for before, behind in expected:
        start, end = len("".join(before)), size - len("".join(behind))
        if end - start < MIN_DAMAGED_PART or len(before) + len(behind) >= MAX_PARTS:
            continue
        cost = sum(words[word] for word in [*before, *behind]) + join * (len(before) + len(behind))
        places = np.cumsum([*map(len, before), end - start, *map(len, behind)]).tolist()
        first = [(rows[word], place) for word, place in zip(before, places, strict=False)]
        last = [(rows[word], place) for word, place in zip(behind, places[len(before) + 1 :], strict=True)]
        found.append((start, end, first, last, cost))
    assert [tuple(gap) for gap in joined.gaps([*map(ord, string)])] == found


# --- in the reader ---

READER = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=False)
PLAIN = [word for word in KNOWN_WORDS if word.isalpha() and 1 < len(word) < 10]
RNG = np.random.default_rng(4)
PAIRS = [tuple(RNG.choice(PLAIN, count).tolist()) for count in (2, 2, 3) for _ in range(60)]


def test_which_words_others_are_run_together_with():
    joined = READER.joined_words
    rows = set(joined.rows.tolist())
    endings = READER.lexicon.endings
    assert endings
    for row, word in enumerate(KNOWN_WORDS):
        symbols = READER.symbols.encode([word.lower()]).values
        letters = all(number and READER.symbols.characters[number - 1].isalpha() for number in symbols.tolist())
        able = letters and len(word) <= MAX_PART and (len(word) > 1 or row < MAX_ONE_LETTER_ROW) and word not in endings
        assert (row in rows) == able, word
    assert [KNOWN_WORDS[row].lower() for row in joined.rows.tolist()] == [
        "".join(map(chr, joined.codes.row(number).tolist())) for number in range(len(joined.rows))
    ]
    ranks = DEFAULT.part_costs(joined.rows, joined.codes.lengths)
    assert joined.costs.tolist() == ranks.tolist()


def test_words_of_one_letter_are_run_together_where_they_are_frequent():
    words = ["a", *PLAIN[:40], "i"]
    reader = Reader(words, Orthography(), compiled=False)
    assert [words[row] for row in reader.joined_words.rows.tolist() if len(words[row]) == 1] == ["a"]
    assert reader(["ahouse"]).part_rows[0, :2].tolist() == [0, words.index("house")]


def cut_of(reading, number: int) -> list[str]:
    return [KNOWN_WORDS[row] for row in reading.part_rows[number].tolist() if row >= 0]


def test_words_run_together_are_cut_into_no_dearer_words_than_they_were_made_of():
    strings = ["".join(words) for words in PAIRS]
    reading, joined, join = READER(strings), READER.joined_words, DEFAULT.join_cost
    cost = {KNOWN_WORDS[row]: int(one) for row, one in zip(joined.rows, joined.costs, strict=True)}
    for number, (string, words) in enumerate(zip(strings, PAIRS, strict=True)):
        if string in LISTED or re.search(r"(.)\1\1", string):  # of three of a letter two are read
            continue
        found, ends = cut_of(reading, number), reading.part_ends[number].tolist()
        assert "".join(found) == string
        assert ends[: len(found)] == np.cumsum([*map(len, found)]).tolist()
        assert sum(cost[word] + join for word in found) <= sum(cost[word] + join for word in words)


def test_a_damaged_word_among_others_is_the_cheapest_of_all_that_may_stand_in_a_gap():
    """Gap by gap, and candidate by candidate; only where the string would be new or several words otherwise."""
    strings = [string for string in misspell(["".join(words) for words in PAIRS], RNG) if string.isalpha()]
    compared = READER.strings(strings)
    features = READER.features(compared)
    new = score(features, READER.channel.new_weights)
    _, costs = READER._by_numpy(compared)
    cuts, damaged = READER.cuts(compared, features, new, costs[:, 0])
    whole = READER.joined_words(compared.codes)
    constant, found = READER.channel.joined["constant"], {one.string: one for one in damaged}
    for number in range(len(strings)):
        best, words, place = int(whole.costs[number]), whole.rows[number].tolist(), None
        rows = compared.rows.row(number)
        others = max(float(new[number]), constant - best / UNIT)
        is_open = not features[number, LISTED_FEATURE] and others >= -int(costs[number, 0]) / UNIT
        if is_open and len(rows) >= MIN_DAMAGED_LENGTH:
            for gap in READER.joined_words.gaps(compared.codes.row(number).tolist()):
                cost, word = cheapest_in(rows[gap.start : gap.end])
                if gap.cost + cost < best:
                    best, place = gap.cost + cost, (gap.start, gap.end)
                    kept = [row for row, _ in gap.before], [row for row, _ in gap.behind]
                    words = [*kept[0], int(READER.known_rows[word]), *kept[1]]
        words = [row for row in words if row >= 0]
        assert cuts.costs[number] == best
        assert cuts.rows[number].tolist() == [*words, *[-1] * (MAX_PARTS - len(words))]
        assert (number in found) == (place is not None)
        if place is not None:
            assert (found[number].start, found[number].end) == place
    assert len(found) > 20


def cheapest_in(rows: np.ndarray) -> tuple[int, int]:
    """The cost of the best word for a part of a string, and its place in the index; of equal ones the first."""
    asked = Spellings.of(type(READER.index.known.rows)(rows, np.array([0, len(rows)])), READER.symbols)
    candidates = READER.index.candidates(asked)
    alignments = align(READER.pairs(asked, candidates), READER.slips).tolist()
    places = [
        (one, cost) for one, cost in zip(candidates.values.tolist(), alignments, strict=True) if cost < DIGIT_COST
    ]
    return min(((cost + int(READER.part_costs[one]), one) for one, cost in places), default=(FAR, -1))


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_core)])
@pytest.mark.parametrize(
    ("string", "words"),
    [
        ("thehouse", "the house"),
        ("ofthemountain", "of the mountain"),
        ("househopsital", "house hospital"),
        ("recievehouse", "receive house"),
        ("houseandrunnignmountain", "house and running mountain"),
        ("runningoutside", "running outside"),
        ("thehopsital", ""),  # too little of it is known to the letter
        ("friendbecuase", "friend because"),
    ],
)
def test_by_example(compiled, string, words):
    reader = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=compiled)
    reading = reader([string])
    assert " ".join(cut_of(reading, 0)) == words
    assert (reading.parts[0] > 0.5) == bool(words)


@given(st.lists(st.sampled_from(PLAIN), min_size=2, max_size=3), st.floats(-30, 30))
@settings(max_examples=30)
def test_what_speaks_for_several_words_is_their_constant(words, constant):
    """Less cost than constant: the probability grows with it, and nothing else changes."""
    string = "".join(words)
    joined = [{**DEFAULT.joined, "constant": one} for one in (constant, constant + 1)]
    channels = [Channel(DEFAULT.costs, DEFAULT.rank, DEFAULT.new, one) for one in joined]
    low, high = (Reader.like(READER, Orthography(channel, READER.lexicon))([string]) for channel in channels)
    assert high.parts[0] >= low.parts[0]
    assert high.new[0] <= low.new[0]
    assert NO_CANDIDATE_COST > FAR


def test_a_string_with_a_mark_or_a_digit_is_not_cut():
    strings = ["the-house", "the house", "thehouse1", "the'house", "the_house", "the.house", "thehouse☃", "ho", "xqz"]
    reading = READER(strings)
    assert (reading.part_rows == -1).all()
    assert (reading.parts == 0).all()
