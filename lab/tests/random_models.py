"""LOVE models with random weights, on small made-up targets."""

from __future__ import annotations

import torch
from lovevec_lab.methods.model import Model
from tests.factories import toy_vectors

from lovevec.encoders.network import EncoderNetwork
from lovevec.love import LOVE
from lovevec.model.folder import ModelParts
from lovevec.train import Settings, prepare
from lovevec.units.mixed_input import Units

DIM = 12


def random_model(settings: Settings, words: list[str]) -> Model:
    """All weights at random, biases too."""
    prepared = prepare((words, toy_vectors(words, DIM)), settings.prepare_part())
    units = Units(prepared.vocabulary, settings.input, prepared.lowercase)
    network = EncoderNetwork(settings.spec(DIM), prepared.vocabulary.table_rows, settings.row_width)
    network.start(1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.3)
    weights = {name: weight.detach().numpy() for name, weight in network.state_dict().items()}
    metadata = {"parameters": network.parameter_counts()}
    return Model(LOVE(ModelParts(settings.spec(DIM), weights, units, words, metadata)), "random")
