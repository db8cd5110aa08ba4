"""What every way to get a word's vector looks like to the evaluation: LOVE, its rivals, a plain table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Parameters(NamedTuple):
    """How many numbers a method is made of, counted as in the paper: rows of tables, and everything else."""

    embedding: int
    others: int = 0


class Method(Protocol):
    """A way to get a vector for a word, under the name that tables give it."""

    name: str
    dim: int
    parameters: Parameters

    def embed(self, words: Sequence[str]) -> Floats:
        """[len(words), dim], of any length; zeros for a word that the method has no vector for."""
        ...

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the words the method has a vector for: [len(words)]."""
        ...
