"""Readings: probabilities of known words and of new, the same in any company; what cannot be read is new."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, at_once, needs_core, toy_words
from tests.near.strings import NASTY, STRINGS, UNREADABLE, channels, picked, same_bits

from lovevec.damage.misspell import misspell
from lovevec.errors import LovevecError
from lovevec.near.alignment import Pairs, align
from lovevec.near.channel import DEFAULT, UNIT, Channel
from lovevec.near.index import MAX_WORD_LENGTH, Spellings
from lovevec.near.novelty import FEATURES
from lovevec.near.reader import UNREADABLE_LOG_PROBABILITY, Reader
from lovevec.near.readings import (
    MAX_COST_GAP,
    MIN_PROBABILITY,
    WORDS_PER_READING,
    Readings,
    add_known_rows,
    all_new,
    near_words,
)

READER = Reader(KNOWN_WORDS, DEFAULT)
TYPOS = misspell([word for word in KNOWN_WORDS if len(word) > 2], np.random.default_rng(4))
MIXED = [*TYPOS, *NASTY, *UNREADABLE, *KNOWN_WORDS, *toy_words(100, seed=9)]


def check(reading: Readings, known: int = len(KNOWN_WORDS)) -> None:
    """What holds for every reading."""
    rows, chances, new = reading
    assert rows.shape == chances.shape == (len(new), WORDS_PER_READING)
    np.testing.assert_allclose(chances.sum(axis=1) + new, 1, atol=1e-9)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert ((new >= 0) & (new <= 1)).all()
    assert (np.diff(chances, axis=1) <= 0).all()  # most probable first
    assert (chances[rows < 0] == 0).all()
    assert ((rows >= -1) & (rows < known)).all()
    assert (np.diff((rows >= 0).astype(int), axis=1) <= 0).all()  # none behind the last
    for row in rows.tolist():
        named = [one for one in row if one >= 0]
        assert len(set(named)) == len(named)


def test_chances_and_new_are_probabilities():
    check(READER(MIXED))


@given(st.lists(STRINGS, max_size=8), channels())
@settings(max_examples=40)
def test_any_text_under_any_channel_has_a_reading(strings, channel):
    check(Reader.like(READER, channel)(["recieve", *strings]))


def test_the_probabilities_are_the_softmax_of_the_documented_sums():
    """u(w) = - cost of the cheapest alignment - rank weight · log(rank + 30), u(new) = Σ weight · feature."""
    reading = READER(TYPOS)
    for place in range(0, len(TYPOS), 5):
        strings = READER.strings([TYPOS[place]])
        features = READER.novelty.features(strings.rows, strings.digits, strings.names)[0]
        new = sum(DEFAULT.new[name] * float(value) for name, value in zip(FEATURES, features, strict=True))
        rows = [row for row in reading.rows[place].tolist() if row >= 0]
        string = as_read(TYPOS[place])
        utility = [-cost_of(KNOWN_WORDS[row], string, row) for row in rows]
        top = max([*utility, new])
        weights = np.exp(np.array([*utility, new]) - top)
        found = [*reading.probabilities[place, : len(rows)], reading.new[place]]
        np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-12)
        assert [(-utility[at], row) for at, row in enumerate(rows)] == sorted(
            (-utility[at], row) for at, row in enumerate(rows)
        )
        assert all(-value <= -utility[0] + MAX_COST_GAP / UNIT for value in utility)


def as_read(string: str) -> str:
    """In lower case, no letter more than twice in a row, ☃ for what has no symbol."""
    numbers = READER.strings([string]).rows.values.tolist()
    return "".join(READER.symbols.characters[number - 1] if number else "☃" for number in numbers)


def cost_of(word: str, string: str, row: int) -> float:
    """In nats, each part a whole number of units."""
    symbols = READER.symbols
    encoded = [symbols.encode([one.lower()]) for one in (word, string)]
    rows = [(part.padded(MAX_WORD_LENGTH).astype(np.uint8), part.lengths) for part in encoded]
    alignment = int(align(Pairs(*rows[0], *rows[1]), READER.slips)[0])
    return (alignment + round(DEFAULT.rank * np.log(row + 30) * UNIT)) / UNIT


def test_no_candidate_is_better_than_those_of_the_reading():
    """All candidates scored one by one: the ten cheapest are the ten named."""
    for string in TYPOS[:40]:
        asked = READER.strings([string])
        if not asked.rows.lengths[0]:
            continue
        found = READER.index.candidates(Spellings.of(asked.rows, READER.symbols)).values.tolist()
        known = [int(READER.known_rows[place]) for place in found]
        costs = {row: cost_of(KNOWN_WORDS[row], as_read(string), row) for row in known}
        ranked = sorted(known, key=lambda row: (costs[row], row))[:WORDS_PER_READING]
        ranked = [row for row in ranked if costs[row] <= costs[ranked[0]] + MAX_COST_GAP / UNIT]
        assert [row for row in READER([string]).rows[0].tolist() if row >= 0] == ranked


def test_a_clear_misspelling_is_near_its_word_and_noise_is_new():
    reading = READER(["recieve", "tommorow", "goverment", "restaraunt", "rnodern", "превет", "dont"])
    words = [KNOWN_WORDS[row] for row in reading.rows[:, 0].tolist()]
    assert words == ["receive", "tomorrow", "government", "restaurant", "modern", "привет", "don't"]
    assert (reading.new < 0.5).all()


def test_what_cannot_be_read_is_new_for_certain():
    found = READER(["recieve", *UNREADABLE])
    assert same_bits(picked(found, np.arange(1, len(found.new))), all_new(len(UNREADABLE)))
    assert found.rows[0, 0] == KNOWN_WORDS.index("receive")


@pytest.mark.parametrize("string", UNREADABLE, ids=lambda string: ascii(string)[:20])
def test_what_cannot_be_read_is_new_for_certain_alone_too(string):
    start = time.process_time()
    assert same_bits(READER([string]), all_new(1))
    assert time.process_time() - start < 1


def test_a_long_string_is_new_whatever_its_ends():
    string = "t" * 60 + "xyz" * 50 + "e" * 60
    assert same_bits(picked(READER([string, "the"]), [0]), all_new(1))


def test_a_megabyte_is_read_in_no_time():
    start = time.process_time()
    check(READER(["x" * 1_000_000, "so" + "o" * 1_000_000, "ab" * 500_000, "🙂" * 1_000_000, "the"]))
    assert time.process_time() - start < 1


def test_a_letter_that_stands_three_times_and_more_stands_twice():
    rows = READER.strings(["sooo", "sooooooooo", "soo", "so", "bbbooobbb", "ooooo" * 9]).rows
    spelled = ["".join(READER.symbols.characters[number - 1] for number in rows.row(row)) for row in range(6)]
    assert spelled == ["soo", "soo", "soo", "so", "bboobb", "oo"]
    one, two = READER(["hooooouse", "hoouse"]), READER(["hoouse"])
    assert same_bits(picked(one, [0]), two)


def test_digits_and_names_are_told():
    strings = READER.strings(["covid20", "Berlinn", "BERLINN", "berlinn", "iPhone", "É", "Ébc", "٣ab", "X"])
    assert strings.digits.tolist() == [True, False, False, False, False, False, False, False, False]
    assert strings.names.tolist() == [False, True, False, False, False, True, True, False, True]


def test_a_capital_speaks_for_a_name_and_changes_nothing_else():
    low, high, shout = READER(["recieve"]), READER(["Recieve"]), READER(["RECIEVE"])
    assert high.new[0] > low.new[0]
    assert same_bits(low, shout)
    assert high.rows.tolist() == low.rows.tolist()


def test_a_strings_reading_is_the_same_in_any_company():
    together = READER(MIXED)
    order = np.random.default_rng(2).permutation(len(MIXED))
    assert same_bits(READER([MIXED[place] for place in order]), picked(together, order))
    assert same_bits(READER(MIXED * 3), picked(together, np.tile(np.arange(len(MIXED)), 3)))
    for place in range(0, len(TYPOS), 9):
        assert same_bits(READER([MIXED[place]]), picked(together, [place])), MIXED[place]
        assert same_bits(READER(MIXED[place : place + 5]), picked(together, np.arange(place, place + 5)))
    fresh = Reader(KNOWN_WORDS, DEFAULT)  # a few strings, without the sorted index
    assert same_bits(fresh(MIXED[:5]), picked(together, np.arange(5)))


@given(st.lists(STRINGS, min_size=1, max_size=6))
@settings(max_examples=40)
def test_any_text_alone_as_in_company(strings):
    together = READER([*strings, "recieve", "abcdefghijklmnopqrstuvwxyz"])
    for place, string in enumerate(strings):
        assert same_bits(READER([string]), picked(together, [place]))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_does_not_show(threads):
    assert same_bits(READER(MIXED * 3, threads=threads), READER(MIXED * 3))


def test_16_threads_at_first_use_agree():
    strings = MIXED[::4]
    expected, likelihood = READER(strings), READER.likelihood(TYPOS)
    fresh = Reader(KNOWN_WORDS, DEFAULT)

    def work() -> tuple:
        return fresh(strings[:10]), fresh(strings), fresh.likelihood(TYPOS), fresh.row("house")

    for few, many, likely, row in at_once(work):
        assert same_bits(few, picked(expected, np.arange(10)))
        assert same_bits(many, expected)
        assert np.array_equal(likely, likelihood)
        assert row == KNOWN_WORDS.index("house")


def test_a_pickle_reads_the_same():
    READER(TYPOS[:3])
    again = pickle.loads(pickle.dumps(READER))
    assert same_bits(again(MIXED), READER(MIXED))
    cased = pickle.loads(pickle.dumps(Reader(KNOWN_WORDS, DEFAULT, lowercase=False)))
    assert cased.lowercase is False


def test_under_another_channel_what_is_shared_changes_nothing():
    other = Channel({kind: cost / 2 for kind, cost in DEFAULT.costs.items()}, 0.3, DEFAULT.new)
    READER(TYPOS[:3])
    assert same_bits(Reader.like(READER, other)(TYPOS), Reader(KNOWN_WORDS, other)(TYPOS))
    assert not same_bits(Reader.like(READER, other)(TYPOS), READER(TYPOS))


def test_case_counts_where_it_is_kept():
    words = ["Berlin", "berlin", "house"]
    found = Reader(words, DEFAULT, lowercase=False)(["Berlinn", "berlinn"])
    assert found.rows[:, 0].tolist() == [0, 1]


def test_rows_of_words():
    assert [READER.row(word) for word in ("the", "house", "nothing", None, "")] == [
        0,
        KNOWN_WORDS.index("house"),
        -1,
        -1,
        -1,
    ]


@pytest.mark.parametrize("words", [[], ["7", "42"], ["🙂", "🙃🙂"], ["a"], ["x" * 40]], ids=str)
def test_known_words_that_nothing_can_be_near_make_everything_new(words):
    strings = ["recieve", "", "🙂", "aa", "x" * 39, "42nd"]
    found = Reader(words, DEFAULT)(strings)
    assert same_bits(found, all_new(len(strings)))
    assert np.isfinite(Reader(words, DEFAULT).likelihood(strings)).all()


def test_no_strings_have_no_readings():
    assert same_bits(READER([]), all_new(0))
    assert READER.likelihood([]).shape == (0,)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_core)])
def test_no_strings_build_nothing(compiled):
    """A list of known words is looked up without an index: neither index nor alphabet nor character model."""
    reader = Reader(KNOWN_WORDS, DEFAULT, compiled=compiled)
    before = set(vars(reader))
    assert same_bits(reader([]), all_new(0))
    assert reader.likelihood([]).shape == (0,)
    assert set(vars(reader)) == before


@pytest.mark.parametrize("word", ["ÉCOLE", "E\u0301COLE", "e\u0301cole"])
def test_known_words_are_read_in_the_form_that_strings_are(word):
    """Capitals and decomposed accents of the table are those of the string's lower-case, composed letters."""
    plain, odd = (Reader([one, "maison"], DEFAULT)(["ecole", "école"]) for one in ("école", word))
    assert same_bits(plain, odd)


