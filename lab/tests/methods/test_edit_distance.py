"""Edit distance against the textbook's definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_factories import stem_table, word_table
from tests.factories import toy_words

from lovevec_lab.methods.edit_distance import WORDS_PER_BATCH, EditDistance


def levenshtein(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def nearest(word: str, words: list[str]) -> int:
    distances = [levenshtein(word, other) for other in words]
    return distances.index(min(distances))


VOCABULARY = toy_words(80)
RIVAL = EditDistance(word_table(VOCABULARY))


@given(st.lists(st.text("abdeiklnoprst", min_size=1, max_size=9), min_size=1, max_size=5))
def test_the_nearest_word_by_the_definition(words):
    expected = [VOCABULARY.index(w) if w in VOCABULARY else nearest(w, VOCABULARY) for w in words]
    assert np.array_equal(RIVAL.embed(words), RIVAL.table.vectors[expected])


def test_of_words_equally_near_the_first_wins():
    words = ["zebra", "cat", "cut", "cot"]
    rival = EditDistance(word_table(words))
    assert np.array_equal(rival.embed(["cxt"])[0], rival.table.vectors[1])
    turned = EditDistance(word_table(words[::-1]))
    assert np.array_equal(turned.embed(["cxt"])[0], turned.table.vectors[0])
    assert rival.covers(["cxt", "qqqqqqqqqqqqqqqq"]).all()  # there is always one, however far


def test_only_the_first_words_are_looked_at():
    table = word_table(["aaaa", "bbbb", "cccc"])
    assert np.array_equal(EditDistance(table, first=2).embed(["cccx"])[0], table.vectors[0])
    assert np.array_equal(EditDistance(table, first=3).embed(["cccx"])[0], table.vectors[2])
    assert np.array_equal(EditDistance(table, first=2).embed(["cccc"])[0], table.vectors[2])  # known all the same


@pytest.mark.parametrize("longest", [100, 300])
def test_long_words_of_a_table_do_not_overflow(longest):
    """A distance of more than 255 must not come out as a small one."""
    table = word_table(["y" * longest, "xxxx"])
    assert np.array_equal(EditDistance(table).embed(["xxxz"])[0], table.vectors[1])


def test_more_words_than_a_batch():
    table = stem_table(50)
    rival = EditDistance(table)
    words = [word + "q" for word in toy_words(WORDS_PER_BATCH + 50, seed=1)]
    expected = [nearest(word, table.words) for word in words[-60:]]
    assert np.array_equal(rival.embed(words)[-60:], table.vectors[expected])


def test_parameters_are_those_of_the_table():
    assert RIVAL.parameters == (80 * 8, 0)
    assert RIVAL.name == "Edit Distance"
