"""Rows of words by hash, for large tables: against a dict."""

from __future__ import annotations

import numpy as np
import pytest

from lovevec.engine import nearest
from lovevec.engine.nearest import NeighborIndex, WordRows


def test_places_by_hash_are_those_of_a_dict():
    words = [*map(str, range(3000)), "", "é", "\ud800", "dog", "Dog"]
    places, by_dict = WordRows(words), {word: row for row, word in enumerate(words)}
    assert dict(places) == by_dict
    assert len(places) == len(words)
    assert all(places.get(word, -1) == row and word in places for word, row in by_dict.items())
    for other in ("cat", "3000", None, 7, "DOG"):
        assert places.get(other, -1) == -1
        assert other not in places
    with pytest.raises(KeyError):
        places["cat"]
    assert len(WordRows([])) == 0
    assert "a" not in WordRows([])


def test_a_large_table_has_its_rows_by_hash_and_the_same_neighbors(monkeypatch):
    words, rows = [f"w{row}" for row in range(300)], np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    small = NeighborIndex(words, rows, lengths)
    assert isinstance(small.place, dict)
    monkeypatch.setattr(nearest, "LARGE_TABLE_ROWS", 200)
    large = NeighborIndex(words, rows, lengths)
    assert isinstance(large.place, WordRows)

    def embed(asked):
        return rows[[int(word[1:]) for word in asked]] / lengths[[int(word[1:]) for word in asked], None]

    asked = words[::7]
    assert large.neighbors(asked, 5, embed, approximate=False) == small.neighbors(asked, 5, embed, approximate=False)
