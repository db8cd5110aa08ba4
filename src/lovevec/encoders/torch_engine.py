"""Encoders that do not fold (the ablations) behind the interface of an engine: torch runs them as they were trained.

torch is imported when such a model is loaded, not before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.engine import Engine
from lovevec.errors import LovevecError, MissingExtra
from lovevec.model.folder import ModelParts
from lovevec.units.ragged import Ragged

Floats = NDArray[np.float32]
WORDS_PER_BATCH, UNITS_PER_BATCH = 16_384, 16_384


class TorchEngine(Engine):
    """Words -> unit vectors. There is no fold that would explain them, and no length before normalisation."""

    name = "torch"

    def __init__(self, parts: ModelParts, mode: str = "auto") -> None:
        try:
            import torch

            from lovevec.encoders.network import EncoderNetwork
        except ImportError:
            raise MissingExtra("torch", "train") from None
        self.mode = mode
        spec, weights = parts.spec, parts.weights
        self.units, self.dim = parts.units, spec.dim
        rows, width = weights["table"].shape
        self.network = EncoderNetwork(spec, rows, width if "factor" in weights else 0)
        try:
            self.network.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in weights.items()})
        except RuntimeError:
            raise LovevecError(
                f"the model's weights are not those of a {spec.kind} encoder in {spec.dim} dimensions"
            ) from None
        self.network.eval()

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        result = np.empty((len(words), self.dim), dtype=np.float32)
        for low in range(0, len(words), WORDS_PER_BATCH):
            result[low : low + WORDS_PER_BATCH] = self.encode(self.units.encode(words[low : low + WORDS_PER_BATCH]))
        return result

    def encode(self, units: Ragged) -> Floats:
        """Rows of table-row ids, those from `vocabulary.unit_rows` up being n-grams -> vectors [words, dim]."""
        import torch

        result = np.empty((len(units), self.dim), dtype=np.float32)
        with torch.inference_mode():
            for rows, ids in units.equal_lengths(UNITS_PER_BATCH):
                used = np.unique(ids)  # what the encoder makes of a unit by itself, it makes of these alone
                arrays = []
                for part in units.take(rows).split(self.units.vocabulary.unit_rows):
                    place = Ragged(np.searchsorted(used, part.values), part.offsets)
                    arrays += [torch.from_numpy(place.padded()), torch.from_numpy(part.lengths)]
                result[rows] = self.network(self.network.table[torch.from_numpy(used)], *arrays).numpy()
        return result
