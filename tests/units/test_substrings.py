"""Substrings against plain Python, word by word."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import made_words
from tests.units.test_units import NASTY

from lovevec.units.characters import LONGEST, normalise
from lovevec.units.mixed_input import Units
from lovevec.units.substrings import substring_vocabulary
from lovevec.units.vocabulary import PAD, SPECIAL, UNK, UnitVocabulary

WORDS = ["cat", "catcat", "at", "tact", "act", "c", "größe", "a\x02b"]
BEGIN, END = "\x02", "\x03"
GOLDEN = [939, 758, 464, 243, 128, 68]
FIRST = [13107, 18544]


def runs(text: str, shortest: int, longest: int) -> list[str]:
    return [
        text[low:high] for low in range(len(text)) for high in range(low + shortest, min(len(text), low + longest) + 1)
    ]


def framed(word: str) -> str:
    return f"{BEGIN}{normalise(word)}{END}"


def built(mode: str, words: list[str] = WORDS, shortest: int = 3, longest: int = 6, seen: int = 1) -> Units:
    frame = mode == "substrings"
    return Units(substring_vocabulary(words, shortest, longest, seen, 10**6, frame), mode)  # type: ignore[arg-type]


@pytest.mark.parametrize("shortest", [1, 3])
@given(words=st.lists(st.text("catgröße\x02é", max_size=9), max_size=6))
def test_a_word_has_the_known_substrings_that_it_has_in_plain_python(shortest, words):
    units = built("substrings", shortest=shortest)
    known = set(units.vocabulary.units[len(SPECIAL) :])
    encoded = units.encode(words)
    base = str.maketrans({"é": "e"} if any("e" in unit for unit in known) else {})
    for row, word in enumerate(words):
        expected = Counter(run for run in runs(framed(word).translate(base), shortest, 6) if run in known)
        names = Counter(units.vocabulary.units[unit] for unit in encoded.row(row))
        assert names == (expected or {"[UNK]": 1})


@given(words=st.lists(st.text("catgx", max_size=9), max_size=6))
def test_spans_stand_by_where_they_end_then_by_where_they_begin(words):
    units = built("spans", shortest=1, longest=4, seen=2)
    known = set(units.vocabulary.units)
    encoded = units.encode(words)
    for row, word in enumerate(words):
        names = [units.vocabulary.units[unit] for unit in encoded.row(row)]
        spans = [word[low:high] for high in range(1, len(word) + 1) for low in range(high)]
        unknown = [SPECIAL[UNK] if len(span) == 1 else SPECIAL[PAD] for span in spans]
        expected = [span if span in known else instead for span, instead in zip(spans, unknown, strict=True)]
        assert names == (expected or ["[UNK]"])


def test_the_worked_examples():
    assert set(built("substrings", ["cat"]).names("cat")) == {"<ca", "cat", "at>", "<cat", "cat>", "<cat>"}
    assert built("spans", ["cat"], shortest=1).names("CAT") == ["c", "ca", "a", "cat", "at", "t"]
    assert built("spans", ["cat"], shortest=1).names("cut") == ["c", "[UNK]", "t"]


def test_how_often_and_how_many():
    counts = Counter(run for word in WORDS for run in runs(f"{BEGIN}{word}{END}", 2, 4))
    for seen in (1, 2, 3):
        vocabulary = substring_vocabulary(WORDS, 2, 4, seen, 10**6, True)
        assert set(vocabulary.units[len(SPECIAL) :]) == {run for run, count in counts.items() if count >= seen}
    few = substring_vocabulary(WORDS, 2, 4, 1, 5, True).units[len(SPECIAL) :]
    assert sorted(counts[run] for run in few) == sorted(counts.values())[-5:]
    rare = substring_vocabulary(["ab", "cd"], 1, 4, 9, 10**6, False)
    assert rare.units[len(SPECIAL) :] == ("a", "b", "c", "d")  # without frames every character is a unit


@pytest.mark.parametrize("mode", ["substrings", "spans"])
@pytest.mark.parametrize("word", NASTY, ids=lambda word: ascii(word[:10]))
def test_nasty_strings_have_units(mode, word):
    units = built(mode, [*made_words(50), "[UNK]", "\ud800x"], shortest=1)
    alone = units.encode([word]).row(0)
    assert 1 <= len(alone) <= LONGEST * (LONGEST + 1) // 2
    assert np.array_equal(units.encode(["bread", word, ""]).row(1), alone)
    assert Counter(units.vocabulary.units)["[UNK]"] == 1


def test_several_rows_each_own_or_shared():
    units = (*SPECIAL, "ab", "bc", "abc")
    own = UnitVocabulary(units, hashes=3)
    assert own.table_rows == len(SPECIAL) + 9
    assert own.rows()[len(SPECIAL) :].tolist() == [[5, 6, 7], [8, 9, 10], [11, 12, 13]]
    shared = UnitVocabulary(units, buckets=1000, hashes=6)
    assert shared.table_rows == len(SPECIAL) + 1000
    rows = shared.rows()
    assert rows.shape == (len(units), 6)
    assert (rows[: len(SPECIAL)] == np.arange(len(SPECIAL))[:, None]).all()
    assert len(np.unique(rows[len(SPECIAL) :])) > 14  # by hashes that do not know of each other
    assert rows[len(SPECIAL)].tolist() == GOLDEN  # files hold no rows, so the hash may never change
    bag = Units(UnitVocabulary((*SPECIAL, f"{BEGIN}ab", f"ab{END}"), 1000, 0, 3), "substrings")
    assert bag.encode(["ab", "zz"]).lengths.tolist() == [6, 3]
    assert bag.encode(["zz"]).values.tolist() == [UNK] * 3


def test_one_hash_is_that_of_the_first_files():
    vocabulary = UnitVocabulary((*SPECIAL, "ab", "##bc"), buckets=20_000)
    assert vocabulary.rows()[len(SPECIAL) :].tolist() == FIRST
