"""FastText: the vector of any word is the mean of its own row, if it is known, and of the rows of its n-grams.

Read from a real `.bin` model (see vectors/read/fasttext_bin.py), whose matrix stays on disk, mapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from lovevec.vectors import FastTextBin, VectorTable, read_vectors
from lovevec.vectors.read.fasttext_bin import END_OF_SENTENCE, ngram_buckets
from lovevec.vectors.read.words import decode_words
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters


class FastText(Method):
    """A fastText model under the name that tables give it; a word of which it has no row at all has zeros."""

    def __init__(self, path: str | Path, name: str) -> None:
        self.model = FastTextBin(path)
        self.name, self.dim = name, self.model.dim
        self.parameters = Parameters(self.model.matrix.size)

    @cached_property
    def words(self) -> list[str]:  # type: ignore[override]
        """The known words."""
        return [word for word in decode_words(self.model.words) if word is not None]

    @cached_property
    def table(self) -> VectorTable:  # type: ignore[override]
        """The vectors of the known words."""
        return read_vectors(self.model.path)

    def covers(self, words: Sequence[str]) -> Bools:
        """Words that are known, or long enough to have an n-gram."""
        spelled = [word.encode(errors="surrogatepass") for word in words]
        known = np.array([word in self.model.rows for word in spelled], dtype=np.bool_)
        owners, _ = ngram_buckets(spelled, self.model.minn, self.model.maxn, self.model.buckets)
        known[owners] = True
        for place, word in enumerate(spelled):
            if word == END_OF_SENTENCE:  # to fastText it has no spelling
                known[place] = word in self.model.rows
        return known

    def embed(self, words: Sequence[str]) -> Floats:
        """As fastText computes them."""
        return self.model.vectors(words)
