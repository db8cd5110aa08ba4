"""The words of texts as rows of one table of vectors: what a downstream model with frozen vectors needs.

Every method's vectors are multiplied by one number, so that those of the training text have length 1 on average: the
same learning rates then suit all of them, whatever lengths their vectors come in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lovevec_lab.methods.method import Floats, Method, finite_embed

PADDING = 0
Sentence = Sequence[str]


@dataclass(frozen=True, eq=False)
class WordLookup:
    """`vectors` [words + 1, dim]; row 0 is padding, all zeros."""

    rows: dict[str, int]
    vectors: Floats

    def __call__(self, sentences: Iterable[Sentence]) -> list[NDArray[np.int64]]:
        """The rows of each sentence's words."""
        return [np.array([self.rows[word] for word in sentence], dtype=np.int64) for sentence in sentences]


def look_up(method: Method, training: Iterable[Sentence], *others: Iterable[Sentence]) -> WordLookup:
    """The vectors of all distinct words of the texts, by one call of the method."""
    rows: dict[str, int] = {}
    for text in (training, *others):
        for sentence in text:
            for word in sentence:
                rows.setdefault(word, len(rows) + 1)
        if text is training:
            seen = len(rows)
    vectors = np.zeros((len(rows) + 1, method.dim), dtype=np.float32)
    vectors[1:] = finite_embed(method, list(rows))
    lengths = np.linalg.norm(vectors[1 : seen + 1], axis=1)
    vectors /= max(float(lengths[lengths > 0].mean()) if lengths.any() else 1.0, float(np.finfo(np.float32).tiny))
    return WordLookup(rows, vectors)
