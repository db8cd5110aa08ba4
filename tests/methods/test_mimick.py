"""MIMICK: what it is made of and that it learns; its formula is tested in tests/encoders/test_encoders.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import made_words
from tests.encoders.test_encoders import reference
from tests.methods.made_models import DIM, check_training, random_model
from tests.methods.made_tables import NASTY

from lovevec.encoders.network import Network
from lovevec.methods.learned import mimick

WORDS = made_words(60)
SETTINGS = {
    "pieces": replace(mimick.settings(), vocabulary_size=300, hidden=20),
    "chars": mimick.settings("chars", DIM),
}


@pytest.mark.parametrize("input", SETTINGS)
def test_a_vector_is_what_the_network_says_of_the_units(input):
    model = random_model(SETTINGS[input], WORDS)
    parts = model.love.parts
    shown = [*WORDS[:10], "bread", "", "bonobonobo"]
    encoded = parts.units.encode(shown)
    for row, vector in enumerate(model.embed(shown)):
        np.testing.assert_allclose(vector, reference(parts.spec, parts.weights, encoded.row(row)), atol=1e-5)
    assert parts.units.names("ab")[0] == "[CLS]"
    assert parts.units.names("ab")[-1] == "[SEP]"


def test_parameter_counts():
    assert Network(mimick.settings().spec(300), 30_000).parameter_counts() == {
        "embedding": 9_000_000,
        "others": 517_420,
    }
    chars = mimick.settings("chars")
    counts = Network(chars.spec(300), 60, chars.row_width).parameter_counts()
    lstm = 2 * (4 * 50 * (20 + 50) + 8 * 50)
    assert counts == {"embedding": 60 * 20, "others": lstm + 100 * 300 + 300 + 300 * 300 + 300}


@pytest.mark.parametrize("input", SETTINGS)
def test_it_learns(tmp_path, input):
    check_training(SETTINGS[input], tmp_path, NASTY, rate=0.01, epochs=20)
