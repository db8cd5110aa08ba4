"""What is fine-tuned for: texts with a class each, words with a tag each. A task has the text, turns sentences into
tensors, and says how good predictions are.

A tagged word's label stands at its first position, whether the word is broken into pieces or LOVE made one position of
it. A word that has no position, since the sentence was cut or nothing of it is left after the tokenizer's cleaning, is
tagged O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lovevec_lab.evaluate.classify import TextSplit
from lovevec_lab.evaluate.downstream import subsample
from lovevec_lab.evaluate.entities import OUTSIDE, count_entities, overall
from lovevec_lab.evaluate.finetune.loop import IGNORED, Inputs, TokenRows
from lovevec_lab.evaluate.tag import TagSplit

NOWHERE = -1
Sentences = Sequence[Sequence[str]]


class Task(Protocol):
    """`parts` are the sentences of train, dev and test; `head` is the Auto class of transformers that fits."""

    name: str
    digest: str
    head: str
    classes: list[str]
    parts: dict[str, Sentences]

    def rows(self, part: str, sentences: Sentences, tokenizer: Any, longest: int, device: torch.device) -> TokenRows:
        """The sentences of a part, as they are or damaged, with their labels."""
        ...

    def score(self, part: str, rows: TokenRows, predicted: Tensor) -> float:
        """In per cent."""
        ...


class TextTask:
    """Text classification: a sentence, a class; scored by accuracy. `sentences` and `tested` cut the training text, and
    dev and test."""

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

    def rows(self, part: str, sentences: Sentences, tokenizer: Any, longest: int, device: torch.device) -> TokenRows:
        """The words of a sentence with a space between, as the data has them."""
        inputs, _ = tokenise(tokenizer, [" ".join(sentence) for sentence in sentences], longest, words=False)
        return TokenRows(inputs, self._labels[part], device)

    def score(self, part: str, rows: TokenRows, predicted: Tensor) -> float:
        """The share of sentences whose class is right."""
        return 100 * float((predicted == self._labels[part]).double().mean())


class WordTokenRows(TokenRows):
    """TokenRows that know where words begin: `firsts` [words of all sentences], the place in a flattened [sentences,
    positions], NOWHERE for a word without one."""

    def __init__(self, inputs: dict[str, Tensor], labels: Tensor, device: torch.device, firsts: Any) -> None:
        super().__init__(inputs, labels, device)
        self.firsts: NDArray[np.int64] = firsts


class TagTask:
    """Tagging: a label for each word; scored by entity F1. `sentences` and `tested` cut the training text, and dev and
    test."""

    head = "AutoModelForTokenClassification"

    def __init__(self, split: TagSplit, sentences: int | None = None, tested: int | None = None) -> None:
        self.name, self.digest = split.name, split.digest
        self.classes = sorted({tag for tags in split.train.tags for tag in tags} | {OUTSIDE})
        self.parts: dict[str, Sentences] = {}
        self._tags: dict[str, list[list[str]]] = {}
        for name, part, rows in cut_parts(split, sentences, tested):
            self.parts[name] = [part.sentences[row] for row in rows]
            self._tags[name] = [part.tags[row] for row in rows]

    def rows(self, part: str, sentences: Sentences, tokenizer: Any, longest: int, device: torch.device) -> TokenRows:
        """Labels at the words' first positions, IGNORED elsewhere; so is a tag that the training text lacks."""
        inputs, encoded = tokenise(tokenizer, [list(sentence) for sentence in sentences], longest, words=True)
        shape = inputs["attention_mask"].shape
        firsts = first_positions(encoded, [len(sentence) for sentence in sentences], shape[1])
        number = {tag: place for place, tag in enumerate(self.classes)}
        gold = np.array([number.get(tag, IGNORED) for tags in self._tags[part] for tag in tags], dtype=np.int64)
        labels = np.full(shape[0] * shape[1], IGNORED, dtype=np.int64)
        labels[firsts[firsts != NOWHERE]] = gold[firsts != NOWHERE]
        return WordTokenRows(inputs, torch.from_numpy(labels.reshape(shape)), device, firsts)

    def score(self, part: str, rows: TokenRows, predicted: Tensor) -> float:
        """F1 of the entities in the words' tags."""
        return overall(count_entities(self._tags[part], self.tags(part, rows, predicted))).f1

    def tags(self, part: str, rows: TokenRows, predicted: Tensor) -> list[list[str]]:
        """The predictions [sentences, positions] as a tag for each word."""
        assert isinstance(rows, WordTokenRows)
        numbers = np.full(len(rows.firsts), self.classes.index(OUTSIDE), dtype=np.int64)
        placed = rows.firsts != NOWHERE
        numbers[placed] = predicted.flatten().numpy()[rows.firsts[placed]]
        ends = np.cumsum([len(tags) for tags in self._tags[part]])
        return [[self.classes[number] for number in line.tolist()] for line in np.split(numbers, ends[:-1])]


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


def cut_parts(split: Any, sentences: int | None, tested: int | None) -> Iterator[tuple[str, Any, Sequence[int]]]:
    """(name, part, which of its sentences) of train, of which `sentences` are taken, and of dev and test: `tested`."""
    for name, most in (("train", sentences), ("dev", tested), ("test", tested)):
        part = getattr(split, name)
        yield name, part, subsample(len(part.sentences), most)


def tokenise(tokenizer: Any, texts: list[Any], longest: int, words: bool) -> tuple[Inputs, Any]:
    """All texts at once: the tensors that the model takes, padded on the right, and the encoding with its word ids.
    `words` says that a text is a list of words."""
    encoded = tokenizer(
        texts,
        is_split_into_words=words,
        truncation=True,
        max_length=min(longest, tokenizer.model_max_length),
        padding=True,
        padding_side="right",
        return_tensors="pt",
    )
    return dict(encoded), encoded
