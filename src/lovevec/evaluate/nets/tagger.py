"""Tagging by a BiLSTM-CRF over frozen word vectors (Huang et al. 2015), as in the paper's appendix.

One LSTM layer of 300 in all, 150 in each direction; dropout of one half on what goes in and what comes out; a linear
layer; a CRF (crf.py). The paper's table says SGD, batches of 768, 100 epochs. The authors' published code trains by
Adam at the paper's learning rates and keeps the epoch that is best on dev. So do we, with batches of 768 tokens
instead of sentences: 15 times as many steps an epoch, so that 20 epochs are enough; twice the tokens cost a point of
F1. At these rates plain SGD learns next to nothing from a mean loss: a dev F1 of 1 after two epochs on 30 % of
CoNLL-03, where three give 70 on a summed loss and 71 by Adam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lovevec.encoders.shared import Dropout
from lovevec.evaluate.nets import TaggerSettings
from lovevec.evaluate.nets.char_cnn import Frozen, seeded
from lovevec.evaluate.nets.crf import CRF
from lovevec.evaluate.nets.lookup import PADDING
from lovevec.units.ragged import Ragged

TOKENS = 16_384  # of a batch that is only read

Ints = NDArray[np.int64]


class Batch(NamedTuple):
    """Sentences, the longest first: `ids` and `tags` [b, n] on the device with zeros behind their ends, `lengths` [b]
    on the CPU, where packing wants them, and `rows` [b], which sentences they are."""

    ids: Tensor
    tags: Tensor
    lengths: Tensor
    rows: Ints


class Sentences:
    """Sentences and their tags as numbers, on the device all at once."""

    def __init__(self, ids: Sequence[Ints], tags: Sequence[Ints] | None, device: torch.device) -> None:
        self.lengths = np.array([len(sentence) for sentence in ids], dtype=np.int64)
        self.ids = self._padded(ids).to(device)
        self.tags = self.ids if tags is None else self._padded(tags).to(device)  # to be read only: no tags needed

    def _padded(self, rows: Sequence[Ints]) -> Tensor:
        values = np.concatenate([np.empty(0, np.int64), *rows])
        return torch.from_numpy(Ragged.from_lengths(values, self.lengths).padded())

    def batches(self, tokens: int, rng: np.random.Generator | None = None) -> Iterator[Batch]:
        """Batches of sentences of about one length; with `rng` in random order, and alike ones in random company."""
        order = np.arange(len(self.lengths)) if rng is None else rng.permutation(len(self.lengths))
        order = order[np.argsort(-self.lengths[order], kind="stable")]
        lengths = self.lengths[order]
        cuts = [0]
        while cuts[-1] < len(order):
            cuts.append(min(cuts[-1] + max(tokens // int(lengths[cuts[-1]]), 1), len(order)))
        there = torch.from_numpy(order).to(self.ids.device)  # once, so that no batch waits for a copy
        for number in range(len(cuts) - 1) if rng is None else rng.permutation(len(cuts) - 1):
            low, high = cuts[number], cuts[number + 1]
            rows, width = there[low:high], int(lengths[low])
            on_cpu = torch.from_numpy(lengths[low:high])
            yield Batch(self.ids[rows, :width], self.tags[rows, :width], on_cpu, order[low:high])


class Tagger(nn.Module):
    """Sentences as rows of ids -> the tags of their words."""

    def __init__(self, layer: Frozen, tags: int, settings: TaggerSettings) -> None:
        super().__init__()
        self.layer = layer
        self.lstm = nn.LSTM(layer.dim, settings.hidden // 2, batch_first=True, bidirectional=True)
        self.dropout = Dropout(settings.dropout)
        self.out = nn.Linear(2 * (settings.hidden // 2), tags)
        self.crf = CRF(tags)

    def emissions(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[b, n] ids of a batch -> [b, n, tags], how well each tag suits each word."""
        packed = pack_padded_sequence(self.dropout(self.layer(ids)), lengths, batch_first=True)
        read, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        suits: Tensor = self.out(self.dropout(read))
        return suits

    def loss(self, batch: Batch) -> Tensor:
        """-log P of the right tags, a token."""
        likelihood = self.crf.log_likelihood(self.emissions(batch.ids, batch.lengths), batch.tags, counts_of(batch.ids))
        return -likelihood.sum() / int(batch.lengths.sum())

    @torch.no_grad()
    def tag(self, sentences: Sentences) -> list[Ints]:
        """The best tags of each sentence."""
        self.eval()
        result: list[Ints] = [np.empty(0, np.int64)] * len(sentences.lengths)
        for batch in sentences.batches(TOKENS):
            tags = self.crf.decode(self.emissions(batch.ids, batch.lengths), counts_of(batch.ids)).cpu().numpy()
            for row, tagged, length in zip(batch.rows.tolist(), tags, batch.lengths.tolist(), strict=True):
                result[row] = tagged[:length]
        return result


def counts_of(ids: Tensor) -> Tensor:
    """The lengths of the sentences, on the device."""
    return (ids != PADDING).sum(dim=1)


def trained(
    model: Tagger, train: Sentences, on_dev: Callable[[], float], rate: float, seed: int, settings: TaggerSettings
) -> float:
    """Train by Adam; the weights of the epoch that is best by `on_dev`, called after each, stay. Returns what that
    gave."""
    device = train.ids.device
    seeded(model, seed, device)
    rng = np.random.default_rng([seed, settings.epochs])
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=device.type in ("cpu", "cuda"))
    best, at, kept = -1.0, 0, model.state_dict()
    for epoch in range(settings.epochs):
        model.train()
        for batch in train.batches(settings.tokens, rng):
            optimiser.zero_grad()
            model.loss(batch).backward()
            optimiser.step()
        reached = on_dev()
        if reached > best:
            best, at, kept = reached, epoch, deepcopy(model.state_dict())
        elif epoch - at >= settings.patience:
            break
    model.load_state_dict(kept)
    return best
