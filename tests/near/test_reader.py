"""Readings: probabilities of known words and of new, the same in any company; what cannot be read is new."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, at_once, needs_core, toy_words
from tests.near.strings import (
    LISTED,
    NASTY,
    ORTHOGRAPHY,
    OTHER_WORDS,
    STRINGS,
    UNREADABLE,
    channels,
    picked,
    same_bits,
)

from lovevec.damage.misspell import misspell
from lovevec.near.alignment import DIGIT_COST, Pairs, align
from lovevec.near.channel import DEFAULT, UNIT, Channel
from lovevec.near.index import MAX_WORD_LENGTH, Spellings
from lovevec.near.joined import MAX_PARTS
from lovevec.near.lexicon import Lexicon
from lovevec.near.novelty import FEATURES, MIN_LIKENESS, likeness
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader
from lovevec.near.readings import (
    MAX_COST_GAP,
    MIN_PROBABILITY,
    NEW_DIVISOR_IN_TEXT,
    WORDS_PER_READING,
    Readings,
    add_known_rows,
    add_parts,
    all_new,
    likeliest,
    mix_readings,
    near_words,
)
from lovevec.units.characters import to_codes

READER = Reader(KNOWN_WORDS, ORTHOGRAPHY)
TYPOS = misspell([word for word in KNOWN_WORDS if len(word) > 2], np.random.default_rng(4))
MIXED = [*TYPOS, *NASTY, *UNREADABLE, *KNOWN_WORDS, *toy_words(100, seed=9)]


PLAIN = [word for word in KNOWN_WORDS if word.isalpha() and 1 < len(word) < 9]
JOINED = ["".join(words) for words in np.random.default_rng(3).choice(PLAIN, (80, 2))]
MIXED += [*JOINED, *misspell(JOINED, np.random.default_rng(1)), *LISTED, *OTHER_WORDS[:50]]


def check(reading: Readings, known: int = len(KNOWN_WORDS)) -> None:
    """What holds for every reading."""
    rows, chances, new, parts, part_rows, part_ends, evidence = reading
    assert rows.shape == chances.shape == (len(new), WORDS_PER_READING)
    assert part_rows.shape == part_ends.shape == (len(new), MAX_PARTS)
    np.testing.assert_allclose(chances.sum(axis=1) + new + parts, 1, atol=1e-9)
    assert ((parts >= 0) & (parts <= 1)).all()
    assert (parts[(part_rows < 0).all(axis=1)] == 0).all()
    assert ((part_rows >= -1) & (part_rows < known)).all()
    assert (np.diff((part_rows >= 0).astype(int), axis=1) <= 0).all()
    assert (part_ends[part_rows < 0] == 0).all()
    assert np.isfinite(evidence).all()
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
    check(Reader.like(READER, Orthography(channel, READER.lexicon, LISTED))(["recieve", *strings, "tho", "househorse"]))


def test_the_probabilities_are_the_softmax_of_the_documented_sums():
    """u(w) = - cost of the cheapest alignment - rank weight · log(rank + 30), u(new) = Σ weight · feature,
    u(parts) = constant - cost of the cut; evidence is the logarithm of what they are divided by."""
    strings = [string for string in [*TYPOS[::5], *JOINED[::4], *OTHER_WORDS[:20]] if string not in LISTED]
    reading, compared = READER(strings), READER.strings(strings)
    features = READER.features(compared)
    for place, string in enumerate(strings):
        new = sum(DEFAULT.new[name] * float(value) for name, value in zip(FEATURES, features[place], strict=True))
        rows = [row for row in reading.rows[place].tolist() if row >= 0]
        utility = [-cost_of(KNOWN_WORDS[row], as_read(string), row) for row in rows]
        cut = cost_of_parts(string, reading, place)
        weights = np.exp(np.array([*utility, new, cut]) - max([*utility, new]))
        found = [*reading.probabilities[place, : len(rows)], reading.new[place], reading.parts[place]]
        np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-12)
        assert reading.evidence[place] == pytest.approx(max([*utility, new]) + np.log(weights.sum()), abs=1e-9)
        assert [(-utility[at], row) for at, row in enumerate(rows)] == sorted(
            (-utility[at], row) for at, row in enumerate(rows)
        )
        assert all(-value <= -utility[0] + MAX_COST_GAP / UNIT for value in utility)


def cost_of_parts(string: str, reading: Readings, place: int) -> float:
    """The utility of the cut that a reading has: of each word its rank, of a misspelled one its alignment, too."""
    rows = [row for row in reading.part_rows[place].tolist() if row >= 0]
    if not rows:
        return -np.inf
    starts = [0, *reading.part_ends[place].tolist()]
    units = (len(rows) - 1) * DEFAULT.join_cost
    for row, start, end in zip(rows, starts, starts[1:], strict=False):
        word, part = KNOWN_WORDS[row], as_read(string)[start:end]
        units += int(DEFAULT.part_costs(np.array([row]), np.array([len(word)]))[0])
        units += 0 if part == word else alignment(word, part)
    return DEFAULT.joined["constant"] - units / UNIT


def as_read(string: str) -> str:
    """In lower case, no letter more than twice in a row, ☃ for what has no symbol."""
    numbers = READER.strings([string]).rows.values.tolist()
    return "".join(READER.symbols.characters[number - 1] if number else "☃" for number in numbers)


def cost_of(word: str, string: str, row: int) -> float:
    """In nats, each part a whole number of units."""
    return (alignment(word, string) + round(DEFAULT.rank * np.log(row + 30) * UNIT)) / UNIT


def alignment(word: str, string: str) -> int:
    encoded = [READER.symbols.encode([one.lower()]) for one in (word, string)]
    rows = [(part.padded(MAX_WORD_LENGTH).astype(np.uint8), part.lengths) for part in encoded]
    return int(align(Pairs(*rows[0], *rows[1]), READER.slips)[0])


def test_no_candidate_is_better_than_those_of_the_reading():
    """All candidates scored one by one: the ten cheapest are the ten named."""
    for string in TYPOS[:40]:
        asked = READER.strings([string])
        if not asked.rows.lengths[0]:
            continue
        found = READER.index.candidates(Spellings.of(asked.rows, READER.symbols)).values.tolist()
        known = [int(READER.known_rows[place]) for place in found]
        known = [row for row in known if alignment(KNOWN_WORDS[row], as_read(string)) < DIGIT_COST]
        costs = {row: cost_of(KNOWN_WORDS[row], as_read(string), row) for row in known}
        ranked = sorted(known, key=lambda row: (costs[row], row))[:WORDS_PER_READING]
        ranked = [row for row in ranked if costs[row] <= costs[ranked[0]] + MAX_COST_GAP / UNIT]
        assert [row for row in READER([string]).rows[0].tolist() if row >= 0] == ranked


def test_a_clear_misspelling_is_near_its_word_and_noise_is_new():
    reading = READER(["recieve", "tommorow", "goverment", "restaraunt", "rnodern", "превет", "dont"])
    words = [KNOWN_WORDS[row] for row in reading.rows[:, 0].tolist()]
    assert words == ["receive", "tomorrow", "government", "restaurant", "modern", "привет", "don't"]
    assert (reading.new < 0.5).all()


def test_what_the_lexicon_has_is_newer_than_it_would_be():
    """Else the same string, by the same channel: it speaks against every other reading."""
    strings = [word for word in OTHER_WORDS if len(word) > 4][:60]
    without = Reader(KNOWN_WORDS, Orthography(DEFAULT, Lexicon.of(KNOWN_WORDS, endings=())))
    held = Reader(KNOWN_WORDS, Orthography(DEFAULT, Lexicon.of(KNOWN_WORDS, endings=()).with_words(strings)))
    assert (held(strings).new >= without(strings).new).all()
    assert held(strings).new.mean() > without(strings).new.mean() + 0.05
    assert (held(strings).evidence >= without(strings).evidence).all()


# --- listed forms ---


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_core)])
def test_a_listed_form_is_read_as_it_is_listed_whatever_else_it_might_be(compiled):
    reader = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=compiled)
    reading = reader(list(LISTED))
    check(reading)
    place = {word: row for row, word in enumerate(KNOWN_WORDS)}
    found = {}
    for number, form in enumerate(LISTED):
        rows, chances = reading.rows[number].tolist(), reading.probabilities[number].tolist()
        words = {KNOWN_WORDS[row]: chance for row, chance in zip(rows, chances, strict=True) if row >= 0}
        parts = [row for row in reading.part_rows[number].tolist() if row >= 0]
        found[form] = (
            words,
            round(float(reading.new[number]), 9),
            [KNOWN_WORDS[row] for row in parts],
            reading.parts[number],
        )
    none = np.float64(0)
    assert found["dont"] == ({"don't": 1.0}, 0, [], none)
    assert found["ppl"] == ({"people": 0.9}, 0.1, [], none)
    assert found["tho"] == ({"though": 0.6, "the": 0.3}, 0.1, [], none)
    assert found["outta"] == ({"of": 0.125}, 0.375, ["outside", "of"], 0.5)
    assert found["cuz"] == ({"because": 0.5}, 0.5, [], none)  # that nobody knows `knows` makes it new by as much
    assert found["r2"] == ({}, 0, ["running", "the", "house"], 1.0)  # though it is one letter
    assert found["é1"] == ({"île": 0.75}, 0.25, [], none)
    assert reading.evidence[list(LISTED).index("tho")] == reader.utility(place["though"])
    assert reading.evidence[list(LISTED).index("outta")] == sum(map(reader.utility, (place["outside"], place["of"])))


def test_a_form_of_no_known_word_is_read_like_any_other_string():
    plain = Reader(KNOWN_WORDS, Orthography(DEFAULT, ORTHOGRAPHY.lexicon))
    assert same_bits(READER(["nope", "dunno"]), plain(["nope", "dunno"]))
    lacking = [word for word in KNOWN_WORDS if word not in ("though", "the")]
    one, other = (Reader(lacking, Orthography(DEFAULT, ORTHOGRAPHY.lexicon, listed)) for listed in (LISTED, {}))
    assert same_bits(one(["tho", "Tho"]), other(["tho", "Tho"]))
    assert one(["ppl"]).new[0] == pytest.approx(0.1)


def test_forms_are_compared_as_strings_are():
    for string in ("Dont", "DONT", "PPL", "É1", "E\u03011"):
        form = {"Dont": "dont", "DONT": "dont", "PPL": "ppl"}.get(string, "é1")
        assert same_bits(READER([string]), READER([form])), string
    cased = Reader(KNOWN_WORDS, ORTHOGRAPHY, lowercase=False)
    assert cased(["ppl"]).new[0] < cased(["PPL"]).new[0]


def test_every_form_is_told_from_strings_that_are_nearly_it():
    strings = [string for form in LISTED for string in (form[:-1], form + "x", form[::-1], " " + form) if string]
    plain = Reader(KNOWN_WORDS, Orthography(DEFAULT, ORTHOGRAPHY.lexicon))
    assert same_bits(READER(strings), plain(strings))


# --- what cannot be read ---


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


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_core)])
def test_a_table_in_another_order_is_read_by_its_ranks(compiled):
    """The same readings, but for the numbers of the rows."""
    words = [word for word in KNOWN_WORDS if len(word) > 1 and any(map(str.isalpha, word)) and len(word) <= 32]
    order = np.random.default_rng(7).permutation(len(words))
    moved = [words[place] for place in order]
    one = Reader(words, ORTHOGRAPHY, compiled=compiled)
    other = Reader(moved, ORTHOGRAPHY, compiled=compiled, ranks=order.astype(np.int32))
    by_rank, by_order = other(MIXED), one(MIXED)
    for name in ("rows", "part_rows"):
        rows = getattr(by_rank, name)
        assert np.array_equal(np.where(rows < 0, -1, order[rows]), getattr(by_order, name))
    same = by_order._replace(rows=by_rank.rows, part_rows=by_rank.part_rows)
    assert same_bits(by_rank, same)
    assert [other.utility(row) for row in range(len(words))] == [one.utility(place) for place in order.tolist()]


def test_in_a_text_new_weighs_less():
    plain, in_text = READER(MIXED), READER(MIXED, in_text=True)
    check(in_text)
    weights = np.concatenate([plain.new[:, None] / NEW_DIVISOR_IN_TEXT, plain.probabilities, plain.parts[:, None]], 1)
    total = weights.sum(axis=1)
    np.testing.assert_allclose(in_text.new, weights[:, 0] / total, atol=1e-12)
    np.testing.assert_allclose(in_text.probabilities, weights[:, 1:-1] / total[:, None], atol=1e-12)
    np.testing.assert_allclose(in_text.parts, weights[:, -1] / total, atol=1e-12)
    np.testing.assert_allclose(in_text.evidence, plain.evidence + np.log(total), atol=1e-12)
    for name in ("rows", "part_rows", "part_ends"):
        assert np.array_equal(getattr(plain, name), getattr(in_text, name))


def test_a_strings_reading_is_the_same_in_any_company():
    together = READER(MIXED)
    order = np.random.default_rng(2).permutation(len(MIXED))
    assert same_bits(READER([MIXED[place] for place in order]), picked(together, order))
    assert same_bits(READER(MIXED * 3), picked(together, np.tile(np.arange(len(MIXED)), 3)))
    for place in range(0, len(TYPOS), 9):
        assert same_bits(READER([MIXED[place]]), picked(together, [place])), MIXED[place]
        assert same_bits(READER(MIXED[place : place + 5]), picked(together, np.arange(place, place + 5)))
    fresh = Reader(KNOWN_WORDS, ORTHOGRAPHY)  # a few strings, without the sorted index
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
    expected, likely = READER(strings), READER.likeness(TYPOS)
    fresh = Reader(KNOWN_WORDS, ORTHOGRAPHY)

    def work() -> tuple:
        return fresh(strings[:10]), fresh(strings), fresh.likeness(TYPOS), fresh.row("house")

    for few, many, found, row in at_once(work):
        assert same_bits(few, picked(expected, np.arange(10)))
        assert same_bits(many, expected)
        assert np.array_equal(found, likely)
        assert row == KNOWN_WORDS.index("house")


def test_a_pickle_reads_the_same():
    READER(TYPOS[:3])
    again = pickle.loads(pickle.dumps(READER))
    assert same_bits(again(MIXED), READER(MIXED))
    ranks = np.arange(len(KNOWN_WORDS), dtype=np.int32)[::-1].copy()
    cased = Reader(KNOWN_WORDS, ORTHOGRAPHY, lowercase=False, ranks=ranks)
    again = pickle.loads(pickle.dumps(cased))
    assert again.lowercase is False
    assert same_bits(again(MIXED), cased(MIXED))


def test_under_another_orthography_what_is_shared_changes_nothing():
    joined = {**DEFAULT.joined, "rank": 0.2, "join": 0.7}
    other = Channel({kind: cost / 2 for kind, cost in DEFAULT.costs.items()}, 0.3, DEFAULT.new, joined)
    strings = [*TYPOS, *JOINED, *LISTED]
    READER(TYPOS[:3])
    for orthography in (Orthography(other, ORTHOGRAPHY.lexicon), Orthography(), Orthography(other, listed=LISTED)):
        found = Reader.like(READER, orthography)(strings)
        assert same_bits(found, Reader(KNOWN_WORDS, orthography)(strings))
        assert not same_bits(found, READER(strings))


def test_case_counts_where_it_is_kept():
    words = ["Berlin", "berlin", "house"]
    found = Reader(words, Orthography(), lowercase=False)(["Berlinn", "berlinn"])
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
    reader = Reader(words, ORTHOGRAPHY)
    assert same_bits(made_new(reader(strings)), all_new(len(strings)))
    assert np.isfinite(reader(strings).evidence).all()
    assert np.isfinite(reader.likeness(strings)).all()
    assert same_bits(made_new(reader(list(LISTED))), all_new(len(LISTED)))


def made_new(reading: Readings) -> Readings:
    """Without the evidence, which says how well new explains a string."""
    return reading._replace(evidence=np.zeros(len(reading.new)))


def test_no_strings_have_no_readings():
    assert same_bits(READER([]), all_new(0))
    assert READER.likeness([]).shape == (0,)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_core)])
def test_no_strings_build_nothing(compiled):
    """A list of known words is looked up without an index: neither index nor alphabet nor words to be run together."""
    reader = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=compiled)
    before = set(vars(reader))
    assert same_bits(reader([]), all_new(0))
    assert reader.likeness([]).shape == (0,)
    assert set(vars(reader)) == before


@pytest.mark.parametrize("word", ["ÉCOLE", "E\u0301COLE", "e\u0301cole"])
def test_known_words_are_read_in_the_form_that_strings_are(word):
    """Capitals and decomposed accents of the table are those of the string's lower-case, composed letters."""
    plain, odd = (Reader([one, "maison"], Orthography())(["ecole", "école"]) for one in ("école", word))
    assert same_bits(plain, odd)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_core)])