def test_likelihood_is_the_log_probability_of_the_spelling():
    strings = ["house", "housing", "xqzjv", "", "🙂", "x" * 99, "HOUSE"]
    total, mean = READER.likelihood(strings), READER.likelihood(strings, a_letter=True)
    logs = READER.novelty.log_probabilities(READER.symbols.encode(["house", "housing", "xqzjv"]))
    np.testing.assert_allclose(total[:3], [logs[:6].sum(), logs[6:14].sum(), logs[14:].sum()])
    np.testing.assert_allclose(mean[:3], total[:3] / [6, 8, 6])
    assert total[6] == total[0] > total[2]
    assert total[3:5].tolist() == [UNREADABLE_LOG_PROBABILITY * MAX_WORD_LENGTH] * 2
    assert mean[3:5].tolist() == [UNREADABLE_LOG_PROBABILITY] * 2


# What is made of readings.


def made_readings(count: int, seed: int = 0) -> Readings:
    """Random ones over ten known words; some strings have none."""
    rng = np.random.default_rng(seed)
    have = np.arange(WORDS_PER_READING) < rng.integers(0, WORDS_PER_READING + 1, (count, 1))
    rows = np.where(have, np.argsort(rng.random((count, WORDS_PER_READING)), axis=1), -1).astype(np.int32)
    weights = np.where(have, -np.sort(-(rng.random((count, WORDS_PER_READING)) ** 8), axis=1), 0)
    new = rng.random(count)
    total = weights.sum(axis=1) + new
    return Readings(rows, weights / total[:, None], new / total)


