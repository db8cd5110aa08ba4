"""Positional attention: the paper's Positional Attention Module in its foldable form (the default encoder).

It mixes each unit with its neighbors by fixed weights A = softmax(P Pᵀ / s), P the sinusoids, which
gives trigram-like features; self-attention then combines them whatever their distance:

    X̄ = SA(PA(X)) W_O,    PA(X) = A X W_V,    v = Σ positions of X̄

Nothing here is nonlinear in X but the attention weights, so the sum over positions can be taken before the big matrix
products: v = (Σ_j w_j x_j) W_V W_O with w = 1ᵀ S A. A word then costs its units' rows and a tiny attention.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from lovevec.encoders.shared import Encoder, inside, masked_softmax, matrix, residual_head
from lovevec.engine.fold import EncoderSpec
from lovevec.engine.positions import attention_by_length


class Window:
    """The constant A_n of every length as a torch table, on the device where the words are; no weights to learn."""

    def __init__(self, dim: int, scale: float) -> None:
        self.dim, self.scale = dim, scale
        self.table = torch.empty(0, 0, 0)

    def __call__(self, lengths: Tensor, width: int) -> Tensor:
        """A for each word, [b, width, width]; rows and columns behind the word's end are zero."""
        if self.table.shape[1] < width or self.table.device != lengths.device:
            table = attention_by_length(max(width, 32), self.dim, self.scale)
            self.table = torch.from_numpy(table).to(lengths.device)
        return self.table[lengths, :width, :width]


class Positional(Encoder):
    """[CLS] m i s … [SEP] -> one vector; with `head` > 0 a small residual MLP follows on the pooled vector."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__(spec, dropout)
        dim, self.key_width = spec.dim, spec.key_width
        self.window = Window(dim, spec.position_scale)
        self.value, self.query, self.key = matrix(dim, dim), matrix(dim, spec.key_width), matrix(dim, spec.key_width)
        self.output = matrix(dim, dim)
        self.head = residual_head(dim, spec.head)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        weights = self.dropout(self.weights(units, index, lengths)).to(units.dtype)
        pooled = F.embedding_bag(index, units, per_sample_weights=weights, mode="sum")
        out = pooled @ (self.value @ self.output)
        return out if self.head is None else out + self.head(F.normalize(out, dim=1))

    def weights(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """How much each position counts in the sum: w = 1ᵀ S A, [b, n], zero on padding."""
        window = self.window(lengths, index.shape[1])
        features = units @ (self.value @ torch.cat([self.query, self.key], dim=1))
        query, key = (window @ F.embedding(index, features)).split(self.key_width, dim=2)
        counts = inside(lengths, index.shape[1])
        attention = masked_softmax(query @ key.transpose(1, 2) * self.key_width**-0.5, counts)
        summed = (attention * counts[:, :, None]).sum(dim=1, keepdim=True)
        return (summed.to(window.dtype) @ window).squeeze(1)
