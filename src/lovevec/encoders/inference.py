"""Inference through torch, for the encoders that do not fold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from lovevec.encoders.network import Network
from lovevec.engine.spec import EncoderSpec
from lovevec.errors import LovevecError
from lovevec.units.ragged import Ragged

BLOCK_UNITS = 16_384


class TorchEngine:
    """Rows of table-row ids -> vectors, as the network was trained; ids from `unit_rows` up are n-grams."""

    def __init__(self, spec: EncoderSpec, weights: Mapping[str, NDArray[np.float32]], unit_rows: int) -> None:
        self.dim, self.unit_rows = spec.dim, unit_rows
        rows, width = weights["table"].shape
        self.network = Network(spec, rows, width if "factor" in weights or width != spec.dim else 0)
        try:
            self.network.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in weights.items()})
        except RuntimeError:
            raise LovevecError(
                f"the model's weights are not those of a {spec.kind} encoder in {spec.dim} dimensions"
            ) from None
        self.network.eval()

    def __call__(self, units: Ragged) -> NDArray[np.float32]:
        """Rows of table-row ids -> vectors [words, dim]: of unit length, unless the network is raw."""
        result = np.empty((len(units), self.dim), dtype=np.float32)
        with torch.inference_mode():
            for rows, ids in units.equal_lengths(BLOCK_UNITS):
                used = np.unique(ids)  # what the encoder makes of a unit by itself, it makes of these alone
                arrays = []
                for part in units.take(rows).split(self.unit_rows):
                    place = Ragged(np.searchsorted(used, part.values), part.offsets)
                    arrays += [torch.from_numpy(place.padded()), torch.from_numpy(part.lengths)]
                which = torch.from_numpy(used.astype(np.int64))
                result[rows] = self.network(self.network.table[which], *arrays, which=which).numpy()
        return result
