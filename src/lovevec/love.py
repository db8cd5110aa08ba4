"""LOVE: a vector for any word. Load a model, index it with a string.

love = LOVE.load("my-model")
love["mispelling"]                    # float32, unit length
love.embed(["oxgen", "archiitect"])   # (2, dim)
love.neighbors("leukamia")            # [("leukemia", 0.93), …]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.fold import Fold
from lovevec.errors import LovevecError, MissingExtra
from lovevec.folder import CARD, ModelParts, read_model, write_model
from lovevec.ragged import Ragged

Floats = NDArray[np.float32]
CHUNK = 16_384


class LOVE:
    """A trained model: immutable, safe to share between threads. Inference needs no torch."""

    def __init__(self, parts: ModelParts, card: str = "") -> None:
        self.parts, self.card = parts, card
        self.dim = parts.spec.dim
        self._encode: Callable[[Ragged], Floats] = (
            Fold(parts.spec, parts.weights) if parts.spec.foldable else _through_torch(parts)
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> LOVE:
        """Read a model folder, checked by size and hash."""
        card = Path(folder) / CARD
        return cls(read_model(folder), card.read_text("utf-8") if card.is_file() else "")

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model folder; whole or not at all."""
        write_model(Path(folder), self.parts, self.card)

    @property
    def words(self) -> Sequence[str]:
        """The known words: those that the model learned from, in the target's order."""
        return self.parts.words

    @property
    def about(self) -> dict[str, Any]:
        """Where the model comes from: settings, target, parameter counts, scores."""
        return self.parts.about

    def __getitem__(self, word: str) -> Floats:
        """The vector of one word, whatever it is."""
        vector: Floats = self.embed([word])[0]
        return vector

    def __contains__(self, word: object) -> bool:
        """Whether the model learned from this very word (after lower-casing where the model does)."""
        if not isinstance(word, str):
            return False
        return (word.lower() if self.parts.units.lowercase else word) in self._known

    def embed(self, words: Sequence[str]) -> Floats:
        """Vectors of unit length for any strings: [len(words), dim]."""
        if isinstance(words, str):
            raise LovevecError("embed takes a list of words; for one word write love[word]")
        result = np.empty((len(words), self.dim), dtype=np.float32)
        for low in range(0, len(words), CHUNK):
            part = words[low : low + CHUNK]
            result[low : low + len(part)] = self._encode(self.parts.units.encode(part))
        return result

    def neighbors(self, word: str, k: int = 5) -> list[tuple[str, float]]:
        """The k known words whose vectors are nearest, with their cosine; the word itself is left out."""
        if k < 1:
            raise LovevecError(f"k is {k}: must be at least 1")
        cosine = self._known_vectors @ self[word]
        order = np.argsort(-cosine)[: k + 1]
        own = word.lower() if self.parts.units.lowercase else word
        return [(self.words[i], float(cosine[i])) for i in order if self.words[i] != own][:k]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.parts.words)

    @cached_property
    def _known_vectors(self) -> Floats:
        return self.embed(self.parts.words)


def _through_torch(parts: ModelParts) -> Callable[[Ragged], Floats]:
    """Encoders that do not fold (the ablations) run as they were trained."""
    try:
        from lovevec.encoders.inference import TorchEngine
    except ImportError:
        raise MissingExtra("torch", "train") from None
    return TorchEngine(parts.spec, parts.weights)
