"""Rows of n-grams by conjugate gradients are those of the closed form, in float64."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import toy_vectors, toy_words

from lovevec.vectors import ReadReport, VectorTable
from lovevec.vectors.rows import normalized
from lovevec_lab.methods import ngrams
from lovevec_lab.methods.ngrams import NGrams, least_squares, mean_matrix
from lovevec_lab.methods.table import Table

WORDS = toy_words(120)
VECTORS = toy_vectors(WORDS, 8)


def test_each_word_has_the_mean_of_its_rows():
    means = mean_matrix(["where", "a", ""]).toarray()
    assert means.sum(axis=1) == pytest.approx([1, 1, 0])  # <a> is one; <> is too short
    assert np.count_nonzero(means[0]) <= 5 + 4 + 3 + 2  # those of 3 to 6 characters in <where>


def test_rows_are_those_of_the_closed_form(monkeypatch):
    monkeypatch.setattr(ngrams, "CLOSE", 1e-6)
    monkeypatch.setattr(ngrams, "STEPS", 500)
    monkeypatch.setattr(ngrams, "BUCKETS", 300)
    means = mean_matrix(WORDS)
    dense, unit = means.toarray().astype(np.float64), normalized(VECTORS)
    expected = np.linalg.solve(dense.T @ dense + 0.05 * np.eye(300), dense.T @ unit)
    assert np.allclose(least_squares(means, unit, 0.05), expected, atol=1e-4)


def test_known_words_keep_their_rows_and_new_ones_lean_on_their_parts():
    method = NGrams(Table(VectorTable(WORDS, VECTORS, ReadReport("memory", dim=8)), "toy"))
    assert np.array_equal(method.embed(WORDS[:5]), VECTORS[:5])
    stem = next(word for word in WORDS if len(word) > 6)
    near = normalized(method.embed([stem + "x"])) @ normalized(VECTORS).T
    assert WORDS[int(near.argmax())][:4] == stem[:4]
    assert method.covers([stem + "x", "☃"]).tolist() == [True, True]
