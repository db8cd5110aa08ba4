"""Text classification: a sentence, a class; scored by accuracy."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lovevec.evaluate.datasets import TextSplit
from lovevec.evaluate.finetune.batches import Rows
from lovevec.evaluate.finetune.task import Sentences, cut_parts, tokenised


class TextTask:
    """`sentences` and `tested` cut the training text, and dev and test."""

    head = "AutoModelForSequenceClassification"

    def __init__(self, split: TextSplit, sentences: int | None = None, tested: int | None = None) -> None:
        self.name, self.digest = split.name, split.digest
        self.classes = sorted(set(split.train.labels))
        self.parts: dict[str, Sentences] = {}
        self._labels: dict[str, Tensor] = {}
        number = {label: place for place, label in enumerate(self.classes)}
        for name, part, rows in cut_parts(split, sentences, tested):
            self.parts[name] = [part.sentences[row] for row in rows]
            self._labels[name] = torch.tensor([number[part.labels[row]] for row in rows], dtype=torch.int64)

    def rows(self, part: str, sentences: Sentences, tokenizer: Any, longest: int, device: torch.device) -> Rows:
        """The words of a sentence with a space between, as the data has them."""
        inputs, _ = tokenised(tokenizer, [" ".join(sentence) for sentence in sentences], longest, words=False)
        return Rows(inputs, self._labels[part], device)

    def score(self, part: str, rows: Rows, predicted: Tensor) -> float:
        """The share of sentences whose class is right."""
        return 100 * float((predicted == self._labels[part]).double().mean())
