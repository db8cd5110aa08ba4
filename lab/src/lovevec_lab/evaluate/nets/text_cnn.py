"""Text classification by a CNN over frozen word vectors (Kim 2014; Zhang and Wallace 2015), as in the paper's appendix.

Filters over windows of 3, 4 and 5 words, 100 each, ReLU, the maximum over time, dropout, a linear layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import skip_init

from lovevec.encoders.shared import Dropout
from lovevec.units.ragged import Ragged
from lovevec_lab.evaluate.nets import CNNSettings
from lovevec_lab.evaluate.nets.char_cnn import Convolution, Frozen, seed_weights
from lovevec_lab.evaluate.nets.lookup import PADDING

BATCHES_PER_POOL = 20  # batches whose sentences are sorted by length among themselves, so that there is little padding
WORDS_PER_BATCH = 16_384  # of a batch that is only read


class TextCNN(nn.Module):
    """Sentences as rows of ids, 0 behind their end -> a number for each class."""

    def __init__(self, layer: Frozen, classes: int, settings: CNNSettings) -> None:
        super().__init__()
        self.layer = layer
        self.convolution = Convolution(layer.dim, settings.widths, settings.filters)
        self.dropout = Dropout(settings.dropout)
        self.out = skip_init(nn.Linear, self.convolution.size, classes)

    def forward(self, ids: Tensor) -> Tensor:
        """[b, n] -> [b, classes]."""
        read = self.convolution(self.layer(ids), (ids != PADDING).sum(dim=1))
        logits: Tensor = self.out(self.dropout(read))
        return logits


class TextRows:
    """Sentences on the device, all at once; their lengths and classes stay at hand for cutting batches."""

    def __init__(self, sentences: Sequence[NDArray[np.int64]], classes: Sequence[int], device: torch.device) -> None:
        self.lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        ids = Ragged.from_lengths(np.concatenate([np.empty(0, np.int64), *sentences]), self.lengths).padded(width=1)
        self.ids = torch.from_numpy(ids).to(device)
        self.classes = torch.tensor(classes, dtype=torch.int64, device=device)

    def __len__(self) -> int:
        return len(self.lengths)

    def random_batches(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """(ids, classes) in batches of sentences of about one length, in random order."""
        order = rng.permutation(len(self))
        pools = [order[low : low + BATCHES_PER_POOL * size] for low in range(0, len(order), BATCHES_PER_POOL * size)]
        near = [pool[np.argsort(self.lengths[pool], kind="stable")] for pool in pools]
        batches = [pool[low : low + size] for pool in near for low in range(0, len(pool), size)]
        for number in rng.permutation(len(batches)):
            yield self._cut(batches[number])

    def by_length(self) -> Iterator[tuple[Tensor, Tensor]]:
        """(ids, classes) in large batches, the longest sentences first."""
        order = np.argsort(-self.lengths, kind="stable")
        low = 0
        while low < len(order):
            high = low + max(WORDS_PER_BATCH // max(int(self.lengths[order[low]]), 1), 1)
            yield self._cut(order[low:high])
            low = high

    def _cut(self, rows: NDArray[np.integer]) -> tuple[Tensor, Tensor]:
        chosen = torch.from_numpy(rows).to(self.ids.device)
        return self.ids[chosen, : max(int(self.lengths[rows].max()), 1)], self.classes[chosen]


def train_cnn(model: TextCNN, train: TextRows, dev: TextRows, rate: float, seed: int, settings: CNNSettings) -> float:
    """Train by Adam; the weights of the epoch that is best on dev stay. Returns the accuracy on dev."""
    seed_weights(model, seed, train.ids.device)
    rng = np.random.default_rng([seed, settings.epochs])
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    best, kept = -1.0, model.state_dict()
    for _ in range(settings.epochs):
        model.train()
        for ids, classes in train.random_batches(settings.batch, rng):
            optimiser.zero_grad()
            F.cross_entropy(model(ids), classes).backward()
            optimiser.step()
        reached = accuracy(model, dev)
        if reached > best:
            best, kept = reached, deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return best


@torch.no_grad()
def accuracy(model: TextCNN, rows: TextRows) -> float:
    """The share of sentences, in per cent, whose largest number is that of their class."""
    model.eval()
    right = sum((model(ids).argmax(dim=1) == classes).sum() for ids, classes in rows.by_length())
    return 100 * float(right) / max(len(rows), 1)
