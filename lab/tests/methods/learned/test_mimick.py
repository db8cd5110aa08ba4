"""MIMICK against its equations in float64, one word at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lab_factories import NASTY
from rival_factories import DIM, check_training, random_rival
from tests.encoders.test_encoders import lstm
from tests.factories import toy_words

from lovevec.units.mixed_input import Units
from lovevec.units.vocabulary import UnitVocabulary
from lovevec_lab.methods.learned.mimick import CHARACTERS, Mimick, MimickNetwork, MimickSettings

WORDS = toy_words(60)
SETTINGS = {"pieces": MimickSettings(pieces=300, hidden=20), "chars": CHARACTERS}


def reference(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    x = w["table"][ids]
    h = np.concatenate([lstm(w, x, ""), lstm(w, x[::-1], "_reverse")])
    if "head.hidden.weight" in w:
        h = np.tanh(w["head.hidden.weight"] @ h + w["head.hidden.bias"])
    return w["head.output.weight"] @ h + w["head.output.bias"]


@pytest.mark.parametrize("input", SETTINGS)
def test_a_vector_is_what_the_network_says_of_the_units(input):
    rival = random_rival(Mimick, WORDS, SETTINGS[input])
    weights = {name: weight.numpy() for name, weight in rival.network.state_dict().items()}
    assert ("head.hidden.weight" in weights) == (input == "chars")
    units = Units(UnitVocabulary(tuple(rival.units)), input)
    shown = [*WORDS[:10], "bread", "", "bonobonobo"]
    encoded = units.encode(shown)
    for row, vector in enumerate(rival.embed(shown)):
        np.testing.assert_allclose(vector, reference(weights, encoded.row(row)), atol=1e-5)
    assert (units.names("ab")[0], units.names("ab")[-1]) == ("[CLS]", "[SEP]")
    assert np.linalg.norm(rival.embed(WORDS), axis=1).std() > 0.01


def test_parameter_counts():
    counts = [
        sum(weight.numel() for weight in part.parameters()) for part in (MimickNetwork(30_000, 300, MimickSettings()),)
    ]
    assert counts == [9_000_000 + 517_420]
    rival = random_rival(Mimick, WORDS, CHARACTERS)
    mlp = 100 * DIM + DIM + DIM * DIM + DIM
    assert rival.parameters == (len(rival.units) * 20, 2 * (4 * 50 * (20 + 50) + 8 * 50) + mlp)


@pytest.mark.parametrize("input", SETTINGS)
def test_it_learns(tmp_path, input):
    check_training(Mimick, tmp_path, NASTY, replace(SETTINGS[input], epochs=20), 0.01)
