"""KVQ-FH (Sasaki, Suzuki, Inui 2019): self-attention over a word's frequent substrings, whose rows are shared.

F: of all substrings of <word> with 3 to 30 characters the F most frequent. H: they share H rows by hashing. Each
substring has two entries (two hashes), and each entry s three rows of the one table, a key, a value and a query:

    q = Σ_s q_s                                       the word's query: a sum, not a mean
    a_s = exp(√d q ⊙ k_s) / Σ_t exp(√d q ⊙ k_t)       one softmax over the entries for each of the d numbers
    v = Σ_s a_s ⊙ v_s                                 loss: |v/|v| - u/|u||², which its code takes of directions

That the product is taken number by number, and √d multiplies it, is what the authors' code does. H is 40,000 as in the
LOVE paper. Its code weighs a word's loss by the log of the word's frequency; without frequencies all words count alike
here. Words over 30 characters, which it leaves out, have only their substrings of 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from lovevec.encoders.shared import inside, matrix
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import SPECIAL
from lovevec_lab.methods.learned.mimicry import start
from lovevec_lab.methods.learned.rival import Rival, RivalNetwork, RivalSettings
from lovevec_lab.methods.learned.substrings import Substrings, substrings_of

ROLES, ENTRIES = 3, 2
HASHES = ROLES * ENTRIES
START = 0.17  # length of the table's rows before training; as its code: numbers of 0.01


@dataclass(frozen=True, kw_only=True)
class KvqSettings(RivalSettings):
    """H (`rows`) of the LOVE paper; F (`frequent`), steps and rates fit for a few ten thousand words (its paper: F = 1M
    of 2M words)."""

    learning_rate: float = 0.002
    epochs: int = 10
    shortest: int = 3
    longest: int = 30
    frequent: int = 100_000
    rows: int = 40_000


class KvqNetwork(RivalNetwork):
    """One `table` [rows, dim] for keys, values and queries; all words of a batch lie end to end, unpadded."""

    def __init__(self, rows: int, dim: int) -> None:
        super().__init__()
        self.table = matrix(rows, dim)

    def forward(self, index: Tensor, lengths: Tensor) -> Tensor:
        """[b, 3 x entries] rows of the table (key, value, query, key, …), [b] -> [b, dim]."""
        # The rows in use are taken out once: three looks into the table would make three gradients of its size.
        used, place = index[inside(lengths, index.shape[1])].unique(return_inverse=True)
        units = F.embedding(used, self.table)
        keys, values, queries = place.view(-1, ROLES).unbind(dim=1)
        count = lengths // ROLES
        word = torch.arange(len(index), device=index.device).repeat_interleave(count)
        query = F.embedding_bag(queries, units, count.cumsum(dim=0) - count, mode="sum") * units.shape[1] ** 0.5
        # Not query[word]: its gradient is summed in the order in which threads come, so that no two runs are alike.
        scores = query.index_select(0, word) * F.embedding(keys, units)
        highest = torch.full_like(query, float("-inf"), requires_grad=False)
        highest.scatter_reduce_(0, word[:, None].expand_as(scores), scores.detach(), "amax")
        raised = (scores - highest[word]).exp()
        return _sums(raised * F.embedding(values, units), word, len(index)) / _sums(raised, word, len(index))


def _sums(rows: Tensor, word: Tensor, words: int) -> Tensor:
    """The rows of each word added up: [entries, dim] -> [words, dim]."""
    return rows.new_zeros(words, rows.shape[1]).index_add(0, word, rows)


def hash_rows(units: Sequence[str], rows: int) -> NDArray[np.int32]:
    """[units, 6]: the rows of each substring, by parts of one long hash of its spelling; the special units, which come
    first, have six times their own. Folders hold no rows, so the hash may never change."""
    spelled = (unit.encode("utf-8", "surrogatepass") for unit in units[len(SPECIAL) :])
    digests = b"".join(blake2b(text, digest_size=8 * HASHES).digest() for text in spelled)
    hashes = np.frombuffer(digests, dtype="<u8").reshape(-1, HASHES)
    special = np.repeat(np.arange(len(SPECIAL), dtype=np.int32)[:, None], HASHES, axis=1)
    return np.concatenate([special, len(SPECIAL) + (hashes % np.uint64(rows)).astype(np.int32)])


class KVQFH(Rival[KvqSettings]):
    """Knows those of the frequent substrings that the words which training sees have."""

    name = "KVQ-FH"
    settings_type = KvqSettings
    unit_length = True

    @classmethod
    def initial(cls, words: Sequence[str], shown: NDArray[np.int64], dim: int, settings: KvqSettings) -> KVQFH:
        """Weights at random."""
        frequent = substrings_of(words, settings.shortest, settings.longest, frame=True, most=settings.frequent)
        seen = set(Substrings(frequent).bags([words[row] for row in shown.tolist()]).values.tolist())
        units = [unit for number, unit in enumerate(frequent) if number < len(SPECIAL) or number in seen]
        rival = cls(settings, units, dim)
        start(rival.network, settings.seed, START)
        return rival

    def build(self) -> KvqNetwork:
        """As many rows as the substrings share, whatever they are."""
        return KvqNetwork(len(SPECIAL) + self.settings.rows, self.dim)

    def encode(self, words: Sequence[str]) -> Ragged:
        """Words -> six rows of each known substring, one behind the other."""
        known = self._substrings.bags(words)
        return Ragged(self._rows[known.values].ravel(), known.offsets * HASHES)

    @cached_property
    def _substrings(self) -> Substrings:
        return Substrings(self.units)

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        return hash_rows(self.units, self.settings.rows)
