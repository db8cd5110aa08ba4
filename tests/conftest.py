"""Fixtures that tests of several folders share."""

from __future__ import annotations

import os
import signal
import threading

# Threads that wait by spinning make small products on a busy machine twenty times as slow; before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import hypothesis
import numpy as np
import pytest
from filelock import FileLock

from lovevec import LOVE
from tests.command_line import run_here
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
def shared_folder(tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """`shared_folder(name, write)`: the folder that `write` wrote, once for all processes that run tests together.

    The first that needs it writes it and the others wait, so that a model is trained once and not once a process.
    Nobody may change it.
    """
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # each process has a folder of its own inside

    def folder(name: str, write: Callable[[Path], object]) -> Path:
        place = base / "shared" / name
        place.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_suffix(".lock")):
            if not (place / "model").exists():
                write(place / "unfinished")
                (place / "unfinished").rename(place / "model")
        return place / "model"

    return folder


@pytest.fixture(scope="session")
def small_model(shared_folder) -> Path:
    """A folder of a model with random weights that knows some English words."""
    return shared_folder("small", lambda folder: random_love().save(folder))


@pytest.fixture(scope="session")
def tiny_model(shared_folder, tiny_target) -> Path:
    """A folder of a model that was trained: 300 known words, 16 dimensions."""

    def write(folder: Path) -> None:
        from lovevec.train import Settings, train

        settings = Settings(vocabulary_size=400, epochs=15, batch=32, negatives=20, device="cpu", learning_rate=0.01)
        train(tiny_target, settings, output=folder)

    return shared_folder("tiny", write)


@pytest.fixture(scope="session")
def program() -> Callable[..., CompletedProcess[bytes]]:
    """Run `lovevec …` with bytes on stdin; gives stdout and stderr as bytes."""
    return run_here


@pytest.fixture(scope="session")
def shipped_love() -> LOVE:
    """The shipped default model, loaded once."""
    return LOVE.load()


# Where the tests were started in the background Ctrl-C is ignored, and programs that they start inherit that.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def toy_in_context(shared_folder) -> Path:
    """A folder of a model that has learned a language in which the sentence tells what a word is."""
    from tests.texts.toy_language import write_model

    return shared_folder("toy-in-context", write_model)
