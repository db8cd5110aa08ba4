"""A model has a vector for every string, but covers only words that it knows something of."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import made_words
from tests.methods.made_models import random_model

from lovevec.methods.learned import bos, kvq_fh, mimick, pbos
from lovevec.train import Settings

WORDS = made_words(60)
SETTINGS = {
    "love": Settings(vocabulary_size=200),
    "mimick": mimick.settings(),
    "bos": bos.settings(),
    "kvq-fh": kvq_fh.settings(frequent=10_000, rows=150),
    "pbos": pbos.settings(),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_words_without_any_known_unit_have_one_vector_and_are_not_covered(name):
    model = random_model(SETTINGS[name], WORDS)
    assert model.covers([*WORDS, WORDS[0].upper(), WORDS[1] + "x"]).all()
    strange = ["世界", "語彙", ""]
    assert not model.covers(strange).any()
    first, second, _ = model.embed(strange)
    np.testing.assert_allclose(first, second, atol=1e-6)  # nothing of the spelling is in it
    assert model.covers([strange[0], WORDS[2], strange[1]]).tolist() == [False, True, False]
    assert model.covers([]).shape == (0,)


def test_hashed_n_grams_are_units_too():
    model = random_model(Settings(vocabulary_size=200, ngrams=500), WORDS)
    assert model.covers(["世界"]).all()
    assert not np.allclose(*model.embed(["世界", "語彙"]), atol=1e-3)
