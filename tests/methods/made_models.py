"""Models of the rivals' settings, with random weights or trained for a moment, on small made-up targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tests.conftest import made_vectors, made_words

from lovevec.encoders.network import Network
from lovevec.encoders.pbos import PBoS
from lovevec.love import LOVE
from lovevec.methods.model import Model
from lovevec.model.folder import ModelParts
from lovevec.train import Settings, prepare, train
from lovevec.train.chances import log_chances
from lovevec.units.mixed_input import Units

DIM = 12


def random_model(settings: Settings, words: list[str]) -> Model:
    """All weights at random, biases too."""
    prepared = prepare((words, made_vectors(words, DIM)), settings.prepare_part())
    units = Units(prepared.vocabulary, settings.input, settings.lowercase)
    network = Network(settings.spec(DIM), prepared.vocabulary.table_rows, settings.row_width)
    network.start(1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.3)
        if isinstance(network.encoder, PBoS):
            chances = log_chances(units.encode(words), np.arange(len(words)), prepared.vocabulary)
            network.encoder.chances.copy_(torch.from_numpy(chances))
    weights = {name: weight.detach().numpy() for name, weight in network.state_dict().items()}
    metadata = {"parameters": network.parameter_counts()}
    return Model(LOVE(ModelParts(settings.spec(DIM), weights, units, words, metadata)), "random")


def rows_of(model: Model) -> dict[str, np.ndarray]:
    """Each unit by its name, with its row of the table in float64."""
    table = model.love.parts.weights["table"].astype(np.float64)
    return dict(zip(model.love.parts.units.vocabulary.units, table, strict=True))


def check_training(settings: Settings, folder: Path, odd: list[str], rate: float = 0.02, epochs: int = 12) -> None:
    """Training lowers the loss and brings known words and words held back near to their vectors, and the folder gives
    the same vectors again, for odd strings too."""
    words = made_words(400)
    vectors = made_vectors(words, DIM)
    quick = replace(settings, epochs=epochs, learning_rate=rate, batch=36, holdout=0.1, device="cpu")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # what is so small is faster so
    love = train((words, vectors), quick, output=folder)
    torch.set_num_threads(threads)
    losses = love.metadata["report"]["losses"]
    assert losses[-1] < 0.7 * losses[0]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (love.embed(words) * unit).sum(axis=1).mean() > 0.5  # 0 by chance
    assert love.metadata["report"]["score"]["clean"]["cosine"] > 0.2
    trained, loaded = Model(love, "trained"), Model(LOVE.load(folder), "loaded")
    found = loaded.embed([*words, *odd])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, trained.embed([*words, *odd]), atol=1e-5)
    directions = loaded.love.embed([*words, *odd])
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-5)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(found / lengths[:, None], directions, atol=1e-5)
    assert (lengths[: len(words)].std() > 0.1) == (settings.lengths == "raw")
