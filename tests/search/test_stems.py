"""Porter's stems, as the Snowball project has them."""

from __future__ import annotations

import pytest

from lovevec import LOVE
from lovevec.search.stems import stem


def test_stems_are_those_of_snowballs_porter():
    snowballstemmer = pytest.importorskip("snowballstemmer")
    porter = snowballstemmer.stemmer("porter").stemWord
    words = [word for word in LOVE.load().words[::7] if len(word) >= 3]
    # Snowball takes double consonants off for some consonants only: trekk
    other = {word for word in words if stem(word) != porter(word)}
    assert all(word.startswith(("trek", "rev")) or not word.isascii() or not word.isalpha() for word in other)
    assert len(words) > 10_000


@pytest.mark.parametrize("word", ["xj-900", "", "Ünal", "ab", "a" * 1000])
def test_what_is_no_english_word_stays(word):
    assert stem(word) == word
