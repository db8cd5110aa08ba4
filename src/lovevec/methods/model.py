"""LOVE as a method: every word's vector is made from its spelling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.love import LOVE
from lovevec.methods.method import Bools, Floats, Method, Parameters
from lovevec.units.ragged import spread
from lovevec.units.vocabulary import SPECIAL


class Model(Method):
    """A loaded model as a method; it has a vector for every string, whether or not it knows anything of it."""

    def __init__(self, love: LOVE, name: str) -> None:
        self.love, self.name, self.dim = love, name, love.dim
        self.words = love.words
        self.parameters = Parameters(**love.metadata["parameters"])

    def covers(self, words: Sequence[str]) -> Bools:
        """Words that have a unit which the model knows: of any other its vector is that of [UNK]."""
        rows = self.love.parts.units.encode(list(words))
        owner = spread(np.arange(len(words)), rows.lengths)
        known: Bools = np.bincount(owner[rows.values >= len(SPECIAL)], minlength=len(words)) > 0
        return known

    def embed(self, words: Sequence[str]) -> Floats:
        """As the model makes them, of unit length."""
        return self.love.embed(list(words), progress=False)

    def attachable(self) -> LOVE:
        """The model itself, which also knows how sure it is of a word."""
        return self.love
