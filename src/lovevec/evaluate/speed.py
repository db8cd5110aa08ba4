"""Speed: words a second, on words that a method has not met: damaged copies of a target's own, or running text.

A method is warmed up first (caches are filled, code is compiled), on as many words as it gets through in about a third
of a second. The median of five passes over these counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from lovevec.damage.edits import damage
from lovevec.errors import FormatError, LovevecError
from lovevec.evaluate.data.lines import read_bytes
from lovevec.methods.fasttext import FastText
from lovevec.methods.method import Method
from lovevec.methods.model import Model
from lovevec.methods.plugged import Plugged
from lovevec.methods.table import Table
from lovevec.methods.with_fallback import WithFallback

REPEATS = 5
SECONDS = 0.3
FEW = 500  # words by which it is found out how many a pass should have


def words_per_second(method: Method, words: Sequence[str], repeats: int = REPEATS, seconds: float = SECONDS) -> float:
    """How many words a second the method embeds, in passes of about `seconds` over the first of the words."""
    if not words:
        raise LovevecError("speed: no words to embed")
    _time(method, words[:FEW])
    rate = len(words[:FEW]) / _time(method, words[:FEW])
    part = words[: max(FEW, int(rate * seconds))]
    _time(method, part)
    return len(part) / median(_time(method, part) for _ in range(repeats))


def damaged_copies(words: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """`count` words drawn from `words`, each with one typo."""
    rng = np.random.default_rng([seed, 0x5EED])
    return damage([words[row] for row in rng.integers(len(words), size=count).tolist()], rng)


def known_words(methods: Sequence[Method]) -> Sequence[str]:
    """The words that the first of the methods to know any has a vector of its own for, or has learned from."""
    for method in methods:
        if isinstance(method, WithFallback):
            method = method.known
        if isinstance(method, (Table, FastText)) and len(method.words):
            return method.words
        if isinstance(method, Model) and len(method.love.words):
            return method.love.words
        if isinstance(method, Plugged):
            return method.attached.words
    raise LovevecError("speed: none of the methods knows any words; name some with --target FILE")


def running_text(path: str | Path, count: int) -> list[str]:
    """The first `count` words of a text file, as white space separates them; bytes that are no UTF-8 do not matter."""
    words = read_bytes(Path(path)).decode("utf-8", "replace").split()
    if not words:
        raise FormatError(path, "holds no words")
    return words[:count]


def _time(method: Method, words: Sequence[str]) -> float:
    start = time.perf_counter()
    method.embed(words)
    return max(time.perf_counter() - start, 1e-9)
