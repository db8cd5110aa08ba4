"""Filters over windows of a sequence, the largest answer of each over time: how a CNN reads words, or letters."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import skip_init

from lovevec.encoders.shared import inside


class Convolution(nn.Module):
    """`filters` filters for each of the `widths`. A window begins at every item; behind the end there are zeros, so
    that a sequence shorter than a window has one too, and padding has no say. Weights are empty until they are
    `seeded`: torch would fill them from its global generator."""

    def __init__(self, dim: int, widths: Sequence[int], filters: int) -> None:
        super().__init__()
        self.size = filters * len(widths)
        self.convolutions = nn.ModuleList(skip_init(nn.Conv1d, dim, filters, width) for width in widths)
        self.behind = max(widths) - 1

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """[b, n, dim] with zeros behind each row's length -> [b, size]: ReLU, then the maximum over time."""
        width = x.shape[1]
        padding = ~inside(lengths.clamp(min=1), width)[:, None]
        x = F.pad(x.transpose(1, 2), (0, self.behind))
        answers = [convolution(x)[:, :, :width].masked_fill(padding, 0) for convolution in self.convolutions]
        # The least that ReLU gives is zero, so a zero on padding changes no maximum.
        return torch.cat([answer.relu().amax(dim=2) for answer in answers], dim=1)
