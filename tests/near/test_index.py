"""Buckets and candidates, against dicts and sets of the keys themselves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS
from tests.near.strings import NASTY, STRINGS, UNREADABLE

from lovevec.damage.misspell import misspell
from lovevec.near import index
from lovevec.near.index import (
    BUCKET_BITS,
    KEYS_PER_WORD,
    NO_KEY,
    WORDS_PER_BUCKET,
    Index,
    Spellings,
    buckets_of,
)
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader

READER = Reader(KNOWN_WORDS, Orthography())
SYMBOLS = READER.symbols
STRINGS_ASKED = [
    *misspell([word for word in KNOWN_WORDS if len(word) > 1][:150], np.random.default_rng(0)),
    *NASTY,
    *UNREADABLE,
]
LOW = 0xFFFFFFFF


def spelled(strings: list[str]) -> Spellings:
    return Spellings.of(READER.strings(strings).rows, SYMBOLS)


def letters_of(spelling: Spellings, row: int) -> list[int]:
    """The symbols of one word."""
    return spelling.symbols[row, : spelling.lengths[row]].tolist()


def plain_keys(letters: list[int]) -> set[tuple[str, tuple[int, ...]]]:
    """The first six letters less up to two of them; what is heard, less up to one."""
    if not letters:
        return set()
    begin = [int(SYMBOLS.folded[letter]) for letter in letters[:6]]
    out = [left for count in range(3) for left in combinations(range(len(begin)), count)]
    keys = {("prefix", tuple(letter for place, letter in enumerate(begin) if place not in left)) for left in out}
    heard: list[int] = []
    for sound in (int(SYMBOLS.sound[letter]) for letter in letters):
        if sound and (not heard or heard[-1] != sound):
            heard.append(sound)
    heard = heard[:12]
    return keys | {("sound", tuple(heard))} | {
        ("sound", tuple(heard[:place] + heard[place + 1 :])) for place in range(len(heard))
    }  # fmt: skip


def bucket(key: tuple[str, tuple[int, ...]]) -> int:
    """The hash, in Python's own numbers."""
    state = {"prefix": 0x811C9DC5, "sound": 0x9E3779B9}[key[0]]
    for letter in key[1]:
        state = (state * 0x01000193 + letter) & LOW
    state = ((state ^ state >> 15) * 0x2C1B3C6D) & LOW
    return (state ^ state >> 12) >> 32 - BUCKET_BITS


def bits(letters: list[int]) -> tuple[set[int], set[int]]:
    """The letters, of 29; the pairs of neighbors with begin and end, of 64."""
    plain = [int(SYMBOLS.folded[letter]) for letter in letters]
    pairs = set()
    for one, two in zip([0, *plain], [*plain, 256], strict=True):
        state = ((one * 257 + two) * 0x9E3779B1) & LOW
        pairs.add(((state ^ state >> 15) * 0x2C1B3C6D & LOW) >> 26)
    return {letter % 29 for letter in plain}, pairs


def reference(known: Spellings, strings: Spellings) -> list[list[int]]:
    """The candidates of each string, by loops over dicts and sets."""
    buckets: dict[int, list[int]] = {}
    for row in range(len(known)):
        for number in {bucket(key) for key in plain_keys(letters_of(known, row))}:
            buckets.setdefault(number, []).append(row)
    of_known = [bits(letters_of(known, row)) for row in range(len(known))]
    found = []
    for row in range(len(strings)):
        mine = letters_of(strings, row)
        letters, pairs = bits(mine)
        numbers = {bucket(key) for key in plain_keys(mine)}
        scores = {}
        for word in {word for number in numbers for word in buckets.get(number, [])[:WORDS_PER_BUCKET]}:
            its_letters, its_pairs = of_known[word]
            score = 4 * len(pairs & its_pairs) - 2 * (len(pairs) + len(its_pairs)) - 4 * len(letters ^ its_letters)
            score -= 2 * abs(len(mine) - int(known.lengths[word])) + round(2 * np.log2(word + 16))
            scores[word] = score + 4 * (SYMBOLS.folded[mine[0]] == SYMBOLS.folded[known.symbols[word, 0]])
        best = max(scores.values(), default=0)
        ranked = sorted(scores, key=lambda word: (-scores[word], word))[:48]
        found.append([word for word in ranked if scores[word] >= best - 20])
    return found


def candidates(index: Index, strings: list[str]) -> list[list[int]]:
    rows = index.candidates(spelled(strings))
    return [rows.row(place).tolist() for place in range(len(strings))]


