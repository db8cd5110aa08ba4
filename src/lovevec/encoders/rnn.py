"""Ablation: a bidirectional LSTM over the units, the last state of both directions and nothing behind it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Dropout
from lovevec.engine.spec import EncoderSpec


class RNN(nn.Module):
    """Reads the units from both ends, half the width each way (d must be even)."""

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
