"""What computes a model's vectors: one interface for the fold (numpy, numba) and for torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.with_numpy import NumpyEngine

Floats = NDArray[np.float32]


class Engine(ABC):
    """Words -> vectors of unit length.

    `mode` is what was asked for (auto, numpy, numba, torch), `for_many` what computes a call with many words. `fold`
    tells what a vector is made of, and whether vectors have a length before they are normalised; None where the encoder
    does not fold.
    """

    mode: str
    for_many: str
    threads: int | None = None
    fold: NumpyEngine | None = None

    @abstractmethod
    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised (only where the
        engine has a fold)."""

    def embed_once(self, words: Sequence[str]) -> Floats:
        """The same in a call that does not come again: not worth importing or compiling anything for."""
        return self.embed(words)
