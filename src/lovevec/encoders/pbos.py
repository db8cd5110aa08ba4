"""PBoS (Zhao, Zhong, Zhang, Liang 2020): a word's substrings, weighed by how likely the word is to be cut so.

    p(s)          the chance of substring s, from how often words hold it
    p(g)          of a segmentation g of the word: Π p(s) over its segments, scaled so that all of the word's sum to 1
    a(s)          Σ p(g) over the segmentations that have s as a segment
    v = Σ_s a(s) x_s / Σ_s a(s)

All 2^(n-1) segmentations are summed up in n² steps, forward and backward over the places between the characters:

    α_0 = 1,  α_j = Σ_{i<j} α_i p(i…j)        β_n = 1,  β_i = Σ_{j>i} p(i…j) β_j        a(i…j) = α_i p(i…j) β_j / α_n

An unknown character has a fixed chance, so that every word can be cut, but no vector and so no weight; a longer unknown
run has no chance. A word of which nothing is known gets the vector of [UNK].
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lovevec.encoders.shared import Dropout, inside, weighted_sum
from lovevec.engine.spec import EncoderSpec
from lovevec.units.vocabulary import SPECIAL

UNKNOWN_CHARACTER = 0.01
NEVER = -1e9  # the log of no chance: finite, so that differences of it are numbers


class PBoS(nn.Module):
    """Units are all spans of the word (see substrings.all_spans); `chances` [table rows] are log p(s), not learned."""

    chances: Tensor

    def __init__(self, spec: EncoderSpec, dropout: float, rows: int) -> None:
        super().__init__()
        self.register_buffer("chances", torch.zeros(rows))
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor, which: Tensor | None = None) -> Tensor:
        """`units` [u, dim], `index` [b, n(n+1)/2] into them, `lengths` [b], `which` [u] table rows -> [b, dim]."""
        which = torch.arange(len(units), device=units.device) if which is None else which
        index = index[:, : int(lengths.max())]
        chances = self.chances[which].double()[index].masked_fill(~inside(lengths, index.shape[1]), NEVER)
        mass = segment_masses(chances, lengths) * (which >= len(SPECIAL))[index]
        mass[:, 0] = torch.where(mass.sum(dim=1) > 0, mass[:, 0], 1.0)  # [UNK], if nothing is known
        weights = mass / mass.sum(dim=1, keepdim=True)
        return weighted_sum(units, index, self.dropout(weights.to(units.dtype)))


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
