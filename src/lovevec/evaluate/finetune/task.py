"""What a task tells the trials: its text, how sentences become tensors, how good predictions are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from lovevec.evaluate.finetune.batches import Inputs, Rows
from lovevec.evaluate.subsample import subsample

Sentences = Sequence[Sequence[str]]


class Task(Protocol):
    """`parts` are the sentences of train, dev and test; `head` is the Auto class of transformers that fits."""

    name: str
    digest: str
    head: str
    classes: list[str]
    parts: dict[str, Sentences]

    def rows(self, part: str, sentences: Sentences, tokenizer: Any, longest: int, device: torch.device) -> Rows:
        """The sentences of a part, as they are or damaged, with their labels."""
        ...

    def score(self, part: str, rows: Rows, predicted: Tensor) -> float:
        """In per cent."""
        ...


def cut_parts(split: Any, sentences: int | None, tested: int | None) -> Iterator[tuple[str, Any, Sequence[int]]]:
    """(name, part, which of its sentences) of train, of which `sentences` are taken, and of dev and test: `tested`."""
    for name, most in (("train", sentences), ("dev", tested), ("test", tested)):
        part = getattr(split, name)
        yield name, part, subsample(len(part.sentences), most)


def tokenised(tokenizer: Any, texts: list[Any], longest: int, words: bool) -> tuple[Inputs, Any]:
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