def test_likeness_is_that_of_the_lexicon_and_at_its_least_for_what_cannot_be_read(compiled):
    reader = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=compiled)
    strings = ["house", "housing", "xqzjv", "HOUSE", "houuuuse", *OTHER_WORDS[:50]]
    compared = ["house", "housing", "xqzjv", "house", "houuse", *OTHER_WORDS[:50]]
    assert np.array_equal(reader.likeness(strings), likeness(ORTHOGRAPHY.lexicon, to_codes(compared)))
    assert reader.likeness(["", "🙂", "x" * 99, "7", "a"]).tolist() == [MIN_LIKENESS] * 5


# What is made of readings.


def made_readings(count: int, seed: int = 0) -> Readings:
    """Random ones over ten known words; some strings have none, some are of several."""
    rng = np.random.default_rng(seed)
    have = np.arange(WORDS_PER_READING) < rng.integers(0, WORDS_PER_READING + 1, (count, 1))
    rows = np.where(have, np.argsort(rng.random((count, WORDS_PER_READING)), axis=1), -1).astype(np.int32)
    weights = np.where(have, -np.sort(-(rng.random((count, WORDS_PER_READING)) ** 8), axis=1), 0)
    several = np.arange(MAX_PARTS) < rng.integers(0, MAX_PARTS + 1, (count, 1))
    part_rows = np.where(several, rng.integers(0, 10, (count, MAX_PARTS)), -1).astype(np.int32)
    part_ends = np.where(several, np.arange(1, MAX_PARTS + 1), 0).astype(np.int32)
    new, parts = rng.random(count), np.where(several[:, 0], rng.random(count) ** 4, 0)
    total = weights.sum(axis=1) + new + parts
    parts_of_all = parts / total, part_rows, part_ends, np.log(total)
    return Readings(rows, weights / total[:, None], new / total, *parts_of_all)


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
    for k in (1, 3, 10, 99):
        for number, near in enumerate(near_words(words, reading, k)):
            listed = zip(reading.rows[number].tolist(), reading.probabilities[number].tolist(), strict=True)
            assert near == [(words[one], chance) for one, chance in listed if one >= 0][:k]
    assert near_words(words, all_new(2), 5) == [[], []]


