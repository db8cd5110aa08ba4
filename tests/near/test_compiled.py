"""The compiled core reads every string as numpy does, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core, toy_words
from tests.near.strings import (
    LISTED,
    NASTY,
    ORTHOGRAPHY,
    OTHER_WORDS,
    STRINGS,
    UNREADABLE,
    channels,
    lexicons,
    same_bits,
)

from lovevec.damage.misspell import misspell
from lovevec.near.channel import DEFAULT, MAX_SLIP_COST, Channel
from lovevec.near.index import WORDS_PER_BUCKET
from lovevec.near.joined import MAX_PARTS
from lovevec.near.lexicon import Lexicon
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader
from lovevec.near.readings import Readings

pytestmark = needs_core
READER = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=False)
RNG = np.random.default_rng(6)
DAMAGED = [string for _ in range(4) for string in misspell(KNOWN_WORDS, RNG)]
PLAIN = [word for word in KNOWN_WORDS if word.isalpha() and 1 < len(word) < 9]
JOINED = ["".join(RNG.choice(PLAIN, count)) for count in (2, 2, 3, 3, 4, 6, 7) for _ in range(60)]


def compiled(reader: Reader) -> Reader:
    return Reader.like(reader, reader.orthography, compiled=True)


def agree(reader: Reader, strings: list[str], threads: int = 1) -> None:
    """In all seven arrays of the readings, in a list and in a text; and how likely words they are."""
    core = compiled(reader)
    for in_text in (False, True):
        by_numpy, by_core = reader(strings, in_text=in_text), core(strings, threads, in_text)
        for name, one, other in zip(Readings._fields, by_numpy, by_core, strict=True):
            rows = zip(strings, one, other, strict=True)
            differ = [string for string, mine, its in rows if mine.tobytes() != its.tobytes()]
            if differ:
                pytest.fail(f"{name} of {len(differ)} of {len(strings)} strings: {[ascii(s[:60]) for s in differ[:8]]}")
    assert np.array_equal(core.likeness(strings), reader.likeness(strings))


def with_channel(reader: Reader, channel: Channel) -> Reader:
    return Reader.like(reader, Orthography(channel, reader.lexicon, reader.orthography.listed))


def test_damaged_words_are_read_the_same():
    agree(READER, DAMAGED)


def test_known_and_new_words_are_read_the_same():
    agree(
        READER,
        [
            *(*KNOWN_WORDS, *OTHER_WORDS, *toy_words(400, seed=14), *map(str.upper, KNOWN_WORDS)),
            *(*map(str.title, OTHER_WORDS), *(word[::-1] for word in KNOWN_WORDS)),
        ],
    )


def test_words_that_are_run_together_are_read_the_same():
    agree(READER, JOINED)
    damaged = misspell(JOINED, np.random.default_rng(2))
    agree(READER, damaged)
    assert (READER(JOINED).parts > 0.5).mean() > 0.5
    assert ((READER(damaged).part_rows >= 0).sum(axis=1) > 1).mean() > 0.25


@given(st.lists(st.lists(st.sampled_from(PLAIN), min_size=2, max_size=4).map("".join), max_size=6), channels())
@settings(max_examples=40)
def test_under_any_channel_words_that_are_run_together_are_read_the_same(strings, channel):
    agree(with_channel(READER, channel), [*strings, *misspell(strings, np.random.default_rng(0))])


FEW_LETTERS = [*"abe", *(one + other for one in "abe" for other in "abe"), "aba", "bab", "abab", "baba", "aabb", "ebb"]


@given(st.lists(st.text("abe", max_size=14), max_size=6), channels())
@settings(max_examples=40)
def test_of_many_cuts_that_cost_the_same_both_take_the_same(strings, channel):
    even = {**channel.joined, "rank": 0.0, "join": 0.5, "short": 0.0}
    reader = Reader(FEW_LETTERS, Orthography(Channel(channel.costs, 0.0, channel.new, even)), compiled=False)
    agree(reader, strings)


def test_listed_forms_are_read_the_same():
    forms = [*LISTED, *map(str.upper, LISTED), *map(str.title, LISTED), *(form + "x" for form in LISTED)]
    agree(READER, [*forms, *DAMAGED[:20], *forms])
    agree(Reader(KNOWN_WORDS, ORTHOGRAPHY, lowercase=False, compiled=False), forms)


@given(st.data())
@settings(max_examples=25)
def test_any_listed_forms_are_read_the_same(data):
    form = st.one_of(st.text("abcé1", min_size=1, max_size=5), st.text(min_size=1, max_size=8))
    words = st.lists(st.sampled_from([*KNOWN_WORDS[:30], "unknown"]), min_size=1, max_size=MAX_PARTS + 1).map(" ".join)
    meaning = st.tuples(words, st.floats(0.01, 0.25))
    listed = data.draw(st.dictionaries(form, st.lists(meaning, min_size=1, max_size=4), max_size=5))
    reader = Reader(KNOWN_WORDS, Orthography(DEFAULT, ORTHOGRAPHY.lexicon, listed), compiled=False)
    agree(reader, [*listed, *data.draw(st.lists(STRINGS, max_size=3))])


@given(lexicons(), st.lists(st.one_of(STRINGS, st.sampled_from(DAMAGED + JOINED)), max_size=8), channels())
@settings(max_examples=40)
def test_by_any_lexicon_strings_are_read_the_same(lexicon, strings, channel):
    agree(Reader.like(READER, Orthography(channel, lexicon)), strings)


@given(st.integers(0, 2**32), st.lists(st.one_of(STRINGS, st.sampled_from(DAMAGED + JOINED)), max_size=8))
@settings(max_examples=20)
def test_by_any_ranks_strings_are_read_the_same(seed, strings):
    ranks = np.random.default_rng(seed).integers(0, 100, len(KNOWN_WORDS)).astype(np.int32)
    agree(Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=False, ranks=ranks), strings)


@pytest.mark.parametrize("change", [np.zeros_like, lambda rows: rows * 10**6 + 99, lambda rows: rows[::-1].copy()])
def test_by_equal_huge_and_turned_ranks_strings_are_read_the_same(change):
    ranks = change(np.arange(len(KNOWN_WORDS), dtype=np.int32))
    reader = Reader(KNOWN_WORDS, ORTHOGRAPHY, compiled=False, ranks=ranks)
    agree(reader, [*DAMAGED[:300], *JOINED[:200], *NASTY, *LISTED])


@given(st.lists(STRINGS, max_size=8))
@settings(max_examples=20)
def test_where_case_counts_strings_are_read_the_same(strings):
    agree(CASED, [*strings, *map(str.title, strings)])


CASED = Reader([*KNOWN_WORDS, "House", "PLAY", "PLAYer", "iPhone"], ORTHOGRAPHY, lowercase=False, compiled=False)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 7, 19, 20, 21, 31, 32, 33, 48, 49, 99, 100, 101])
def test_words_and_strings_at_the_longest_that_is_read(size):
    """Of a letter that stands three times or more two are kept: strings of 48 may be words of 32."""
    mixed = "abcdefghijklmnopqrstuvwxyz" * 4
    words = [*PLAIN, *(mixed[place : place + size] for place in range(3)), "o" * size]
    strings = [mixed[:size], mixed[1:size] + "q", mixed[: size // 2] + "ooo" + mixed[size // 2 : size], "ooo" * size]
    strings += [(one * 40)[:size] for one in ("house", "the", "ooohouse", "é", "🙂", "1")]
    agree(Reader(words, ORTHOGRAPHY, compiled=False), [*strings, *map(str.upper, strings)])


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
    agree(with_channel(READER, channel), strings)


LONG = Reader(
    [one + two for one, two in zip(KNOWN_WORDS, reversed(KNOWN_WORDS), strict=True)], ORTHOGRAPHY, compiled=False
)


@given(channels(), st.lists(st.sampled_from(misspell([*map(str, LONG.words)], RNG)), max_size=8))
@settings(max_examples=40)
def test_long_strings_are_read_the_same_under_any_channel(channel, strings):
    """They take two vectors where most take one (native/near.h)."""
    agree(with_channel(LONG, channel), [string + string[:place] for place, string in enumerate(strings)])


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
    costs = {**dict.fromkeys(DEFAULT.costs, MAX_SLIP_COST), "swap": 0.1}
    dear = Orthography(Channel(costs, 2.0, DEFAULT.new, DEFAULT.joined))
    reader = Reader(["xbaxx", *toy_words(30), "xabxx"], dear, compiled=False)
    agree(reader, ["xbaxx"])
    assert compiled(reader)(["xbaxx"]).rows[0, :2].tolist() == [0, 31]


TINY = ["ab", "abb", "", "7", "xx", "ba", "zq", "x" * 32, "x" * 31 + "y"]


@pytest.mark.parametrize("orthography", [Orthography(), ORTHOGRAPHY, Orthography(lexicon=Lexicon.of(["ab"]))])
@pytest.mark.parametrize("words", [["ab"], ["ab", "x" * 32, "x" * 33], ["a", "b", "ab", "ba"]], ids=len)
def test_tiny_tables(words, orthography):
    agree(Reader(words, orthography, compiled=False), [*TINY, *LISTED, "abba", "ababab"])


@pytest.mark.parametrize("words", [[], ["7"], ["🙂🙂"]], ids=str)
def test_tables_without_a_word_that_anything_can_be_near(words):
    agree(Reader(words, ORTHOGRAPHY, compiled=False), [*TINY, *LISTED])


def test_a_table_with_more_characters_than_there_are_symbols():
    """Rare characters are symbol 0, inside of words and at their ends."""
    rng = np.random.default_rng(7)
    common, rare = [chr(0x4E00 + place) for place in range(250)], [chr(0x6000 + place) for place in range(100)]
    words = ["".join(rng.choice(common, 3)) for _ in range(600)]
    words += ["".join([*rng.choice(common, 2), one]) for one in rare] + [
        "".join([one, *rng.choice(common, 2)]) for one in rare
    ]
    words = list(dict.fromkeys(words))
    reader = Reader(words, Orthography(lexicon=Lexicon.of(words)), compiled=False)
    assert (reader.symbols.encode(words).values == 0).sum() > 100
    agree(reader, [*misspell(words, rng), *words, *(word[::-1] for word in words), *(word + "☃" for word in words)])


def test_the_dearest_channel_on_the_longest_strings():
    dear = Orthography(Channel(dict.fromkeys(DEFAULT.costs, MAX_SLIP_COST), 0.5, DEFAULT.new, DEFAULT.joined))
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
    reader = Reader(words, ORTHOGRAPHY, compiled=False)
    assert reader.index.buckets.lengths.max() == WORDS_PER_BUCKET
    agree(reader, misspell(words[:300], RNG))


def test_the_shipped_words_are_read_the_same(shipped_love):
    rng, words, parts = np.random.default_rng(8), list(shipped_love.words[:3000]), shipped_love.parts
    strings = [*misspell(words[:400], rng), *shipped_love.words[-100:], *list(parts.orthography.listed)[:300]]
    joined = ["".join(rng.choice(words, count)) for count in (2, 3) for _ in range(100)]
    reader = Reader(parts.words, parts.orthography, parts.units.lowercase, compiled=False, ranks=parts.rows.ranks)
    agree(reader, [*strings, *joined, *misspell(joined, rng)], threads=2)
