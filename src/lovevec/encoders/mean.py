"""The mean of a word's unit vectors: with substrings as units, BoS (see rivals/bos.py)."""

from __future__ import annotations

from torch import Tensor, nn

from lovevec.encoders.shared import Dropout, inside, weighted_sum
from lovevec.engine.spec import EncoderSpec


class Mean(nn.Module):
    """v = 1/n Σ x_j; a unit that stands there twice counts twice."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        share = inside(lengths, index.shape[1]).to(units.dtype) / lengths[:, None]
        return weighted_sum(units, index, self.dropout(share))
