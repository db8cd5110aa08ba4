"""Plug and play: known words keep their own vectors, the others get theirs from a model.

A method lives in a table's space when its vectors of the table's own words point the same way. Any other says nothing
about them by itself, and is brought there by the map that `lovevec.attach` learns from the words that both know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.attach import Attached
from lovevec.attach.space import SAME_SPACE, mean_cosine
from lovevec.errors import LovevecError
from lovevec.vectors.rows import normalized
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters
from lovevec_lab.methods.table import Table

WORDS_COMPARED = 2000


class AttachedMethod(Method):
    """A table with a model behind it, in the table's space and at a length that fits (see `lovevec.attach`)."""

    def __init__(self, table: Table, model: Method, name: str = "") -> None:
        self.name = name or f"{table.name} + {model.name}"
        self.dim = table.dim
        self.parameters = Parameters(table.parameters.embedding + model.parameters.embedding, model.parameters.others)
        self.model, self.words, self.table = model, table.words, table.table
        try:
            self.attached = Attached(model.attachable(), (table.words, table.vectors))
        except LovevecError as error:
            raise LovevecError(f"{table.name} with {model.name} behind it: {error.message}") from None

    def covers(self, words: Sequence[str]) -> Bools:
        """Known words, and those that the model covers."""
        covered: Bools = self.attached.known(words) | self.model.covers(words)
        return covered

    def embed(self, words: Sequence[str]) -> Floats:
        """Their own rows, or imputed ones."""
        return self.attached.embed(words)


class MappedMethod(AttachedMethod):
    """A method of another space under its own name; what neither it nor the table covers has zeros."""

    def __init__(self, table: Table, guest: Method) -> None:
        super().__init__(table, guest, guest.name)

    def embed(self, words: Sequence[str]) -> Floats:
        """The table's own rows, or the guest's vectors, mapped."""
        return super().embed(words) * self.covers(words)[:, None]


def in_space_of(table: Table, method: Method) -> Method:
    """The method itself where it lives in the table's space, else the same behind a map."""
    return method if shares_space(method, table) else MappedMethod(table, method)


def shares_space(method: Method, table: Table) -> bool:
    """Whether the vectors of words that both have point the same way, on average."""
    if method.dim != table.dim:
        return False
    rows = np.random.default_rng(WORDS_COMPARED).permutation(len(table.words))[:WORDS_COMPARED]
    vectors = method.embed([table.words[row] for row in rows.tolist()])
    return mean_cosine(normalized(vectors), normalized(table.vectors[rows])) >= SAME_SPACE
