"""The words of texts as rows of one table of vectors: what a downstream model with frozen vectors needs.

Every method's vectors are multiplied by one number, so that those of the training text have length 1 on average: the
same learning rates then suit all of them, whatever lengths their vectors come in.

Where a method reads words in their sentences, a word has a row for each vector that it has in one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lovevec_lab.methods.method import Floats, Method, finite_embed, refuse_not_finite

PADDING = 0
SENTENCES_PER_BATCH = 512
Sentence = Sequence[str]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordLookup:
    """`vectors` [rows + 1, dim]; row 0 is padding, all zeros. `rows` are those of words that have the same one in every
    sentence, `sentences` those of the words of whole sentences."""

    rows: dict[str, int]
    vectors: Floats
    sentences: dict[tuple[str, ...], Rows] = field(default_factory=dict)

    def __call__(self, sentences: Iterable[Sentence]) -> list[Rows]:
        """The rows of each sentence's words."""
        return [self._rows_of(sentence) for sentence in sentences]

    def _rows_of(self, sentence: Sentence) -> Rows:
        if self.sentences:
            return self.sentences[tuple(sentence)]
        return np.array([self.rows[word] for word in sentence], dtype=np.int64)


def look_up(method: Method, training: Iterable[Sentence], *others: Iterable[Sentence]) -> WordLookup:
    """The vectors of all distinct words of the texts, or of all distinct words in sentences."""
    table = _sentence_rows if method.reads_sentences else _word_rows
    lookup, seen = table(method, training, others)
    vectors = lookup.vectors
    lengths = np.linalg.norm(vectors[1 : seen + 1], axis=1)
    vectors /= max(float(lengths[lengths > 0].mean()) if lengths.any() else 1.0, float(np.finfo(np.float32).tiny))
    return lookup


def _word_rows(
    method: Method, training: Iterable[Sentence], others: Iterable[Iterable[Sentence]]
) -> tuple[WordLookup, int]:
    """The distinct words by one call of the method; and how many the training text has."""
    rows: dict[str, int] = {}
    for text in (training, *others):
        for sentence in text:
            for word in sentence:
                rows.setdefault(word, len(rows) + 1)
        if text is training:
            seen = len(rows)
    vectors = np.zeros((len(rows) + 1, method.dim), dtype=np.float32)
    vectors[1:] = finite_embed(method, list(rows))
    return WordLookup(rows, vectors), seen


def _sentence_rows(
    method: Method, training: Iterable[Sentence], others: Iterable[Iterable[Sentence]]
) -> tuple[WordLookup, int]:
    """The same of words that have different vectors in different sentences."""
    rows: dict[tuple[str, bytes], int] = {}
    vectors = [np.zeros(method.dim, dtype=np.float32)]
    sentences: dict[tuple[str, ...], Rows] = {}
    for text in (training, *others):
        asked = list(dict.fromkeys(tuple(sentence) for sentence in text if tuple(sentence) not in sentences))
        for low in range(0, len(asked), SENTENCES_PER_BATCH):
            batch = asked[low : low + SENTENCES_PER_BATCH]
            for words, own in zip(batch, method.embed_sentences(batch), strict=True):
                places = np.empty(len(words), dtype=np.int64)
                for place, (word, vector) in enumerate(zip(words, refuse_not_finite(method, words, own), strict=True)):
                    places[place] = row = rows.setdefault(
                        (word, blake2b(vector.tobytes(), digest_size=16).digest()), len(vectors)
                    )
                    if row == len(vectors):
                        vectors.append(vector.copy())
                sentences[words] = places
        if text is training:
            seen = len(rows)
    return WordLookup({}, np.stack(vectors), sentences), seen