def test_as_new_makes_some_strings_new_and_leaves_the_others():
    reading = made_readings(50)
    which = np.arange(50) % 3 == 0
    found = reading.as_new(which)
    assert same_bits(picked(found, which), all_new(int(which.sum())))
    assert same_bits(picked(found, ~which), picked(reading, ~which))
    assert same_bits(reading, made_readings(50))  # itself unchanged
    check(found, 10)


def test_near_words_against_a_loop():
    words = [f"word{row}" for row in range(10)]
    reading = made_readings(30)
    rows = np.where(np.arange(45) % 3 == 0, np.arange(45) % 10, -1)
    for k in (1, 3, 10, 99, np.int64(2)):
        found, unknown = near_words(words, rows, reading, k), 0
        assert len(found) == 45
        for row, near in zip(rows.tolist(), found, strict=True):
            if row >= 0:
                assert near == [(words[row], 1.0)]
                continue
            listed = zip(reading.rows[unknown].tolist(), reading.probabilities[unknown].tolist(), strict=True)
            assert near == [(words[one], chance) for one, chance in listed if one >= 0][:k]
            unknown += 1
        assert unknown == 30


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None])
def test_k_is_a_whole_number(k):
    with pytest.raises(LovevecError, match="must be at least 1, a whole number"):
        near_words(["a"], np.array([0]), all_new(0), k)


