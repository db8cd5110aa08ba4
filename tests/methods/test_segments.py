"""Segmentation against all ways to cut a word."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.methods.segments import SHORTEST, Segments

WORDS = ["aba", "bab", "abab", "ccc", "abc", "cab", "a", "ab"]
ROW = {word: row for row, word in enumerate(WORDS)}


def cuts(word: str) -> list[list[str]]:
    if not word:
        return [[]]
    return [[word[:n], *rest] for n in range(1, len(word) + 1) for rest in cuts(word[n:])]


def cost(cut: list[str], leave_out: int) -> float:
    whole = log(log(len(WORDS)) + 0.5772)
    total = 0.0
    for part in cut:
        row = ROW.get(part, -1)
        if len(part) >= SHORTEST and row >= 0 and row != leave_out:
            total += whole + log(row + 1)
        else:
            total += (whole + log(len(WORDS) + 1)) if len(part) == 1 else float("inf")
    return total


@given(st.text("abc", max_size=9), st.integers(-1, len(WORDS) - 1))
def test_the_likeliest_of_all_cuts(word, leave_out):
    found = [WORDS[row] for row in Segments(ROW)(word, leave_out)]
    assert leave_out < 0 or WORDS[leave_out] not in found
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
