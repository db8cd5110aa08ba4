"""Small tables for the rivals, and strings that programs stumble over."""

from __future__ import annotations

import numpy as np
from tests.factories import toy_vectors, toy_words

from lovevec.vectors import ReadReport, VectorTable
from lovevec_lab.methods.table import Table

NASTY = ["", " ", "\t\n", "\0", "🙂", "\ud800", "שלום", "e\u0301", "İ", "-", "x" * 100_000, "a b", "'"]


def table_of(words: list[str], vectors: np.ndarray | None = None, name: str = "made") -> Table:
    """A table of the words; without vectors each has a random one."""
    if vectors is None:
        vectors = np.random.default_rng(len(words)).normal(size=(len(words), 8))
    return Table(VectorTable(list(words), np.asarray(vectors, np.float32), ReadReport("memory")), name)


def made_table(count: int, dim: int = 16, seed: int = 0) -> Table:
    """Words of stems and endings, vectors by their parts."""
    words = toy_words(count, seed)
    return table_of(words, toy_vectors(words, dim, seed))
