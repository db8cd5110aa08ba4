from __future__ import annotations

import numpy as np
import pytest
from lab_factories import table_from_rows

from lovevec.errors import LovevecError
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.methods.method import Method, Parameters

ROWS = {"good": [3.0, 4.0], "bad": [0.0, 1.0], "film": [6.0, 8.0], "new": [30.0, 40.0]}
TRAIN = [["good", "film"], ["bad", "zzz", "film"]]
TEST = [["new", "film", "qqq"], []]


def test_every_word_of_every_text_has_its_row():
    found = look_up(table_from_rows(ROWS), TRAIN, TEST)
    assert list(found.rows) == ["good", "film", "bad", "zzz", "new", "qqq"]
    assert found.vectors.shape == (7, 2)
    assert found.vectors.dtype == np.float32
    scale = (5 + 10 + 1) / 3  # the mean length of training words that have a vector
    for text in (TRAIN, TEST):
        for sentence, rows in zip(text, found(text), strict=True):
            expected = [ROWS.get(word, [0.0, 0.0]) for word in sentence]
            np.testing.assert_allclose(found.vectors[rows], np.reshape(expected, (-1, 2)) / scale, rtol=1e-6)


def test_training_words_have_length_1_on_average_and_test_words_change_nothing():
    alone = look_up(table_from_rows(ROWS), TRAIN)
    lengths = np.linalg.norm(alone.vectors, axis=1)
    assert lengths[lengths > 0].mean() == pytest.approx(1)
    more = look_up(table_from_rows(ROWS), TRAIN, TEST)
    np.testing.assert_array_equal(more.vectors[: len(alone.vectors)], alone.vectors)


def test_the_row_of_padding_is_zero_and_belongs_to_no_word():
    found = look_up(table_from_rows(ROWS), TRAIN, TEST)
    assert not found.vectors[0].any()
    assert 0 not in found.rows.values()
    assert len(set(found.rows.values())) == len(found.rows)


def test_lengths_of_vectors_keep_their_proportions_whatever_the_unit():
    small = {word: [number * 1e-3 for number in row] for word, row in ROWS.items()}
    np.testing.assert_allclose(
        look_up(table_from_rows(small), TRAIN).vectors, look_up(table_from_rows(ROWS), TRAIN).vectors, rtol=1e-5
    )


def test_a_method_that_knows_nothing_gives_zeros():
    found = look_up(table_from_rows({"else": [1.0, 2.0]}), TRAIN, TEST)
    assert not found.vectors.any()
    assert found.vectors.shape == (7, 2)


def test_texts_that_can_be_read_once_only():
    found = look_up(table_from_rows(ROWS), iter(TRAIN), iter(TEST))
    np.testing.assert_array_equal(found.vectors, look_up(table_from_rows(ROWS), TRAIN, TEST).vectors)


def test_a_word_of_no_text_is_not_guessed():
    with pytest.raises(KeyError, match="elsewhere"):
        look_up(table_from_rows(ROWS), TRAIN)([["elsewhere"]])


def test_a_vector_that_is_no_number_is_refused():
    with pytest.raises(LovevecError, match="its vector of 'new' holds numbers that are not finite"):
        look_up(table_from_rows({**ROWS, "new": [np.nan, 1.0]}), TRAIN, TEST)


class ByPlace(Method):
    """A word's vector is 1 and the number of words before it in its sentence; nothing else counts."""

    name, dim, reads_sentences, parameters = "by place", 2, True, Parameters(0)

    def embed(self, words):
        return np.ones((len(words), 2), dtype=np.float32)

    def embed_sentences(self, sentences):
        return [np.array([[1, place] for place in range(len(words))], np.float32).reshape(-1, 2) for words in sentences]

    def covers(self, words):
        return np.ones(len(words), dtype=np.bool_)


def test_words_in_sentences_have_a_row_for_each_vector():
    training, test = [["a", "b"], ["a", "b"], ["b", "a"]], [["a", "a", "b"], []]
    lookup = look_up(ByPlace(), training, test)
    assert len(lookup.vectors) == 1 + 4 + 1  # padding; a and b in two places each; b in a third
    scale = lookup.vectors[lookup(training)[0][0]][0]
    for sentence, rows in zip([*training, *test], lookup([*training, *test]), strict=True):
        expected = [[1, place] for place in range(len(sentence))]
        np.testing.assert_allclose(lookup.vectors[rows] / scale, np.reshape(expected, (-1, 2)), rtol=1e-6)
    lengths = np.linalg.norm(lookup.vectors[1:5], axis=1)
    assert lengths.mean() == pytest.approx(1, rel=1e-6)
