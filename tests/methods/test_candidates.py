"""Approximate string matching against sets of n-grams, one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import made_words
from tests.methods.made_tables import NASTY

from lovevec.methods.candidates import Overlap, ngram_sets


def grams(word: str) -> set[str]:
    framed = f"\x02{word}\x03"
    return {framed[start : start + n] for n in (2, 3) for start in range(len(framed) - n + 1)}


def alike(one: str, other: str) -> float:
    x, y = grams(one), grams(other)
    return len(x & y) / np.sqrt(len(x) * len(y))


WORDS = [*made_words(150), "teeth", "tooth", "a", "é", "🙂🙂"]
INDEX = Overlap(WORDS)


@given(st.lists(st.one_of(st.text("abdeiklnoprst", max_size=8), st.text(max_size=4)), max_size=4), st.integers(1, 200))
def test_the_most_alike_in_order(words, k):
    for word, (rows, found) in zip(words, INDEX.nearest(words, k), strict=True):
        cosine = np.array([alike(word, other) for other in WORDS])
        expected = [row for row in np.lexsort((np.arange(len(WORDS)), -cosine.round(6))) if cosine[row] > 0][:k]
        assert rows.tolist() == expected
        np.testing.assert_allclose(found, cosine[expected], rtol=1e-6)


def test_one_row_can_be_left_out():
    rows = np.arange(len(WORDS))
    for row, (with_it, _), (without, _) in zip(
        rows, INDEX.nearest(WORDS, 5), INDEX.nearest(WORDS, 4, rows), strict=True
    ):
        assert with_it[0] == row
        assert without.tolist() == with_it[1:].tolist()[:4]


def test_ngrams_of_any_string_are_sets():
    found = ngram_sets([*NASTY, "aaaaaa"])
    for word, size in zip([*NASTY, "aaaaaa"], found.lengths, strict=True):
        assert size == len(grams(word)), repr(word[:10])
