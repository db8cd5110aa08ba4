"""Ablation: the plain sum of a word's unit vectors, no weights of its own."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Dropout, inside
from lovevec.engine.spec import EncoderSpec


class Sum(nn.Module):
    """v = Σ x_j: what a bag of units can do."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        weights = self.dropout(inside(lengths, index.shape[1]).to(units.dtype))
        return F.embedding_bag(index, units, per_sample_weights=weights, mode="sum")
