"""Encoders that do not fold (the ablations) behind the interface of an engine: torch runs them as they were trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import MissingExtra
from lovevec.folder import ModelParts

Floats = NDArray[np.float32]
CHUNK = 16_384


class Unfolded:
    """Words -> unit vectors; gives no lengths before normalisation."""

    mode = for_many = "torch"

    def __init__(self, parts: ModelParts) -> None:
        try:
            from lovevec.encoders.inference import TorchEngine
        except ImportError:
            raise MissingExtra("torch", "train") from None
        self._units, self._dim = parts.units, parts.spec.dim
        self._encode = TorchEngine(parts.spec, parts.weights, parts.units.vocabulary.unit_rows)

    def embed(self, words: Sequence[str], norms: None = None) -> Floats:
        """[len(words), dim]."""
        result = np.empty((len(words), self._dim), dtype=np.float32)
        for low in range(0, len(words), CHUNK):
            result[low : low + CHUNK] = self._encode(self._units.encode(words[low : low + CHUNK]))
        return result
