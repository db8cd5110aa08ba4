"""What callers ask of any method, whatever it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lab_factories import stem_table
from rival_factories import random_love

from lovevec.attach import Attached
from lovevec.errors import LovevecError
from lovevec.train import Settings
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.fasttext import FastText
from lovevec_lab.methods.method import Method, Parameters, finite_embed
from lovevec_lab.methods.unknown import Unk

TABLE = stem_table(200, dim=12)
DATA = Path(__file__).parents[3] / "tests" / "vectors" / "data"


class Sounds(Method):
    """A rival that is no `Model`: a word's first letter decides its vector, at a length of its own."""

    name, dim, parameters, words = "sounds", 12, Parameters(12, 3), TABLE.words

    def embed(self, words):
        rows = [np.random.default_rng(ord(word[0])).normal(size=12) * 5 if word else np.zeros(12) for word in words]
        return np.array(rows, np.float32).reshape(-1, 12)

    def covers(self, words):
        return np.array([bool(word) for word in words])


def test_the_table_that_a_method_stands_on():
    for method in (TABLE, Unk(TABLE), EditDistance(TABLE), AttachedMethod(TABLE, Sounds())):
        assert method.table is not None
        assert (method.table.words, method.table.dim) == (TABLE.words, 12)
        assert method.table.vectors is TABLE.vectors
        assert list(method.words) == TABLE.words
    assert random_love(Settings(vocabulary_size=200), TABLE.words).table is None
    fasttext = FastText(DATA / "skipgram.bin", "ft")
    assert fasttext.table.words == fasttext.words
    np.testing.assert_allclose(fasttext.table.vectors, fasttext.embed(fasttext.words), atol=1e-6)


def test_any_method_can_stand_behind_a_table():
    attached = AttachedMethod(TABLE, Sounds())
    words = [TABLE.words[0], "zzz", "zyx"]
    made = attached.embed(words)
    assert np.array_equal(made[0], TABLE.vectors[0])
    np.testing.assert_allclose(made[1], made[2], atol=1e-5)
    assert attached.covers([*words, ""]).tolist() == [True, True, True, False]
    assert attached.parameters == (TABLE.vectors.size + 12, 3)


def test_a_model_is_attached_as_it_is():
    model = random_love(Settings(vocabulary_size=200), TABLE.words)
    assert model.attachable() is model.love
    words = ["plogriks", "stoomed"]
    expected = Attached(model.love, (TABLE.words, TABLE.vectors)).embed(words)
    assert np.array_equal(AttachedMethod(TABLE, model).embed(words), expected)


def test_vectors_that_are_no_numbers_are_refused_by_name():
    class Broken(Sounds):
        def embed(self, words):
            return np.where(np.array([[word == "bad"] for word in words]), np.nan, super().embed(words))

    assert np.array_equal(finite_embed(Sounds(), ["good"]), Sounds().embed(["good"]))
    with pytest.raises(LovevecError, match="sounds: its vector of 'bad' holds numbers that are not finite"):
        finite_embed(Broken(), ["good", "bad", "bad"])
