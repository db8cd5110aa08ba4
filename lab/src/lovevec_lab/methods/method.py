"""What every way to get a word's vector looks like to the evaluation: LOVE, its rivals, a plain table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import PlainModel
from lovevec.errors import LovevecError
from lovevec.vectors import VectorTable
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class Parameters(NamedTuple):
    """How many numbers a method is made of, counted as in the paper: rows of tables, and everything else."""

    embedding: int
    others: int = 0


class Method(ABC):
    """A way to get a vector for a word, under the name that tables give it.

    `words` are those that it has vectors of its own for, or has learned from. `table` holds the vectors of the known
    words that it stands on; None for a model, which makes every vector from the spelling. `timed` says whether it has a
    speed of its own. `input_settings` are those of what it trains inside a downstream network (see `input_layer`).
    `reads_sentences` says whether a word has another vector in another sentence (see `embed_sentences`).
    """

    name: str
    dim: int
    parameters: Parameters
    words: Sequence[str] = ()
    table: VectorTable | None = None
    timed: bool = True
    input_settings: Mapping[str, Any] | None = None
    reads_sentences: bool = False

    @abstractmethod
    def embed(self, words: Sequence[str]) -> Floats:
        """[len(words), dim], of any length; zeros for a word that the method has no vector for."""

    def embed_sentences(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """The vectors of the words of each sentence, [its words, dim]."""
        return [self.embed(words) for words in sentences]

    @abstractmethod
    def covers(self, words: Sequence[str]) -> Bools:
        """Which of the words the method has a vector for: [len(words)]."""

    def input_layer(self, words: Sequence[str], vectors: Floats) -> Any:
        """A layer (torch) that a downstream network reads words by and trains with itself, or None: the vectors as they
        are. `vectors` [1 + len(words), dim] are the method's own, behind a row of padding."""
        return None

    def beside(self) -> list[Method]:
        """Further rows of a table that belong to this one."""
        return []

    def attachable(self) -> Any:
        """What `lovevec.attach.Attached` takes for a model."""
        return PlainModel(self.words, self.dim, self.directions)

    def directions(self, words: Sequence[str]) -> Floats:
        """The vectors of words at unit length: [len(words), dim]."""
        return normalized(self.embed(words))


def finite_embed(method: Method, words: Sequence[str]) -> Floats:
    """[len(words), dim]; an error names the method and the first word whose vector holds NaN or Inf, since one of these
    would spoil every score without a word."""
    return refuse_not_finite(method, words, method.embed(words))


def refuse_not_finite(method: Method, words: Sequence[str], vectors: Floats) -> Floats:
    """The vectors of words, if all of their numbers are finite."""
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        bad = words[int(np.argmin(finite))]
        raise LovevecError(f"{method.name}: its vector of {bad!r:.60} holds numbers that are not finite")
    return vectors
