"""A model that was learned by mimicry, LOVE or a rival: every word's vector is made from its spelling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.love import LOVE
from lovevec.rivals.method import Floats, Parameters
from lovevec.unfolded import Unfolded


class Model:
    """A loaded model as a method; it has a vector for every string."""

    def __init__(self, love: LOVE, name: str) -> None:
        self.love, self.name, self.dim = love, name, love.dim
        self.parameters = Parameters(**love.about["parameters"])

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(len(words), dtype=np.bool_)

    def embed(self, words: Sequence[str]) -> Floats:
        """As the model makes them; those of a model that mimics whole vectors have the lengths that it has learned."""
        if self.love.parts.spec.raw and isinstance(self.love.engine, Unfolded):
            return self.love.engine.as_trained(list(words))
        return self.love.embed(list(words), progress=False)
