"""PBoS (Zhao Jinman, Zhong, Zhang, Liang 2020): BoS with weights, by how likely the word is to be cut so.

    p(s)   the chance of substring s: how often words hold s / how often they hold any substring
    p(g)   of a segmentation g of the word: Π p(s) over its segments, scaled so that all of the word's sum to 1
    a(s)   Σ p(g) over the segmentations that have s as a segment
    v    = Σ_s a(s) x_s / Σ_s a(s)                    loss: |v - u|², u the word's vector as it is

All substrings of the word itself (no marks at its ends) of up to 30 characters are units. Vector files list words by
falling frequency without saying it, so the word of rank r counts 1/r times (Zipf's law). All 2^(n-1) segmentations are
summed up in n² steps, forward and backward over the places between the characters:

    α_0 = 1,  α_j = Σ_{i<j} α_i p(i…j)        β_n = 1,  β_i = Σ_{j>i} p(i…j) β_j        a(i…j) = α_i p(i…j) β_j / α_n

An unknown character has a fixed chance, so that every word can be cut, but no vector and so no weight; a longer unknown
run has no chance. A word of which nothing is known gets the mean of the target's vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lovevec.encoders.shared import inside
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import SPECIAL, UNK
from lovevec_lab.methods.learned.bos import weighted_sum
from lovevec_lab.methods.learned.rival import Rival, RivalNetwork, RivalSettings
from lovevec_lab.methods.learned.substrings import Substrings, substrings_of

UNKNOWN_CHARACTER = 0.01
NEVER = -1e9  # the log of no chance: finite, so that differences of it are numbers


@dataclass(frozen=True, kw_only=True)
class PbosSettings(RivalSettings):
    """As in its paper, but by Adam instead of plain gradient steps."""

    learning_rate: float = 0.03
    epochs: int = 10
    longest: int = 30


class PbosNetwork(RivalNetwork):
    """`table` [substrings, dim], zero to begin with; `chances` [substrings] are log p(s), not learned."""

    chances: Tensor

    def __init__(self, units: int, dim: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(units, dim))
        self.register_buffer("chances", torch.zeros(units))

    def forward(self, index: Tensor, lengths: Tensor) -> Tensor:
        """[b, n(n+1)/2] rows of the table for the spans of n characters, [b] -> [b, dim]."""
        chances = self.chances.double()[index].masked_fill(~inside(lengths, index.shape[1]), NEVER)
        mass = segment_masses(chances, lengths) * (index >= len(SPECIAL))
        mass[:, 0] = torch.where(mass.sum(dim=1) > 0, mass[:, 0], 1.0)  # [UNK], if nothing is known
        return weighted_sum(self.table, index, mass / mass.sum(dim=1, keepdim=True))


def segment_masses(chances: Tensor, lengths: Tensor) -> Tensor:
    """a(s) for each span of each word: the probability of the segmentations that have it as a segment.

    `chances` [b, spans]: log p of characters i … j-1 at place j(j-1)/2 + i; `lengths` [b]: n(n+1)/2 of n characters.
    """
    characters = ((8 * lengths + 1).double().sqrt() / 2 - 0.5).round().long()[:, None]
    most = int(characters.max())
    first = torch.arange(most + 1, device=chances.device)
    first = first * (first - 1) // 2  # where the spans that end at each place begin
    forward = [chances.new_zeros(len(chances))]
    for end in range(1, most + 1):
        arriving = chances[:, end * (end - 1) // 2 : end * (end + 1) // 2]
        forward.append((torch.stack(forward, dim=1) + arriving).logsumexp(dim=1))
    backward = chances.new_full((len(chances), most + 1), NEVER).scatter_(1, characters, 0.0)
    for begin in range(most - 1, -1, -1):
        leaving = (chances[:, first[begin + 1 :] + begin] + backward[:, begin + 1 :]).logsumexp(dim=1)
        backward[:, begin] = torch.where(characters[:, 0] == begin, 0.0, leaving)
    before = torch.stack(forward, dim=1)
    ends = torch.arange(1, most + 1, device=chances.device)
    ends = ends.repeat_interleave(ends)
    begins = torch.arange(len(ends), device=chances.device) - first[ends]
    return (before[:, begins] + chances + backward[:, ends] - before.gather(1, characters)).exp()


def log_chances(spans: Ragged, ranks: NDArray[np.int64], units: int) -> NDArray[np.float32]:
    """log p of each unit, [units], from the spans of words at these ranks (0 is the most frequent); [UNK] stands for an
    unknown character, and a longer run that is unknown, [PAD], has no chance."""
    counts = np.bincount(spans.values, np.repeat(1 / (1.0 + ranks), spans.lengths), minlength=units)
    counts[: len(SPECIAL)] = 0
    chances = np.full(units, NEVER)
    chances[UNK] = np.log(UNKNOWN_CHARACTER)
    seen = counts > 0
    chances[seen] = np.log(counts[seen] / counts.sum())
    return chances.astype(np.float32)


class PBoS(Rival[PbosSettings]):
    """Knows the substrings of the words that training sees, and no others: a word held back is cut into those."""

    name = "PBoS"
    settings_type = PbosSettings
    sparse = True
    network: PbosNetwork

    @classmethod
    def initial(cls, words: Sequence[str], shown: NDArray[np.int64], dim: int, settings: PbosSettings) -> PBoS:
        """The chances; all weights are zero."""
        seen = [words[row] for row in shown.tolist()]
        rival = cls(settings, substrings_of(seen, 1, settings.longest, frame=False), dim)
        chances = log_chances(rival.encode(seen), shown, len(rival.units))
        rival.network.chances.copy_(torch.from_numpy(chances))
        return rival

    def build(self) -> PbosNetwork:
        """A row and a chance for each substring."""
        return PbosNetwork(len(self.units), self.dim)

    def encode(self, words: Sequence[str]) -> Ragged:
        """Words -> all their spans."""
        return self._substrings.spans(words)

    @cached_property
    def _substrings(self) -> Substrings:
        return Substrings(self.units)
