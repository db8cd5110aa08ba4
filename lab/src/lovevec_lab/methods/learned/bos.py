"""BoS (Zhao, Mudgal, Liang 2018): a word is the bag of its substrings, its vector the mean of theirs.

    S = all substrings of <word> with 3 to 6 characters, each as often as it stands there
    v = 1/|S| Σ_{s in S} x_s                         loss: |v - u|², u the word's vector as it is

Every substring of the target's words has its own row, which makes the table the largest of all rivals'. Of an unknown
word only the known substrings count; one that has none gets the mean of the target's vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import inside
from lovevec.units.ragged import Ragged
from lovevec_lab.methods.learned.rival import Rival, RivalNetwork, RivalSettings
from lovevec_lab.methods.learned.substrings import Substrings, substrings_of


@dataclass(frozen=True, kw_only=True)
class BosSettings(RivalSettings):
    """As in its paper, but by Adam instead of plain gradient steps."""

    learning_rate: float = 0.05
    epochs: int = 20
    shortest: int = 3
    longest: int = 6


class BosNetwork(RivalNetwork):
    """`table` [substrings, dim], zero to begin with."""

    def __init__(self, units: int, dim: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(units, dim))

    def forward(self, index: Tensor, lengths: Tensor) -> Tensor:
        """[b, n] rows of the table, [b] -> [b, dim]: the mean of each word's rows."""
        return weighted_sum(self.table, index, inside(lengths, index.shape[1]) / lengths[:, None])


def weighted_sum(table: Tensor, index: Tensor, weights: Tensor) -> Tensor:
    """Σ_j weights_j x_j over the positions that count: `index` [b, n] into `table`, `weights` [b, n] -> [b, dim]; the
    gradient of the table is sparse. Much cheaper than over all positions where a few words of a batch are long."""
    weights = weights.to(table.dtype)
    counts = weights != 0
    ends = counts.sum(dim=1).cumsum(dim=0)
    offsets = torch.cat([ends.new_zeros(1), ends[:-1]])
    return F.embedding_bag(index[counts], table, offsets, per_sample_weights=weights[counts], mode="sum", sparse=True)


class BoS(Rival[BosSettings]):
    """Knows the substrings of the words that training sees, and no others."""

    name = "BoS"
    settings_type = BosSettings
    sparse = True

    @classmethod
    def initial(cls, words: Sequence[str], shown: NDArray[np.int64], dim: int, settings: BosSettings) -> BoS:
        """All weights are zero."""
        seen = [words[row] for row in shown.tolist()]
        return cls(settings, substrings_of(seen, settings.shortest, settings.longest, frame=True), dim)

    def build(self) -> BosNetwork:
        """A row for each substring."""
        return BosNetwork(len(self.units), self.dim)

    def encode(self, words: Sequence[str]) -> Ragged:
        """Words -> their known substrings."""
        return self._substrings.bags(words)

    @cached_property
    def _substrings(self) -> Substrings:
        return Substrings(self.units)
