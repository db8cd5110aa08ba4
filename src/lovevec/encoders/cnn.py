"""Ablation: a convolution over the units, windows of 3, largest value over positions (270K weights at 300d, as in
the paper)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Dropout, inside
from lovevec.engine.spec import EncoderSpec

WINDOW = 3


class CNN(nn.Module):
    """Trigrams of units by convolution instead of attention."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(spec.dim, spec.dim, WINDOW, padding=WINDOW // 2)
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        counts = inside(lengths, index.shape[1])
        x = self.dropout(F.embedding(index, units)) * counts[:, :, None]
        features = self.convolution(x.transpose(1, 2)).transpose(1, 2)
        highest: Tensor = features.masked_fill(~counts[:, :, None], float("-inf")).amax(dim=1)
        return highest
