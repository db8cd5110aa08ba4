"""The ablations of the paper: what becomes of a word's units without positional attention. A plain sum, self-attention
alone, a convolution, a recurrent network."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Dropout, inside, masked_softmax
from lovevec.engine.fold import EncoderSpec

WINDOW = 3


class Sum(nn.Module):
    """v = Σ x_j, without weights of its own: what a bag of units can do."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        weights = self.dropout(inside(lengths, index.shape[1]).to(units.dtype))
        return F.embedding_bag(index, units, per_sample_weights=weights, mode="sum")


class Attention(nn.Module):
    """The paper's "SA": v = Σ positions of softmax(X Xᵀ / √d) X + X, on the unit vectors themselves; no weights of its
    own, no positions, so no local order."""

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


class CNN(nn.Module):
    """Trigrams of units by convolution instead of attention: windows of 3, the largest value over positions (270K
    weights at 300d, as in the paper)."""

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


class RNN(nn.Module):
    """A bidirectional LSTM: reads the units from both ends, half the width each way (d must be even); the last state of
    both directions, and nothing behind it."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        half = spec.dim // 2
        self.lstm = nn.LSTM(spec.dim, half, batch_first=True, bidirectional=True)
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        return last_states(self.lstm, self.dropout(F.embedding(index, units)), lengths)


def last_states(lstm: nn.LSTM, x: Tensor, lengths: Tensor) -> Tensor:
    """The last state of both directions, side by side: `x` [b, n, …] -> [b, 2 x hidden]."""
    # Packing wants the lengths on the host: the one kind of encoder here that makes a GPU wait.
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    _, (last, _) = lstm(packed)
    return torch.cat([last[0], last[1]], dim=1)
