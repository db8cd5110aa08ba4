"""BoS against its definition, spelled out in Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from lab_factories import NASTY
from rival_factories import check_training, random_rival, rows_of, train_rival
from tests.factories import toy_words

from lovevec.train.loop import holdout_rows
from lovevec.units.vocabulary import SPECIAL
from lovevec_lab.methods.learned.bos import BoS, BosSettings

WORDS = toy_words(60)


def substrings(word: str) -> list[str]:
    shown = f"\x02{word}\x03"
    return [shown[low : low + length] for length in (3, 4, 5, 6) for low in range(len(shown) - length + 1)]


def test_a_vector_is_the_mean_of_the_known_substrings():
    rival = random_rival(BoS, WORDS)
    rows = rows_of(rival)
    assert set(rows) == set(SPECIAL).union(*map(substrings, WORDS))
    shown = [*WORDS, "bread", "treadbare", "bonobonobo", "a"]
    expected = [np.mean([rows[text] for text in substrings(word) if text in rows], axis=0) for word in shown[:-1]]
    vectors = rival.embed(shown)
    np.testing.assert_allclose(vectors[:-1], expected, atol=1e-6)
    np.testing.assert_allclose(vectors[-1], rows["[UNK]"], atol=1e-6)
    assert np.array_equal(rival.embed(["BREAD"]), rival.embed(["bread"]))


def test_it_learns(tmp_path):
    check_training(BoS, tmp_path, NASTY, replace(BosSettings(), epochs=12), 0.2)


def test_a_word_of_which_nothing_is_known_gets_the_mean_of_the_target():
    words = ["bread", "breads", "bred"]
    vectors = np.array([[1.0, 2, 3, 5], [0, 2, 3, 1], [5, 2, 6, 3]], dtype=np.float32)
    rival = train_rival(BoS, words, vectors, holdout=0.0, epochs=2)
    np.testing.assert_allclose(rival.embed(["xyz", "", "🙂"]), np.tile(vectors.mean(axis=0), (3, 1)), atol=1e-5)


def test_substrings_that_only_words_held_back_have_are_unknown():
    words = toy_words(100)
    vectors = np.random.default_rng(0).normal(size=(100, 6)).astype(np.float32)
    rival = train_rival(BoS, words, vectors, holdout=0.3, epochs=1)
    hidden = set(holdout_rows(100, 0.3, 0).tolist())
    seen = [substrings(word) for row, word in enumerate(words) if row not in hidden]
    rows = rows_of(rival)
    assert set(rows) == set(SPECIAL).union(*seen)
    assert all(row.any() for name, row in rows.items() if name not in SPECIAL)
    assert (np.linalg.norm(rival.embed(words), axis=1) > 0).all()
