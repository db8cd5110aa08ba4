"""A model has a vector for every string, but covers only words that it knows something of."""

from __future__ import annotations

import numpy as np
import pytest
from rival_factories import DIM, random_rival
from tests.factories import toy_vectors, toy_words

from lovevec.encoders.network import EncoderNetwork
from lovevec.love import LOVE
from lovevec.model.folder import ModelParts
from lovevec.train import Settings, prepare
from lovevec.units.mixed_input import Units
from lovevec_lab.methods.learned.bos import BoS
from lovevec_lab.methods.learned.kvq_fh import KVQFH, KvqSettings
from lovevec_lab.methods.learned.mimick import Mimick
from lovevec_lab.methods.learned.pbos import PBoS
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.method import Method

WORDS = toy_words(60)


def random_love(settings: Settings) -> LoveMethod:
    """All weights at random."""
    prepared = prepare((WORDS, toy_vectors(WORDS, DIM)), settings.prepare_part())
    network = EncoderNetwork(settings.spec(DIM), prepared.vocabulary.table_rows, settings.row_width)
    network.start(1)
    weights = {name: weight.detach().numpy() for name, weight in network.state_dict().items()}
    metadata = {"parameters": network.parameter_counts()}
    return LoveMethod(
        LOVE(ModelParts(settings.spec(DIM), weights, Units(prepared.vocabulary), WORDS, metadata)), "random"
    )


def method(name: str) -> Method:
    kinds = {"mimick": Mimick, "bos": BoS, "kvq-fh": KVQFH, "pbos": PBoS}
    if name == "love":
        return random_love(Settings(vocabulary_size=200))
    return random_rival(kinds[name], WORDS, KvqSettings(frequent=10_000, rows=150) if name == "kvq-fh" else None)


@pytest.mark.parametrize("name", ["love", "mimick", "bos", "kvq-fh", "pbos"])
def test_words_without_any_known_unit_have_one_vector_and_are_not_covered(name):
    model = method(name)
    assert model.covers([*WORDS, WORDS[0].upper(), WORDS[1] + "x"]).all()
    strange = ["世界", "語彙", ""]
    assert not model.covers(strange).any()
    first, second, _ = model.embed(strange)
    np.testing.assert_allclose(first, second, atol=1e-6)  # nothing of the spelling is in it
    assert model.covers([strange[0], WORDS[2], strange[1]]).tolist() == [False, True, False]
    assert model.covers([]).shape == (0,)
    assert model.embed([]).shape == (0, DIM)


def test_hashed_n_grams_are_units_too():
    model = random_love(Settings(vocabulary_size=200, ngrams=500))
    assert model.covers(["世界"]).all()
    assert not np.allclose(*model.embed(["世界", "語彙"]), atol=1e-3)
