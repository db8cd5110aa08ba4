"""From the model's space to the table's.

Where the model was trained on these very vectors its directions are used as they are. Else words are brought over in
two steps, learned once, at attaching:

    map         ridge regression from the model's vectors of the shared words to their own directions
    neighbors  what the map misses for the 30 nearest known words, it will miss for this word too: it is added

Measured in runs/attach.py: beside the map alone, the neighbors bring a word's own vector among the 10 nearest about
twice as often, for words never seen and for typos; in the same space they change little. The price is a search for each
imputed word: some thousand words a second, where the model alone does a hundred thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.neighbors import Neighbors
from lovevec.attach.ridge import ridge
from lovevec.attach.sample import Sample
from lovevec.errors import LovevecError
from lovevec.vectors.rows import normalized, rows_times

Floats = NDArray[np.float32]
STRENGTH = 0.01
SAME_SPACE = 0.2  # mean cosine; two spaces that have nothing to do with each other stay within ±0.05
CHUNK = 512


@dataclass(frozen=True)
class Fit:
    """How well held-out words are met: mean cosine to their own vector, and how often that is among the 10 nearest."""

    cosine: float
    top10: float


@dataclass(frozen=True, eq=False)
class Map:
    """The linear map, and the neighbors that mend it."""

    slope: Floats
    neighbors: Neighbors

    def __call__(self, made: Floats) -> Floats:
        """Unit rows of the model -> unit rows in the table's space."""
        result = np.empty((len(made), self.slope.shape[1]), dtype=np.float32)
        for low in range(0, len(made), CHUNK):
            part = made[low : low + CHUNK]
            near_made, near_own = self.neighbors(part)
            # map(part) + near_own - map(near_made): the map is linear, and its offset falls out
            result[low : low + CHUNK] = normalized(rows_times(part - near_made, self.slope) + near_own)
        return result


@dataclass(frozen=True, eq=False)
class Space:
    """What was chosen, and how well it does; `map` is None where model and table share a space."""

    map: Map | None
    shared: int
    direct: Fit | None
    mapped: Fit | None

    def __call__(self, made: Floats) -> Floats:
        """Unit rows of the model -> unit rows in the table's space."""
        return made if self.map is None else self.map(made)

    @property
    def summary(self) -> str:
        """In a few words."""
        fit = self.mapped if self.map else self.direct
        good = f", cosine {fit.cosine:.3f} on held-out words" if fit else ""
        return f"{'mapped' if self.map else 'direct'}, {self.shared:,} shared words{good}"

    @property
    def metadata(self) -> dict[str, Any]:
        """Which way was taken, and how well the ways that were tried do on held-out shared words."""
        return {
            "space": "mapped" if self.map else "direct",
            "shared words": self.shared,
            "direct": dict(vars(self.direct)) if self.direct else None,
            "mapped": dict(vars(self.mapped)) if self.mapped else None,
        }


def fit_space(sample: Sample, space: Literal["auto", "direct", "mapped"], pool: Callable[[], Neighbors]) -> Space:
    """Take the model's own directions where shared words show that it lives in the table's space, else fit a map.

    `pool` makes the neighbors; it is called only when a map is needed.
    """
    if space not in ("auto", "direct", "mapped"):
        raise LovevecError(f"space is {space!r}: must be 'auto', 'direct' or 'mapped'")
    made, own = sample.made, normalized(sample.own)
    from_dim, to_dim = made.shape[1], own.shape[1]
    if space == "direct" and from_dim != to_dim:
        raise LovevecError(f"space is 'direct', but the model has {from_dim} dimensions and the vectors {to_dim}")
    held = slice(0, sample.tested)
    direct = fit_of(made[held], own) if from_dim == to_dim and sample.tested else None
    if space == "direct":
        return Space(None, sample.shared, direct, None)
    if space == "auto" and from_dim == to_dim and len(made) and (made * own).sum(axis=1).mean() >= SAME_SPACE:
        return Space(None, sample.shared, direct, None)
    if sample.shared < 2 * from_dim:
        raise LovevecError(
            f"the model and these vectors share {sample.shared:,} words, too few to get from one space to the other "
            f"(at least {2 * from_dim:,} are needed); train a model on the vectors themselves: lovevec train"
        )
    slope, _ = ridge(made[sample.tested :], own[sample.tested :], STRENGTH)
    neighbors = pool()
    checked = Map(slope, neighbors.without(sample.rows[held]))
    return Space(Map(ridge(made, own, STRENGTH)[0], neighbors), sample.shared, direct, fit_of(checked(made[held]), own))


def fit_of(made: Floats, own: Floats) -> Fit:
    """Compare rows with the first rows of `own`, which are theirs, among all of them."""
    cosine = made @ own.T
    mine = np.diagonal(cosine)
    before = (cosine > mine[:, None]).sum(axis=1)
    return Fit(round(float(mine.mean()), 4), round(float((before < 10).mean()), 4))
