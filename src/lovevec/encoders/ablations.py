"""The ablations of the paper: what becomes of a word's units without positional attention. A plain sum, self-attention
alone, a convolution, a recurrent network."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Encoder, inside, masked_softmax
from lovevec.engine.fold import EncoderSpec

WINDOW = 3


class Sum(Encoder):
    """v = Σ x_j, without weights of its own: what a bag of units can do."""

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        weights = self.dropout(inside(lengths, index.shape[1]).to(units.dtype))
        return F.embedding_bag(index, units, per_sample_weights=weights, mode="sum")


class Attention(Encoder):
    """The paper's "SA": v = Σ positions of softmax(X Xᵀ / √d) X + X, on the unit vectors themselves; no weights of its
    own, no positions, so no local order."""

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        x = F.embedding(index, units)
        counts = inside(lengths, index.shape[1])
        mixed = masked_softmax(x @ x.transpose(1, 2) * x.shape[2] ** -0.5, counts) @ x
        out: Tensor = x + self.dropout(mixed)
        return (out * counts[:, :, None]).sum(dim=1)


class CNN(Encoder):
    """Trigrams of units by convolution instead of attention: windows of 3, the largest value over positions (270K
    weights at 300d, as in the paper)."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__(spec, dropout)
        self.convolution = nn.Conv1d(spec.dim, spec.dim, WINDOW, padding=WINDOW // 2)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        counts = inside(lengths, index.shape[1])
        x = self.dropout(F.embedding(index, units)) * counts[:, :, None]
        features = self.convolution(x.transpose(1, 2)).transpose(1, 2)
        highest: Tensor = features.masked_fill(~counts[:, :, None], float("-inf")).amax(dim=1)
        return highest


class RNN(Encoder):
    """A bidirectional LSTM: reads the units from both ends, half the width each way (d must be even); the last state of
    both directions, and nothing behind it."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__(spec, dropout)
        self.lstm = nn.LSTM(spec.dim, spec.dim // 2, batch_first=True, bidirectional=True)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        return last_states(self.lstm, self.dropout(F.embedding(index, units)), lengths)


def last_states(lstm: nn.LSTM, x: Tensor, lengths: Tensor) -> Tensor:
    """The last state of both directions, side by side: `x` [b, n, …] -> [b, 2 x hidden]."""
    # Packing wants the lengths on the host: the one kind of encoder here that makes a GPU wait.
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    _, (last, _) = lstm(packed)
    return torch.cat([last[0], last[1]], dim=1)
