"""Methods of other spaces beside a target: a model of other vectors than these says nothing about them by itself.

A method lives in the target's space when its vectors of the target's own words point the same way. Any other is brought
there by the map that `lovevec.attach` learns from the words that both know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.attach import Attached
from lovevec.attach.space import SAME_SPACE, mean_cosine
from lovevec.errors import LovevecError
from lovevec.methods.method import Bools, Floats, Method
from lovevec.methods.table import Table
from lovevec.vectors.rows import normalized

SAMPLE = 2000


def brought_into(table: Table, method: Method) -> Method:
    """The method itself where it lives in the table's space, else the same behind a map."""
    return method if shares_space(method, table) else Mapped(table, method)


def shares_space(method: Method, table: Table) -> bool:
    """Whether the vectors of words that both have point the same way, on average."""
    if method.dim != table.dim:
        return False
    rows = np.random.default_rng(SAMPLE).permutation(len(table.words))[:SAMPLE]
    vectors = method.embed([table.words[row] for row in rows.tolist()])
    return mean_cosine(normalized(vectors), normalized(table.vectors[rows])) >= SAME_SPACE


class Mapped(Method):
    """A method of another space behind a table: known words have the table's rows, the others the guest's vectors,
    mapped; what neither covers has zeros."""

    def __init__(self, table: Table, guest: Method) -> None:
        self.guest, self.name, self.dim = guest, guest.name, table.dim
        self.words = table.words
        self.parameters = guest.parameters._replace(embedding=guest.parameters.embedding + table.parameters.embedding)
        try:
            self.attached = Attached(_Directions(guest), (table.words, table.vectors))
        except LovevecError as error:
            raise LovevecError(f"{guest.name} beside {table.name}: {error}") from None

    def covers(self, words: Sequence[str]) -> Bools:
        """Those of the guest, and the table's own."""
        covered: Bools = self.guest.covers(words) | self.attached.known(words)
        return covered

    def embed(self, words: Sequence[str]) -> Floats:
        """The table's own rows, or the guest's vectors, mapped."""
        return self.attached.embed(words) * self.covers(words)[:, None]


class _Directions:
    """What attaching asks of a model: unit rows, and the words that they were learned from."""

    def __init__(self, guest: Method) -> None:
        self.guest, self.dim, self.words = guest, guest.dim, guest.words

    def embed(self, words: Sequence[str]) -> Floats:
        return normalized(self.guest.embed(words))
