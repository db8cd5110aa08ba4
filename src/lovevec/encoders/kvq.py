"""KVQ (Sasaki, Suzuki, Inui 2019): self-attention over a word's substrings with one query for the word.

Each entry s of a word has three rows of one table, by three hashes: a key k_s, a value v_s, a query q_s.

    q = Σ_s q_s                                              the word's query: a sum, not a mean
    a_s = exp(√d q ⊙ k_s) / Σ_t exp(√d q ⊙ k_t)              one softmax over the entries for each of the d numbers
    v = Σ_s a_s ⊙ v_s

That the product is taken number by number, and √d multiplies it, is what the authors' code does.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.shared import Dropout, inside
from lovevec.engine.spec import EncoderSpec

ROLES = 3


class KVQ(nn.Module):
    """Units come in threes: the key's row, the value's, the query's. All words of a batch lie end to end, unpadded."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.scale = spec.dim**0.5
        self.dropout = Dropout(dropout)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        """`units` [u, dim], `index` [b, 3 x entries] into them, `lengths` [b] -> [b, dim]."""
        keys, values, queries = index[inside(lengths, index.shape[1])].view(-1, ROLES).unbind(dim=1)
        count = lengths // ROLES
        word = torch.arange(len(index), device=index.device).repeat_interleave(count)
        query = F.embedding_bag(queries, units, count.cumsum(dim=0) - count, mode="sum") * self.scale
        # Not query[word]: its gradient is summed in the order in which threads come, so that no two runs are alike.
        scores = query.index_select(0, word) * F.embedding(keys, units)
        highest = torch.full_like(query, float("-inf"), requires_grad=False)
        highest.scatter_reduce_(0, word[:, None].expand_as(scores), scores.detach(), "amax")
        raised = (scores - highest[word]).exp()
        chosen = self.dropout(F.embedding(values, units))
        return _sums(raised * chosen, word, len(index)) / _sums(raised, word, len(index))


def _sums(rows: Tensor, word: Tensor, words: int) -> Tensor:
    """The rows of each word added up: [entries, dim] -> [words, dim]."""
    return rows.new_zeros(words, rows.shape[1]).index_add(0, word, rows)
