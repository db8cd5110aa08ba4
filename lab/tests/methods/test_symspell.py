"""SymSpell against symspellpy's own answer and a search through all words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from lab_factories import word_table
from rapidfuzz.distance import OSA
from symspellpy import SymSpell as Library
from symspellpy import Verbosity
from tests.factories import toy_words

from lovevec.damage.edits import damage
from lovevec_lab.methods.symspell import SymSpell

VOCABULARY = toy_words(300)
RIVAL = SymSpell(word_table(VOCABULARY))


@pytest.fixture(scope="module")
def unknown() -> list[str]:
    rng = np.random.default_rng(0)
    once = damage(VOCABULARY, rng)
    both = [*once, *damage(damage(once, rng), rng), *toy_words(100, seed=9)]
    return [word for word in dict.fromkeys(both) if word not in VOCABULARY]


def test_the_nearest_within_two_edits_the_most_frequent_first(unknown):
    made, covered = RIVAL.embed(unknown), RIVAL.covers(unknown)
    for word, vector, found in zip(unknown, made, covered, strict=True):
        distances = [OSA.distance(word, other) for other in VOCABULARY]
        assert found == (min(distances) <= 2), word
        expected = RIVAL.table.vectors[distances.index(min(distances))] if found else np.zeros(8)
        assert np.array_equal(vector, expected), word
    assert 0.3 < covered.mean() < 1  # both cases were there


def test_answers_are_the_librarys(unknown):
    library = Library(max_dictionary_edit_distance=2)
    for rank, word in enumerate(VOCABULARY, 1):
        library.create_dictionary_entry(word, 10_000_000 // rank)
    for word, vector in zip(unknown, RIVAL.embed(unknown), strict=True):
        near = library.lookup(word, Verbosity.TOP)
        expected = RIVAL.table.vectors[VOCABULARY.index(near[0].term)] if near else np.zeros(8)
        assert np.array_equal(vector, expected), word


def test_counts_fall_with_every_rank():
    counts = list(RIVAL.dictionary.words.values())
    assert len(counts) == 300
    assert all(before > after for before, after in pairwise(counts))
