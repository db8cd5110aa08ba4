"""What every way to get a word's vector looks like to the evaluation: LOVE, its rivals, a plain table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class Parameters(NamedTuple):
    """How many numbers a method is made of, counted as in the paper: rows of tables, and everything else."""

    embedding: int
    others: int = 0


class Method(ABC):
    """A way to get a vector for a word, under the name that tables give it.

    `words` are those that it has vectors of its own for, or has learned from.
    """

    name: str
    dim: int
    parameters: Parameters
    words: Sequence[str] = ()

    @abstractmethod
    def embed(self, words: Sequence[str]) -> Floats:
        """[len(words), dim], of any length; zeros for a word that the method has no vector for."""

    @abstractmethod
    def covers(self, words: Sequence[str]) -> Bools:
        """Which of the words the method has a vector for: [len(words)]."""