def test_the_likeliest_reading_is_the_one_with_the_highest_probability():
    reading = made_readings(300)
    found = likeliest(reading)
    assert set(found) == {"new", "near", "parts"}
    for number, name in enumerate(found):
        chances = {"new": reading.new[number], "near": sum(reading.probabilities[number].tolist())}
        chances["parts"] = reading.parts[number]
        assert chances[name] == pytest.approx(max(chances.values()), abs=1e-12)
    assert likeliest(all_new(2)) == ["new", "new"]


TABLE = np.random.default_rng(5).normal(size=(10, 7)).astype(np.float32)
WEIGHTS = np.random.default_rng(6).random(10).astype(np.float32)
WEIGHTS[[2, 3, 4, 5]] = 0  # some strings are of words that do not count at all


def means_by_hand(reading: Readings, number: int) -> tuple[np.ndarray, np.ndarray]:
    """In float64: what known words and several words add to the vector of a string, and to one in a text."""
    alone, in_text = np.zeros(7), np.zeros(7)
    for row, chance in zip(reading.rows[number].tolist(), reading.probabilities[number].tolist(), strict=True):
        if chance >= MIN_PROBABILITY:
            alone += chance * TABLE[row].astype(np.float64)
            in_text += chance * float(WEIGHTS[row]) * TABLE[row].astype(np.float64)
    rows, chance = [row for row in reading.part_rows[number].tolist() if row >= 0], float(reading.parts[number])
    if chance >= MIN_PROBABILITY and rows:
        weights = WEIGHTS[rows].astype(np.float64)
        shares = weights / weights.sum() if weights.sum() else np.full(len(rows), 1 / len(rows))
        alone += chance * shares @ TABLE[rows].astype(np.float64)
        in_text += chance * weights @ TABLE[rows].astype(np.float64)
    return alone, in_text


