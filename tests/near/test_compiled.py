"""The compiled core reads every string as numpy does, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core, toy_words
from tests.near.strings import NASTY, STRINGS, UNREADABLE, channels, same_bits

from lovevec.damage.misspell import misspell
from lovevec.near.channel import DEFAULT, MAX_SLIP_COST, Channel
from lovevec.near.index import WORDS_PER_BUCKET
from lovevec.near.reader import Reader

pytestmark = needs_core
READER = Reader(KNOWN_WORDS, DEFAULT, compiled=False)
RNG = np.random.default_rng(6)
DAMAGED = [string for _ in range(4) for string in misspell(KNOWN_WORDS, RNG)]


def compiled(reader: Reader) -> Reader:
    return Reader.like(reader, reader.channel, compiled=True)


def agree(reader: Reader, strings: list[str], threads: int = 1) -> None:
    by_numpy, by_core = reader(strings), compiled(reader)(strings, threads)
    if not same_bits(by_numpy, by_core):
        pairs = zip(*by_numpy, *by_core, strict=True)
        differ = [s for s, (*one, a, b, c) in zip(strings, pairs, strict=True) if not same_bits(one, [a, b, c])]
        pytest.fail(f"{len(differ)} of {len(strings)} strings are read otherwise: {differ[:8]!a}")
    for a_letter in (False, True):
        likelihood = compiled(reader).likelihood(strings, a_letter)
        assert np.array_equal(likelihood, reader.likelihood(strings, a_letter))


def test_damaged_words_are_read_the_same():
    agree(READER, DAMAGED)


def test_known_and_new_words_are_read_the_same():
    agree(
        READER,
        [*KNOWN_WORDS, *toy_words(400, seed=12), *map(str.upper, KNOWN_WORDS), *(word[::-1] for word in KNOWN_WORDS)],
    )


@pytest.mark.parametrize("string", [*NASTY, *UNREADABLE], ids=lambda string: ascii(string)[:20])
def test_nasty_strings_are_read_the_same_alone(string):
    agree(READER, [string])


def test_nasty_strings_are_read_the_same_together():
    agree(READER, [*NASTY, *UNREADABLE])


@given(st.lists(STRINGS, max_size=8))
@settings(max_examples=40)
def test_any_text_is_read_the_same(strings):
    agree(READER, strings)


@given(channels(), st.lists(st.sampled_from([string for string in DAMAGED if len(string) <= 12]), max_size=12))
@settings(max_examples=40)
def test_under_any_channel_strings_are_read_the_same(channel, strings):
    agree(Reader.like(READER, channel), strings)


LONG = Reader([one + two for one, two in zip(KNOWN_WORDS, reversed(KNOWN_WORDS), strict=True)], DEFAULT, compiled=False)


@given(channels(), st.lists(st.sampled_from(misspell([*map(str, LONG.words)], RNG)), max_size=8))
@settings(max_examples=40)
def test_long_strings_are_read_the_same_under_any_channel(channel, strings):
    """They take two vectors where most take one (native/near.h)."""
    agree(Reader.like(LONG, channel), [string + string[:place] for place, string in enumerate(strings)])


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_does_not_show(monkeypatch, threads):
    expected = READER(DAMAGED[:500])
    monkeypatch.setattr("lovevec.near.reader.STRINGS_PER_BATCH", 30)  # many batches, so that two threads have work
    assert same_bits(READER(DAMAGED[:500], threads), expected)
    assert same_bits(compiled(READER)(DAMAGED[:500], threads), expected)


def test_a_string_is_read_the_same_in_any_company():
    strings = [*DAMAGED[:60], *NASTY]
    reader = compiled(READER)
    together = reader(strings)
    for place, string in enumerate(strings):
        for whole, part in zip(together, reader([string]), strict=True):
            assert np.array_equal(whole[place], part[0]), string


def test_a_move_over_two_letters_may_save_what_looks_lost_in_between():
    """D[i, j] of the second word is over the limit for one i, but not for two in a row: both letters change places."""
    dear = Channel({**dict.fromkeys(DEFAULT.costs, MAX_SLIP_COST), "swap": 0.1}, 2.0, DEFAULT.new)
    reader = Reader(["xbaxx", *toy_words(30), "xabxx"], dear, compiled=False)
    agree(reader, ["xbaxx"])
    assert compiled(reader)(["xbaxx"]).rows[0, :2].tolist() == [0, 31]


TINY = ["ab", "abb", "", "7", "xx", "ba", "zq", "x" * 32, "x" * 31 + "y"]


@pytest.mark.parametrize("words", [["ab"], ["ab", "x" * 32, "x" * 33]], ids=len)
def test_tiny_tables(words):
    agree(Reader(words, DEFAULT, compiled=False), TINY)


@pytest.mark.parametrize("words", [[], ["7"], ["🙂🙂"]], ids=str)
def test_tables_without_a_word_that_anything_can_be_near(words):
    agree(Reader(words, DEFAULT, compiled=False), TINY)


def test_a_table_with_more_characters_than_there_are_symbols():
    """Rare characters are symbol 0, inside of words and at their ends."""
    rng = np.random.default_rng(7)
    common, rare = [chr(0x4E00 + place) for place in range(250)], [chr(0x6000 + place) for place in range(100)]
    words = ["".join(rng.choice(common, 3)) for _ in range(600)]
    words += ["".join([*rng.choice(common, 2), one]) for one in rare] + [
        "".join([one, *rng.choice(common, 2)]) for one in rare
    ]
    words = list(dict.fromkeys(words))
    reader = Reader(words, DEFAULT, compiled=False)
    assert (reader.symbols.encode(words).values == 0).sum() > 100
    agree(reader, [*misspell(words, rng), *words, *(word[::-1] for word in words), *(word + "☃" for word in words)])


def test_the_dearest_channel_on_the_longest_strings():
    dear = Channel(dict.fromkeys(DEFAULT.costs, MAX_SLIP_COST), 0.5, DEFAULT.new)
    words = ["abcdef", "counterrevolutionaries", "strength", "ab"]
    strings = [
        "abcdef" + "zqxwvutsr" * 2 + "zqxwvuts",
        "ab" + "qz" * 15,
        "strength" + "abc" * 8,
        "counterr" + "zq" * 12,
    ]
    agree(Reader(words, dear, compiled=False), strings)


def test_buckets_that_are_full_keep_the_same_words():
    words = ["strong" + word for word in toy_words(900)]
    reader = Reader(words, DEFAULT, compiled=False)
    assert reader.index.buckets.lengths.max() == WORDS_PER_BUCKET
    agree(reader, misspell(words[:300], RNG))


def test_the_shipped_words_are_read_the_same(shipped_love):
    strings = [*misspell(list(shipped_love.words[:400]), np.random.default_rng(8)), *shipped_love.words[-100:]]
    parts = shipped_love.parts
    agree(Reader(parts.words, parts.channel, parts.units.lowercase, compiled=False), strings, threads=2)
