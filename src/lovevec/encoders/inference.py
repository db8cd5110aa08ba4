"""Inference through torch, for the encoders that do not fold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from lovevec.encoders.network import Network
from lovevec.engine.spec import EncoderSpec
from lovevec.ragged import Ragged


class TorchEngine:
    """The same call as the fold: rows of table-row ids -> unit vectors."""

    def __init__(self, spec: EncoderSpec, weights: Mapping[str, NDArray[np.float32]]) -> None:
        factor = weights["factor"].shape[0] if "factor" in weights else 0
        self.network = Network(spec, len(weights["table"]), factor)
        self.network.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in weights.items()})
        self.network.eval()

    def __call__(self, units: Ragged) -> NDArray[np.float32]:
        """Rows of table-row ids -> unit vectors [words, dim]."""
        index = torch.from_numpy(units.padded().astype(np.int64))
        with torch.inference_mode():
            vectors: NDArray[np.float32] = self.network(
                self.network.table, index, torch.from_numpy(units.lengths)
            ).numpy()
        return vectors
