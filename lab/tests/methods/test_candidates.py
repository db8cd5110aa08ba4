"""Words spelled alike against sets of n-grams, one by one; segmentation against all ways to cut a word."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from made_tables import NASTY
from tests.factories import toy_words

from lovevec_lab.methods.candidates import SHORTEST, Overlap, Segments, ngram_sets


def grams(word: str) -> set[str]:
    framed = f"\x02{word}\x03"
    return {framed[start : start + n] for n in (2, 3) for start in range(len(framed) - n + 1)}


def alike(one: str, other: str) -> float:
    x, y = grams(one), grams(other)
    return len(x & y) / np.sqrt(len(x) * len(y))


WORDS = [*toy_words(150), "teeth", "tooth", "a", "é", "🙂🙂"]
INDEX = Overlap(WORDS)


@example(["\x00k"], 1)
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


SHORT_WORDS = ["aba", "bab", "abab", "ccc", "abc", "cab", "a", "ab"]
ROW = {word: row for row, word in enumerate(SHORT_WORDS)}


def cuts(word: str) -> list[list[str]]:
    if not word:
        return [[]]
    return [[word[:n], *rest] for n in range(1, len(word) + 1) for rest in cuts(word[n:])]


def cost(cut: list[str], leave_out: int) -> float:
    whole = log(log(len(SHORT_WORDS)) + 0.5772)
    total = 0.0
    for part in cut:
        row = ROW.get(part, -1)
        if len(part) >= SHORTEST and row >= 0 and row != leave_out:
            total += whole + log(row + 1)
        else:
            total += (whole + log(len(SHORT_WORDS) + 1)) if len(part) == 1 else float("inf")
    return total


@given(st.text("abc", max_size=9), st.integers(-1, len(SHORT_WORDS) - 1))
def test_the_likeliest_of_all_cuts(word, leave_out):
    found = [SHORT_WORDS[row] for row in Segments(ROW)(word, leave_out)]
    assert leave_out < 0 or SHORT_WORDS[leave_out] not in found
    rest, at = word, []
    for part in found:  # they stand in the word, in this order
        place = rest.find(part)
        assert place >= 0
        at += [*rest[:place], part]
        rest = rest[place + len(part) :]
    best = min(cost(cut, leave_out) for cut in cuts(word))
    assert cost([*at, *rest], leave_out) == pytest.approx(best)


def test_words_of_words():
    rows = {word: row for row, word in enumerate(["the", "black", "board", "happiness", "boarding", "oar"])}
    segments, names = Segments(rows), list(rows)
    assert [names[row] for row in segments("blackboarding")] == ["black", "boarding"]
    assert [names[row] for row in segments("unhappiness")] == ["happiness"]
    assert segments("zzz") == segments("") == []
