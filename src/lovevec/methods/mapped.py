"""Methods of other spaces beside a target: a model of other vectors than these says nothing about them by itself.

A method lives in the target's space when its vectors of the target's own words point the same way. Any other is brought
there by the map that `lovevec.attach` learns from the words that both know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.attach.space import SAME_SPACE
from lovevec.errors import LovevecError
from lovevec.methods.fasttext import FastText
from lovevec.methods.method import Floats, Method
from lovevec.methods.model import Model
from lovevec.methods.plugged import Plugged
from lovevec.methods.table import Table
from lovevec.vectors.normalized import normalized

SAMPLE = 2000


def shares_space(method: Method, table: Table) -> bool:
    """Whether the vectors of words that both have point the same way, on average."""
    if method.dim != table.dim:
        return False
    rows = np.random.default_rng(SAMPLE).permutation(len(table.words))[:SAMPLE]
    made = normalized(method.embed([table.words[row] for row in rows.tolist()]))
    made_some = made.any(axis=1)
    cosine = (made * normalized(table.vectors[rows])).sum(axis=1)[made_some]
    return bool(len(cosine) and cosine.mean() >= SAME_SPACE)


def brought_into(table: Table, method: Method) -> Method:
    """The method itself where it lives in the table's space, else the same behind a map."""
    if shares_space(method, table):
        return method
    if isinstance(method, Model):
        return Plugged(table, method, method.name)
    if isinstance(method, (Table, FastText)):
        return Mapped(table, method)
    raise LovevecError(f"{method.name}: its vectors are of another space than {table.name}; name a model or a file")


class Mapped(Method):
    """Somebody's vectors, in the space of a table; what they do not cover has zeros as before."""

    def __init__(self, table: Table, guest: Table | FastText) -> None:
        self.guest, self.name, self.dim = guest, guest.name, table.dim
        self.words = table.words
        self.parameters = guest.parameters._replace(embedding=guest.parameters.embedding + table.parameters.embedding)
        try:
            self.attached = Attached(_Directions(guest), (table.words, table.vectors))
        except LovevecError as error:
            raise LovevecError(f"{guest.name} beside {table.name}: {error}") from None

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Those of the guest, and the table's own."""
        covered: NDArray[np.bool_] = self.guest.covers(words) | self.attached.known(words)
        return covered

    def embed(self, words: Sequence[str]) -> Floats:
        """The table's own rows, or the guest's, mapped."""
        return self.attached.embed(words) * self.covers(words)[:, None]


class _Directions:
    """What attaching asks of a model: unit rows, and the words that they were learned from."""

    def __init__(self, guest: Table | FastText) -> None:
        self.guest, self.dim, self.words = guest, guest.dim, guest.words

    def embed(self, words: Sequence[str]) -> Floats:
        return normalized(self.guest.embed(words))
