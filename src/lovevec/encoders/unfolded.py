"""Encoders that do not fold (ablations, rivals) behind the interface of an engine: torch runs them as they were
trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.engine import Engine
from lovevec.errors import MissingExtra
from lovevec.model.folder import ModelParts

Floats = NDArray[np.float32]
CHUNK = 16_384


class Unfolded(Engine):
    """Words -> unit vectors; gives no lengths before normalisation."""

    mode = for_many = "torch"
    fold = None

    def __init__(self, parts: ModelParts) -> None:
        try:
            from lovevec.encoders.inference import TorchEngine
        except ImportError:
            raise MissingExtra("torch", "train") from None
        self._units, self._dim, self._raw = parts.units, parts.spec.dim, parts.spec.raw
        self._encode = TorchEngine(parts.spec, parts.weights, parts.units.vocabulary.unit_rows)

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim], of unit length."""
        result = self.as_trained(words)
        if self._raw:
            result /= np.maximum(np.linalg.norm(result, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return result

    def as_trained(self, words: Sequence[str]) -> Floats:
        """[len(words), dim] as the network gives them: a raw one's vectors have the lengths that it has learned."""
        result = np.empty((len(words), self._dim), dtype=np.float32)
        for low in range(0, len(words), CHUNK):
            result[low : low + CHUNK] = self._encode(self._units.encode(words[low : low + CHUNK]))
        return result
