"""Tokenised sentences, all of them on the device: a batch is cut there, without waiting for anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

IGNORED = -100  # the label of positions that are not scored, as torch's cross entropy has it
POSITIONS = 32_768  # of a batch that is only read

Inputs = dict[str, Tensor]


class Rows:
    """`inputs` are what the tokenizer gives, each [sentences, positions, …], padded on the right; `labels` are
    [sentences] or [sentences, positions]."""

    def __init__(self, inputs: Mapping[str, Tensor], labels: Tensor, device: torch.device) -> None:
        self.lengths = inputs["attention_mask"].sum(dim=1).numpy().astype(np.int64)
        self.inputs = {name: tensor.to(device) for name, tensor in inputs.items()}
        self.labels = labels.to(device)

    def __len__(self) -> int:
        return len(self.lengths)

    def shuffled(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Inputs, Tensor]]:
        """(inputs, labels) in batches of `size` sentences in random order, each as wide as its longest sentence. The
        order goes to the device once."""
        order = rng.permutation(len(self))
        there = torch.from_numpy(order).to(self.labels.device)
        for low in range(0, len(order), size):
            rows = there[low : low + size]
            yield self._cut(rows, int(self.lengths[order[low : low + size]].max()))

    def by_length(self) -> Iterator[tuple[Tensor, Inputs]]:
        """(which sentences, their inputs) in large batches, the longest sentences first."""
        order = np.argsort(-self.lengths, kind="stable")
        there = torch.from_numpy(order).to(self.labels.device)
        low = 0
        while low < len(order):
            longest = int(self.lengths[order[low]])
            high = low + max(POSITIONS // max(longest, 1), 1)
            yield there[low:high], self._cut(there[low:high], longest)[0]
            low = high

    def _cut(self, rows: Tensor, longest: int) -> tuple[Inputs, Tensor]:
        inputs = {name: tensor[rows, :longest] for name, tensor in self.inputs.items()}
        labels = self.labels[rows]
        return inputs, labels if labels.dim() == 1 else labels[:, :longest]
