"""Positional attention as a torch table: the constant A_n of every length, looked up for a batch of words."""

from __future__ import annotations

import torch
from torch import Tensor

from lovevec.engine.positions import attention_by_length


class Window:
    """Keeps A_n for all lengths met so far, on the device where the words are; it has no weights to learn."""

    def __init__(self, dim: int, scale: float) -> None:
        self.dim, self.scale = dim, scale
        self.table = torch.empty(0, 0, 0)

    def __call__(self, lengths: Tensor, width: int) -> Tensor:
        """A for each word, [b, width, width]; rows and columns behind the word's end are zero."""
        if self.table.shape[1] < width or self.table.device != lengths.device:
            room = max(width, 32)
            self.table = torch.from_numpy(attention_by_length(room, self.dim, self.scale)).to(lengths.device)
        return self.table[lengths, :width, :width]
