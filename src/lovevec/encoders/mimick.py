"""MIMICK (Pinter, Guthrie, Eisenstein 2017): a bidirectional LSTM over the units, then a small network.

    h = [last state left to right; last state right to left]
    v = O tanh(H h + b) + c        `head` is the width of H h
    v = O h + c                    without a head

What units it reads, and how it is trained: rivals/mimick.py.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.rnn import last_states
from lovevec.encoders.shared import Dropout
from lovevec.engine.spec import EncoderSpec


class Mimick(nn.Module):
    """Reads rows of any `width`; each direction of its LSTM has a state of `hidden` numbers."""

    def __init__(self, spec: EncoderSpec, dropout: float, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, spec.hidden, batch_first=True, bidirectional=True)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        if spec.head:
            layers |= {"hidden": nn.Linear(2 * spec.hidden, spec.head), "tanh": nn.Tanh()}
        layers["output"] = nn.Linear(spec.head or 2 * spec.hidden, spec.dim)
        self.head = nn.Sequential(layers)
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, width], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""
        states = last_states(self.lstm, self.dropout(F.embedding(index, units)), lengths)
        out: Tensor = self.head(states)
        return out