@pytest.mark.parametrize("new_weight", [None, 0.0, 0.7])
def test_the_mean_over_readings_against_a_loop(new_weight):
    reading, rng = made_readings(200, seed=4), np.random.default_rng(1)
    imputed = rng.normal(size=(200, 7)).astype(np.float32)
    found = imputed.copy()
    mix_readings(found, reading, lambda rows: TABLE[rows], WEIGHTS, new_weight)
    of_no_weight = 0
    for number in range(200):
        known = means_by_hand(reading, number)[0 if new_weight is None else 1]
        new = float(reading.new[number]) * (1 if new_weight is None else new_weight)
        np.testing.assert_allclose(found[number], new * imputed[number].astype(np.float64) + known, atol=2e-6)
        rows = reading.part_rows[number][reading.part_rows[number] >= 0]
        of_no_weight += len(rows) > 0 and not WEIGHTS[rows].any()
    assert of_no_weight > 5
    alone = imputed[7:8].copy()
    mix_readings(alone, picked(reading, [7]), lambda rows: TABLE[rows], WEIGHTS, new_weight)
    assert np.array_equal(alone[0], found[7])


def test_several_words_add_their_mean_or_their_sum():
    reading = made_readings(60, seed=8)
    for weights in (None, WEIGHTS):
        found = np.zeros((60, 7), np.float32)
        add_parts(found, reading, lambda rows: TABLE[rows], weights)
        for number in range(60):
            rows, chance = reading.part_rows[number][reading.part_rows[number] >= 0], reading.parts[number]
            shares = np.ones(len(rows))
            if weights is not None:
                total = float(weights[rows].astype(np.float64).sum())
                shares = weights[rows] / total if total else np.full(len(rows), 1 / max(len(rows), 1))
            expected = chance * shares @ TABLE[rows].astype(np.float64) if chance >= MIN_PROBABILITY else np.zeros(7)
            np.testing.assert_allclose(found[number], expected, atol=1e-6)


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
