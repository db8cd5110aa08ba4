"""A small trained model, and the program as people run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lovevec.train import Settings, train


@pytest.fixture(scope="session")
def tiny_model(tiny_target, tmp_path_factory) -> Path:
    """A model folder: 300 known words, 16 dimensions."""
    folder = tmp_path_factory.mktemp("tiny") / "model"
    settings = Settings(epochs=2, vocabulary_size=300, negatives=10, device="cpu", seed=1)
    train(tiny_target, settings, output=folder)
    return folder


@pytest.fixture(scope="session")
def program():
    """Run `lovevec …` with bytes on stdin; gives stdout and stderr as bytes."""

    def run(*arguments: object, input: bytes | None = b"", **more) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "lovevec.cli", *(a if isinstance(a, bytes) else str(a) for a in arguments)]
        return subprocess.run(command, input=input, capture_output=True, timeout=120, **more)

    return run
