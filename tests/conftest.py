"""Fixtures that tests of several folders share."""

from __future__ import annotations

import os
import signal
import threading

# Threads that wait by spinning make small products on a busy machine twenty times as slow; before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from pathlib import Path

import hypothesis
import numpy as np
import pytest

from lovevec import LOVE
from tests.factories import one_thread, random_love, toy_vectors, toy_words

# No test may depend on time: a busy machine is no failure.
hypothesis.settings.register_profile("lovevec", deadline=None)
hypothesis.settings.load_profile("lovevec")


@pytest.fixture(scope="session")
def tiny_target() -> tuple[list[str], np.ndarray]:
    """300 words, 16 dimensions."""
    words = toy_words(300)
    return words, toy_vectors(words, 16)


@pytest.fixture(scope="module")
def on_one_thread():
    """`one_thread` for the tests of a file."""
    with one_thread():
        yield


@pytest.fixture(scope="session")
def small_model(tmp_path_factory) -> Path:
    """A folder of a model with random weights that knows some English words."""
    folder = tmp_path_factory.mktemp("small") / "model"
    random_love().save(folder)
    return folder


@pytest.fixture(scope="session")
def shipped_love() -> LOVE:
    """The shipped default model, loaded once; by numpy, so that nothing is compiled."""
    return LOVE.load(engine="numpy")


# Where the tests were started in the background Ctrl-C is ignored, and programs that they start inherit that.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
