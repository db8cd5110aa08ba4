"""Rivals and LOVE models with random weights, or trained for a moment, on small made-up targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.factories import one_thread, toy_vectors, toy_words

from lovevec.encoders.network import EncoderNetwork
from lovevec.files.checkpoints import CheckpointFolder
from lovevec.love import LOVE
from lovevec.model.folder import ModelParts
from lovevec.progress import Progress
from lovevec.train import Settings, prepare
from lovevec.train.loop import holdout_rows
from lovevec.units.mixed_input import Units
from lovevec_lab.methods.learned.mimicry import mimic
from lovevec_lab.methods.learned.rival import Rival
from lovevec_lab.methods.love import LoveMethod

DIM = 12
QUIET = Progress(quiet=True)
CPU = torch.device("cpu")


def random_rival(kind: type[Rival[Any]], words: list[str], settings: Any = None) -> Rival[Any]:
    """All weights at random, biases too."""
    rival = kind.initial(words, np.arange(len(words)), DIM, settings or kind.settings_type())
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in rival.network.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.3)
    return rival


def random_love(settings: Settings, words: list[str]) -> LoveMethod:
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
    return LoveMethod(LOVE(ModelParts(settings.spec(DIM), weights, units, words, metadata)), "random")


def rows_of(rival: Rival[Any]) -> dict[str, np.ndarray]:
    """Each unit by its name, with its row of the table in float64."""
    return dict(zip(rival.units, rival.network.table.detach().double().numpy(), strict=True))


def train_rival(kind: type[Rival[Any]], words: list[str], vectors: np.ndarray, **settings: Any) -> Rival[Any]:
    """With the usual settings but for these, in memory."""
    with one_thread():  # what is so small is faster so
        return mimic(kind, kind.settings_type(**settings), words, vectors, CheckpointFolder(None), CPU, QUIET)


def check_training(kind: type[Rival[Any]], folder: Path, odd: list[str], settings: Any, rate: float) -> None:
    """Training lowers the loss and brings known words and words held back near to their vectors, and the folder gives
    the same vectors again, for odd strings too."""
    words = toy_words(400)
    vectors = toy_vectors(words, DIM)
    quick = replace(settings, learning_rate=rate, batch=36, holdout=0.1)
    with one_thread():
        rival = mimic(kind, quick, words, vectors, CheckpointFolder(None), CPU, QUIET)
    losses = rival.metadata["losses"]
    assert len(losses) == quick.epochs
    assert losses[-1] < 0.7 * losses[0]
    cosine = cosines(rival.embed(words), vectors)
    assert cosine.mean() > 0.5  # 0 by chance
    held = holdout_rows(400, 0.1, 0)
    assert cosine[held].mean() > 0.2
    assert rival.metadata["held_back"] == {"words": 40, "cosine": round(float(cosine[held].mean()), 4)}
    rival.save(folder)
    loaded = kind.load(folder)
    assert (loaded.settings, loaded.words, loaded.parameters) == (quick, words, rival.parameters)
    found = loaded.embed([*words, *odd])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, rival.embed([*words, *odd]), atol=1e-6)
    for row, word in enumerate(odd, len(words)):  # the same whatever else is in the batch
        np.testing.assert_allclose(loaded.embed([word])[0], found[row], atol=1e-5)
    assert (np.linalg.norm(found[: len(words)], axis=1).std() < 1e-5) == kind.unit_length


def cosines(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    return (rows * others).sum(axis=1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(others, axis=1)
