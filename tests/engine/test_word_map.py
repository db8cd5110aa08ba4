"""Rows of words, in three ways: against a dict."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import needs_core

from lovevec.engine import word_map as module
from lovevec.engine.nearest import NeighborIndex
from lovevec.engine.word_map import CompiledWordMap, SmallWordMap, word_map

KINDS = [SmallWordMap, pytest.param(CompiledWordMap, marks=needs_core)]
WORDS = [*map(str, range(3000)), "", "é", "\ud800", "dog", "Dog", "ÿ" * 90, "𝕕𝕠𝕘", "x" * 300]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_a_dict(kind):
    rows, by_dict = kind(WORDS), {word: row for row, word in enumerate(WORDS)}
    assert dict(rows) == by_dict
    assert len(rows) == len(WORDS)
    assert all(rows.get(word, -1) == row and word in rows for word, row in by_dict.items())
    for other in ("cat", "3000", None, 7, "DOG", b"dog", "x" * 299, "x" * 301, "Ã©"):
        assert rows.get(other, -1) == -1
        assert rows.get(other) is None
        assert other not in rows
    with pytest.raises(KeyError):
        rows["cat"]
    assert len(kind([])) == 0
    assert "a" not in kind([])


@pytest.mark.parametrize("kind", KINDS)
@given(words=st.lists(st.text(max_size=5), unique=True), others=st.lists(st.text(max_size=5)))
def test_rows_of_any_words(kind, words, others):
    rows, by_dict = kind(words), {word: row for row, word in enumerate(words)}
    assert [rows.get(word, -1) for word in words + others] == [by_dict.get(word, -1) for word in words + others]


@needs_core
def test_of_a_word_that_stands_twice_the_last_row_counts_as_in_a_dict():
    rows = CompiledWordMap(["a", "b", "a"])
    assert (rows["a"], rows["b"]) == (2, 1)


@needs_core
def test_a_map_travels():
    rows = pickle.loads(pickle.dumps(CompiledWordMap(WORDS)))
    assert rows.get("Dog") == WORDS.index("Dog")


def test_by_numpy_a_large_table_takes_less_than_a_dict_and_has_the_same_neighbors(monkeypatch):
    monkeypatch.setenv("LOVEVEC_ENGINE", "numpy")
    words, rows = [f"w{row}" for row in range(300)], np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    small = NeighborIndex(words, rows, lengths)
    assert isinstance(small.place, dict)
    monkeypatch.setattr(module, "MIN_WORDS_WITHOUT_DICT", 200)
    large = NeighborIndex(words, rows, lengths)
    assert isinstance(large.place, SmallWordMap)

    def embed(asked):
        return rows[[int(word[1:]) for word in asked]] / lengths[[int(word[1:]) for word in asked], None]

    asked = words[::7]
    assert large.neighbors(asked, 5, embed, approximate=False) == small.neighbors(asked, 5, embed, approximate=False)


@needs_core
def test_the_core_looks_words_up_where_it_is(monkeypatch):
    monkeypatch.delenv("LOVEVEC_ENGINE", raising=False)
    assert isinstance(word_map(["a"]), CompiledWordMap)
