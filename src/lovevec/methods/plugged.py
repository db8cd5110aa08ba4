"""Plug and play: known words keep their own vectors, the others get theirs from a model."""

from __future__ import annotations

from collections.abc import Sequence

from lovevec.attach import Attached
from lovevec.errors import LovevecError
from lovevec.methods.method import Bools, Floats, Method, Parameters
from lovevec.methods.table import Table


class Plugged(Method):
    """A table with a model behind it, in the table's space and at a length that fits (see `lovevec.attach`)."""

    def __init__(self, table: Table, model: Method, name: str = "") -> None:
        self.name = name or f"{table.name} + {model.name}"
        self.dim = table.dim
        self.parameters = Parameters(table.parameters.embedding + model.parameters.embedding, model.parameters.others)
        self.model, self.words, self.table = model, table.words, table.table
        try:
            self.attached = Attached(model.attachable(), (table.words, table.vectors))
        except LovevecError as error:
            raise LovevecError(f"{table.name} with {model.name} behind it: {error}") from None

    def covers(self, words: Sequence[str]) -> Bools:
        """Known words, and those that the model covers."""
        covered: Bools = self.attached.known(words) | self.model.covers(words)
        return covered

    def embed(self, words: Sequence[str]) -> Floats:
        """Their own rows, or imputed ones."""
        return self.attached.embed(words)
