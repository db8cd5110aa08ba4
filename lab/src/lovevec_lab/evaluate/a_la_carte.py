"""À la carte (Khodak et al., 2018): a new word's vector is a linear map of the mean of the vectors around it.

    u(w) = the mean, over all places where w stands in a text, of the mean of the rows of the words around it
    A    = argmin Σ log(count of w) · |row(w) - A u(w)|²        over the known words that come often enough
    v    = A · the mean of the rows of the words in a new word's sentences

The map is learned from a text and from the rows of the model that it is compared with, so that both know the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.texts.tokens import runs_of
from lovevec.units.ragged import offsets_of
from lovevec_lab.methods.method import Floats

Numbers = NDArray[np.float64]
WINDOW = 5  # words on each side, where the map is learned
LEAST = 10  # times that a word comes, to be learned from


class ALaCarte:
    """A map that was learned for a model.

    :param love: its rows are those of the words around, and those that are learned from.
    :param batches: a text, in lists of paragraphs.
    """

    def __init__(self, love: LOVE, batches: Iterable[Sequence[str]]) -> None:
        self.love, self.rows = love, love._own_vectors(np.arange(len(love)))
        sums, counts = np.zeros((len(love), love.dim)), np.zeros(len(love), dtype=np.int64)
        for texts in batches:
            self._add(texts, sums, counts)
        often = counts >= LEAST
        if often.sum() < love.dim:
            raise LovevecError(
                f"à la carte: {often.sum():,} known words come {LEAST} times in the text, and a map of {love.dim} "
                "dimensions needs more; name a longer text"
            )
        around = sums[often] / counts[often][:, None]
        root = np.sqrt(np.log(counts[often]))[:, None]
        self.map = np.linalg.lstsq(around * root, self.rows[often] * root, rcond=None)[0].astype(np.float64)

    def _add(self, texts: Sequence[str], sums: Numbers, counts: NDArray[np.int64]) -> None:
        """Add to the sums of words the mean around each of their places in some texts."""
        known = [self._known(text) for text in texts]
        ids = np.concatenate([np.empty(0, dtype=np.int64), *known])
        ends = offsets_of(np.array([len(one) for one in known], dtype=np.int64))
        text = np.repeat(np.arange(len(known)), np.diff(ends))
        first = np.maximum(np.arange(len(ids)) - WINDOW, ends[text])
        last = np.minimum(np.arange(len(ids)) + WINDOW + 1, ends[text + 1])
        vectors = self.rows[ids].astype(np.float64)
        total = np.concatenate([np.zeros((1, self.love.dim)), np.cumsum(vectors, axis=0)])
        others = last - first - 1
        means = (total[last] - total[first] - vectors) / np.maximum(others, 1)[:, None]
        np.add.at(sums, ids[others > 0], means[others > 0])
        np.add.at(counts, ids[others > 0], 1)

    def _known(self, text: str) -> NDArray[np.int64]:
        rows = self.love._look_up(runs_of(text))[0]
        return rows[rows >= 0]

    def __call__(self, items: Sequence[Sequence[str]], slot: str) -> Floats:
        """The vectors of words by their sentences, in which they stand as `slot`: [len(items), dim]."""
        means = np.zeros((len(items), self.love.dim))
        for place, sentences in enumerate(items):
            rows = np.concatenate([self._known(sentence.replace(slot, " ")) for sentence in sentences])
            if len(rows):
                means[place] = self.rows[rows].mean(axis=0)
        mapped: Floats = (means @ self.map).astype(np.float32)
        return mapped
