"""Ablation: self-attention alone, on the unit vectors themselves and without weights of its own (the paper's "SA")."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Dropout, inside, masked_softmax
from lovevec.engine.spec import EncoderSpec


class Attention(nn.Module):
    """v = Σ positions of softmax(X Xᵀ / √d) X + X: no positions, so no local order."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.scale = spec.dim**-0.5
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        x = F.embedding(index, units)
        counts = inside(lengths, index.shape[1])
        mixed = masked_softmax(x @ x.transpose(1, 2) * self.scale, counts) @ x
        out: Tensor = x + self.dropout(mixed)
        return (out * counts[:, :, None]).sum(dim=1)
