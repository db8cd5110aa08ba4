"""LOVE as a method: every word's vector made from its spelling, as in the paper; and LOVE + near, which gives known
words their own vector and reads misspellings as known words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.units.ragged import spread
from lovevec.units.vocabulary import SPECIAL
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters


def _parameters(love: LOVE) -> Parameters:
    """As counted when it was trained."""
    try:
        counts = Parameters(**love.metadata["parameters"])
        sane = all(type(count) is int and count >= 0 for count in counts)
    except (KeyError, TypeError):
        sane = False
    if not sane:
        raise LovevecError("config.json: `parameters` is not what lovevec writes there; train again")
    return counts


class LoveMethod(Method):
    """A loaded model as a method; it has a vector for every string, whether or not it knows anything of it. With `near`
    it reads strings as the model does by default, else by spelling only."""

    def __init__(self, love: LOVE, name: str, near: bool = False) -> None:
        self.love = love if love.spelling_only != near else love.copy(spelling_only=not near)
        self.name, self.dim, self.words = name, love.dim, love.words
        network = _parameters(love)
        table = love.parts.rows.parameters if near and love.parts.rows is not None else 0
        self.parameters = network._replace(embedding=network.embedding + table)

    def beside(self) -> list[Method]:
        """The same model with near, where it holds the known words' own vectors."""
        if not self.love.spelling_only or self.love.parts.rows is None:
            return []
        return [LoveMethod(self.love, f"{self.name} + near", near=True)]

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
