"""Tagging: a label for each word, at its first position; scored by entity F1.

That holds for a word that is broken into pieces as well as for one that LOVE made one position of. A word that has no
position, since the sentence was cut or nothing of it is left after the tokenizer's cleaning, is tagged O.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lovevec.evaluate.datasets import TagSplit
from lovevec.evaluate.finetune.batches import IGNORED, Rows
from lovevec.evaluate.finetune.task import Sentences, cut_parts, tokenised
from lovevec.evaluate.nets.entities import OUTSIDE, count_entities, overall

NOWHERE = -1


class WordRows(Rows):
    """Rows that know where words begin: `firsts` [words of all sentences], the place in a flattened [sentences,
    positions], NOWHERE for a word without one."""

    def __init__(self, inputs: dict[str, Tensor], labels: Tensor, device: torch.device, firsts: Any) -> None:
        super().__init__(inputs, labels, device)
        self.firsts: NDArray[np.int64] = firsts


class TagTask:
    """`sentences` and `tested` cut the training text, and dev and test."""

    head = "AutoModelForTokenClassification"

    def __init__(self, split: TagSplit, sentences: int | None = None, tested: int | None = None) -> None:
        self.name, self.digest = split.name, split.digest
        self.classes = sorted({tag for tags in split.train.tags for tag in tags} | {OUTSIDE})
        self.parts: dict[str, Sentences] = {}
        self._tags: dict[str, list[list[str]]] = {}
        for name, part, rows in cut_parts(split, sentences, tested):
            self.parts[name] = [part.sentences[row] for row in rows]
            self._tags[name] = [part.tags[row] for row in rows]

    def rows(self, part: str, sentences: Sentences, tokenizer: Any, longest: int, device: torch.device) -> Rows:
        """Labels at the words' first positions, IGNORED elsewhere; so is a tag that the training text lacks."""
        inputs, encoded = tokenised(tokenizer, [list(sentence) for sentence in sentences], longest, words=True)
        shape = inputs["attention_mask"].shape
        firsts = first_positions(encoded, [len(sentence) for sentence in sentences], shape[1])
        number = {tag: place for place, tag in enumerate(self.classes)}
        wanted = np.array([number.get(tag, IGNORED) for tags in self._tags[part] for tag in tags], dtype=np.int64)
        labels = np.full(shape[0] * shape[1], IGNORED, dtype=np.int64)
        labels[firsts[firsts != NOWHERE]] = wanted[firsts != NOWHERE]
        return WordRows(inputs, torch.from_numpy(labels.reshape(shape)), device, firsts)

    def score(self, part: str, rows: Rows, predicted: Tensor) -> float:
        """F1 of the entities in the words' tags."""
        return overall(count_entities(self._tags[part], self.tags(part, rows, predicted))).f1

    def tags(self, part: str, rows: Rows, predicted: Tensor) -> list[list[str]]:
        """The predictions [sentences, positions] as a tag for each word."""
        assert isinstance(rows, WordRows)
        found = np.full(len(rows.firsts), self.classes.index(OUTSIDE), dtype=np.int64)
        placed = rows.firsts != NOWHERE
        found[placed] = predicted.flatten().numpy()[rows.firsts[placed]]
        ends = np.cumsum([len(tags) for tags in self._tags[part]])
        return [[self.classes[number] for number in numbers.tolist()] for numbers in np.split(found, ends[:-1])]


def first_positions(encoded: Any, counts: list[int], width: int) -> NDArray[np.int64]:
    """Where each word of each sentence (`counts` words) begins, in a flattened [sentences, width]: [all words]."""
    firsts = np.full(sum(counts), NOWHERE, dtype=np.int64)
    before = 0
    for row, count in enumerate(counts):
        for position, word in enumerate(encoded.word_ids(row)):
            if word is not None and firsts[before + word] == NOWHERE:
                firsts[before + word] = row * width + position
        before += count
    return firsts
