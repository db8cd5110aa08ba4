"""A small encoder and a LOVE for it, made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.factories import toy_vectors, toy_words
from transformer_factory import save_transformer

from lovevec.train import Settings, train

DIM = 16


@pytest.fixture(scope="session")
def words() -> list[str]:
    return [word for word in toy_words(500) if len(word) >= 5][:120]


@pytest.fixture(scope="session")
def folder(words, tmp_path_factory) -> Path:
    return save_transformer(tmp_path_factory.mktemp("encoder"), words, DIM)


@pytest.fixture(scope="session")
def love(words, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("love") / "model"
    settings = Settings(vocabulary_size=300, epochs=2, batch=64, negatives=10, device="cpu", learning_rate=0.01)
    train((words, toy_vectors(words, DIM)), settings, output=path)
    return path


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
