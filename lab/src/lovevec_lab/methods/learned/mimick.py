"""MIMICK (Pinter, Guthrie, Eisenstein 2017): a bidirectional LSTM reads the word and says its vector.

    h = [last state left to right; last state right to left]
    v = O tanh(H h + b) + c                          loss: |v - u|², u the word's vector as it is

Its own paper reads characters: rows of 20 numbers, states of 50 (`CHARACTERS`). The LOVE paper trained it again "at the
same parameter level" on pieces: 9M in the table (30,000 x 300) and 517K others, which is an LSTM with states of 128 and
one matrix behind it (v = O h + c), to the number: 2 (4·128·(300 + 128) + 8·128) + 256·300 + 300 = 517,420. That is the
default.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.ablations import last_states
from lovevec.encoders.shared import matrix
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import UnitVocabulary, build_vocabulary
from lovevec_lab.methods.learned.mimicry import start
from lovevec_lab.methods.learned.rival import Rival, RivalNetwork, RivalSettings


@dataclass(frozen=True, kw_only=True)
class MimickSettings(RivalSettings):
    """`width`: numbers in a row of the table, 0 is as many as the target's vectors have; `hidden`: the state of the
    LSTM, in each direction; `head`: whether tanh(H h + b) stands before the last matrix, as wide as the target."""

    learning_rate: float = 0.005
    epochs: int = 20
    input: Literal["pieces", "chars"] = "pieces"
    pieces: int = 30_000
    width: int = 0
    hidden: int = 128
    head: bool = False


CHARACTERS = MimickSettings(input="chars", width=20, hidden=50, head=True, learning_rate=0.002, epochs=60)


class MimickNetwork(RivalNetwork):
    """`table` [units, width], the LSTM, and O (behind H)."""

    def __init__(self, units: int, dim: int, settings: MimickSettings) -> None:
        super().__init__()
        width, states = settings.width or dim, 2 * settings.hidden
        self.table = matrix(units, width)
        self.lstm = nn.LSTM(width, settings.hidden, batch_first=True, bidirectional=True)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        if settings.head:
            layers |= {"hidden": nn.Linear(states, dim), "tanh": nn.Tanh()}
        layers["output"] = nn.Linear(dim if settings.head else states, dim)
        self.head = nn.Sequential(layers)

    def forward(self, index: Tensor, lengths: Tensor) -> Tensor:
        """[b, n] rows of the table, [b] -> [b, dim]."""
        out: Tensor = self.head(last_states(self.lstm, F.embedding(index, self.table), lengths))
        return out


class Mimick(Rival[MimickSettings]):
    """Reads [CLS] pieces [SEP], or characters. Its [UNK] stands among other units, so it guesses nothing."""

    name = "MIMICK"
    settings_type = MimickSettings
    guesses = False

    @classmethod
    def initial(cls, words: Sequence[str], shown: NDArray[np.int64], dim: int, settings: MimickSettings) -> Mimick:
        """Pieces are learned from all words of the target, as LOVE's are."""
        pieces: list[str] | None = [] if settings.input == "chars" else None
        vocabulary = build_vocabulary(words, pieces, settings.pieces, shrink="none")
        mimick = cls(settings, vocabulary.units, dim)
        start(mimick.network, settings.seed)
        return mimick

    def build(self) -> MimickNetwork:
        """The network for these units."""
        return MimickNetwork(len(self.units), self.dim, self.settings)

    def encode(self, words: Sequence[str]) -> Ragged:
        """Words -> their units."""
        return self._units.encode(words)

    @cached_property
    def _units(self) -> Units:
        return Units(UnitVocabulary(tuple(self.units)), self.settings.input)
