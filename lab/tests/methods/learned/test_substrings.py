"""Substrings against plain Python, word by word."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import toy_words
from tests.units.test_units import NASTY

from lovevec.units.characters import LONGEST, normalise
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import PAD, SPECIAL, UNK
from lovevec_lab.methods.learned.substrings import Substrings, substrings_of

WORDS = ["cat", "catcat", "at", "tact", "act", "c", "größe", "a\x02b"]
BEGIN, END = "\x02", "\x03"


def runs(text: str, shortest: int, longest: int) -> list[str]:
    return [
        text[low:high] for low in range(len(text)) for high in range(low + shortest, min(len(text), low + longest) + 1)
    ]


def framed(word: str) -> str:
    return f"{BEGIN}{normalise(word)}{END}"


def bags(words: list[str], shortest: int = 3, longest: int = 6) -> Substrings:
    return Substrings(substrings_of(words, shortest, longest, frame=True))


def spans(words: list[str], longest: int = 6) -> Substrings:
    return Substrings(substrings_of(words, 1, longest, frame=False))


def names(known: Substrings, encoded: Ragged, row: int = 0) -> list[str]:
    return [known.units[unit] for unit in encoded.row(row)]


@pytest.mark.parametrize("shortest", [1, 3])
@given(words=st.lists(st.text("catgröße\x02é", max_size=9), max_size=6))
def test_a_word_has_the_known_substrings_that_it_has_in_plain_python(shortest, words):
    known = bags(WORDS, shortest)
    units = set(known.units[len(SPECIAL) :])
    encoded = known.bags(words)
    base = str.maketrans({"é": "e"} if any("e" in unit for unit in units) else {})
    for row, word in enumerate(words):
        expected = Counter(run for run in runs(framed(word).translate(base), shortest, 6) if run in units)
        assert Counter(names(known, encoded, row)) == (expected or {"[UNK]": 1})


@given(words=st.lists(st.text("catgx", max_size=9), max_size=6))
def test_spans_stand_by_where_they_end_then_by_where_they_begin(words):
    known = spans(WORDS, longest=4)
    encoded = known.spans(words)
    for row, word in enumerate(words):
        runs = [word[low:high] for high in range(1, len(word) + 1) for low in range(high)]
        unknown = [SPECIAL[UNK] if len(run) == 1 else SPECIAL[PAD] for run in runs]
        expected = [run if run in known.units else instead for run, instead in zip(runs, unknown, strict=True)]
        assert names(known, encoded, row) == (expected or ["[UNK]"])


def test_the_worked_examples():
    known = bags(["cat"])
    shown = [name.translate({2: "<", 3: ">"}) for name in names(known, known.bags(["cat"]))]
    assert sorted(shown) == sorted(["<ca", "cat", "at>", "<cat", "cat>", "<cat>"])
    known = spans(["cat"])
    assert names(known, known.spans(["CAT"])) == ["c", "ca", "a", "cat", "at", "t"]
    assert names(known, known.spans(["cut"])) == ["c", "[PAD]", "[UNK]", "[PAD]", "[PAD]", "t"]


def test_how_many():
    counts = Counter(run for word in WORDS for run in runs(f"{BEGIN}{word}{END}", 2, 4))
    everything = substrings_of(WORDS, 2, 4, frame=True)
    assert everything[: len(SPECIAL)] == SPECIAL
    assert set(everything[len(SPECIAL) :]) == set(counts)
    few = substrings_of(WORDS, 2, 4, frame=True, most=5)[len(SPECIAL) :]
    assert sorted(counts[run] for run in few) == sorted(counts.values())[-5:]
    rare = substrings_of(["ab", "cd"], 2, 4, frame=False, most=0)
    assert rare[len(SPECIAL) :] == ("a", "b", "c", "d")  # without frames every character is a unit


def test_only_what_reading_finds_is_a_unit():
    long = "a" * 60 + "b" * 60 + "c" * 60
    units = set(substrings_of([long, "e\u0301te"], 3, 6, frame=True))
    assert not any("\u0301" in unit or "b" in unit for unit in units)  # composed form; head and tail alone
    assert "\x02ét" in units


@pytest.mark.parametrize("word", NASTY, ids=lambda word: ascii(word[:10]))
def test_nasty_strings_have_units(word):
    words = [*toy_words(50), "[UNK]", "\ud800x"]
    for known, read in ((bags(words, 1), Substrings.bags), (spans(words), Substrings.spans)):
        alone = read(known, [word]).row(0)
        assert 1 <= len(alone) <= LONGEST * (LONGEST + 1) // 2
        assert np.array_equal(read(known, ["bread", word, ""]).row(1), alone)
        assert Counter(known.units)["[UNK]"] == 1