@pytest.mark.parametrize("rows_per_block", [3, 8192])
def test_add_known_rows_against_a_loop(rows_per_block):
    rng = np.random.default_rng(5)
    table, reading = rng.normal(size=(10, 7)).astype(np.float32), made_readings(40)
    before = rng.normal(size=(40, 7)).astype(np.float32)
    after = before.copy()
    add_known_rows(after, reading, lambda rows: table[rows], rows_per_block)
    for string in range(40):
        expected = before[string].astype(np.float64)
        for row, chance in zip(reading.rows[string].tolist(), reading.probabilities[string].tolist(), strict=True):
            if chance >= MIN_PROBABILITY:
                expected += chance * table[row].astype(np.float64)
        np.testing.assert_allclose(after[string], expected, atol=1e-6)
    alone = before[7:8].copy()
    add_known_rows(alone, picked(reading, [7]), lambda rows: table[rows], rows_per_block)
    assert np.array_equal(alone[0], after[7])


def test_readings_of_the_shipped_words_are_quick_and_the_same_for_few_and_many(shipped_love):
    strings = misspell(list(shipped_love.words[200:260]), np.random.default_rng(0))
    many = shipped_love._read(strings)
    check(many, len(shipped_love.words))
    assert same_bits(shipped_love._read(strings[:3]), picked(many, np.arange(3)))
    assert (many.new < 0.5).mean() > 0.7
