"""One vector a word out of many: the mean, or in each dimension the largest value, over its occurrences.

The vector of one occurrence is the mean of the states of its pieces. Sums are float64, so that neither the order of
the texts nor their number matters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lovevec.transformer.contextual import Window


class Pool:
    """Rows that fill up, [rows, dim] on the device: sums for `mean`, the largest values so far for `max`."""

    def __init__(self, rows: int, dim: int, pooling: str, device: torch.device) -> None:
        self.mean = pooling == "mean"
        self.total = torch.full(
            (rows, dim),
            0.0 if self.mean else -torch.inf,
            dtype=torch.float64 if self.mean else torch.float32,
            device=device,
        )

    def add(self, states: Tensor, batch: Sequence[Window]) -> None:
        """Put all spans of a batch into their rows; `states` [windows, longest, dim]."""
        longest, device = states.shape[1], self.total.device
        spans = [(at * longest, *span) for at, window in enumerate(batch) for span in window.spans]
        lengths = np.array([high - low for _, low, high, _ in spans])
        first = np.array([start + low for start, low, _, _ in spans])
        places = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        rows = torch.tensor([row for *_, row in spans], device=device)
        each = torch.from_numpy(lengths).to(device)
        pieces = states.reshape(-1, states.shape[-1])[torch.from_numpy(places).to(device)].double()
        owner = torch.repeat_interleave(torch.arange(len(spans), device=device), each, output_size=len(places))
        occurrences = torch.zeros(len(spans), states.shape[-1], dtype=torch.float64, device=device)
        occurrences.index_add_(0, owner, pieces)
        occurrences /= each[:, None]
        if self.mean:
            self.total.index_add_(0, rows, occurrences)
        else:
            index = rows[:, None].expand(-1, self.total.shape[1])
            self.total.scatter_reduce_(0, index, occurrences.float(), "amax")

    def load(self, total: NDArray[np.generic]) -> None:
        """Go on from what `total` held."""
        self.total.copy_(torch.from_numpy(total))

    def vectors(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The rows as vectors, float32; what has no occurrence is zero."""
        total = self.total.cpu().numpy()
        some = counts > 0
        found = np.zeros(total.shape, np.float32)
        found[some] = total[some] / counts[some, None] if self.mean else total[some]
        return found