def test_words_stand_in_the_buckets_of_their_keys():
    known = READER.index.known
    expected: dict[int, list[int]] = {}
    for row in range(len(known)):
        keys = {bucket(key) for key in plain_keys(letters_of(known, row))}
        assert set(known.keys[row].tolist()) - {int(NO_KEY)} == keys
        for number in keys:
            expected.setdefault(number, []).append(row)
    buckets = READER.index.buckets
    assert {b: buckets.row(b).tolist() for b in np.flatnonzero(buckets.lengths).tolist()} == expected
    assert len(buckets) == 1 << BUCKET_BITS


KEY = st.one_of(st.integers(0, 5), st.just(int(NO_KEY)), st.just((1 << BUCKET_BITS) - 1))


@given(st.lists(st.lists(KEY, min_size=3, max_size=3), max_size=20))
@settings(max_examples=25)
def test_buckets_hold_each_word_once_in_order(keys):
    buckets = buckets_of(np.array(keys, dtype=np.uint32).reshape(len(keys), 3))
    filled = np.flatnonzero(buckets.lengths).tolist()
    assert {b: buckets.row(b).tolist() for b in filled} == {
        number: [row for row, mine in enumerate(keys) if number in mine]
        for number in {key for mine in keys for key in mine} - {int(NO_KEY)}
    }


def test_a_full_bucket_keeps_its_first_words():
    buckets = buckets_of(np.array([[3, 3, NO_KEY], [4, 3, 4]] * 400, dtype=np.uint32))
    assert buckets.row(3).tolist() == list(range(WORDS_PER_BUCKET))
    assert buckets.row(4).tolist() == list(range(1, 800, 2))


def test_candidates_are_those_of_the_buckets_with_the_best_quick_scores():
    asked = spelled(STRINGS_ASKED)
    expected = reference(READER.index.known, asked)
    assert candidates(READER.index, STRINGS_ASKED) == expected
    assert max(map(len, expected)) > 10
    assert not any(expected[-len(UNREADABLE) :])


def test_of_many_alike_only_48_are_kept():
    words = [f"strong{one}{two}" for one in "abcdefghij" for two in "abcdefghijklmnopqrstuvwxyz"] * 3
    reader = Reader(words, Orthography())  # three times each: 780 in one bucket
    asked = Spellings.of(reader.strings(["strongxx", "sstrong"]).rows, reader.symbols)
    found = reader.index.candidates(asked)
    assert found.lengths.max() == 48
    assert [found.row(row).tolist() for row in range(2)] == reference(reader.index.known, asked)


def test_a_strings_candidates_do_not_depend_on_its_company():
    listed = [*STRINGS_ASKED, *NASTY] * 2  # more than are looked for together
    assert len(listed) > index.STRINGS_PER_BLOCK
    many = candidates(READER.index, listed)
    for place in range(0, len(listed), 7):
        assert candidates(READER.index, [listed[place]]) == [many[place]]
    order = np.random.default_rng(1).permutation(len(listed)).tolist()
    assert candidates(READER.index, [listed[place] for place in order]) == [many[place] for place in order]
    assert candidates(READER.index, []) == []


@given(st.lists(STRINGS, min_size=1, max_size=4))
@settings(max_examples=10)
def test_any_text_has_the_candidates_of_the_reference(strings):
    asked = spelled(strings)
    assert candidates(READER.index, strings) == reference(READER.index.known, asked)


@pytest.mark.parametrize("word", ["house", "mountain", "hôpital", "привет", "rock'n'roll"])
def test_any_two_slips_among_the_first_letters_leave_a_word_among_its_candidates(word):
    own = READER.known_rows.tolist().index(KNOWN_WORDS.index(word))
    begin = word[:6]
    for one, two in combinations(range(len(begin)), 2):
        damaged = "".join(letter for place, letter in enumerate(begin) if place not in (one, two)) + word[6:]
        keys = set(spelled([damaged]).keys[0].tolist()) - {int(NO_KEY)}
        assert keys & set(READER.index.known.keys[own].tolist()), damaged


def test_keys_are_as_many_as_documented():
    assert KEYS_PER_WORD == 22 + 13
    assert (spelled(["strengthens", "a1"]).keys != NO_KEY).sum(axis=1)[0] <= KEYS_PER_WORD


def test_ones_are_counted_with_and_without_numpys_own_way():
    bits = np.random.default_rng(0).integers(0, 2**64, 1000, dtype=np.uint64)
    bits[:4] = 0, 1, 2**63, 2**64 - 1
    expected = [bin(number).count("1") for number in bits.tolist()]
    assert index.count_ones(bits).tolist() == index._sum_ones(bits).tolist() == expected
