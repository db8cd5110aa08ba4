"""Word clusters: do words of a class come together? K-means on unit-length vectors, scored by purity.

As many clusters as classes, if not told otherwise. K-means depends on its start, so several seeds are averaged.
Words that a method has no vector for stay in, as zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.evaluate.data.classes import Classes
from lovevec.evaluate.kmeans import RESTARTS, kmeans
from lovevec.evaluate.similarity import unit_rows
from lovevec.methods.method import Method, Parameters

SEEDS = 10


@dataclass(frozen=True)
class SetPurity:
    """Purity x 100 on a set: each seed's, their mean and standard deviation; how many of the words were covered."""

    name: str
    words: int
    classes: int
    k: int
    covered: int
    purity: float
    deviation: float
    purities: list[float]


@dataclass(frozen=True)
class Clusters:
    """A method's scores, and their mean over the sets."""

    method: str
    parameters: Parameters
    sets: list[SetPurity]
    mean: float

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "parameters": self.parameters._asdict()}


def clusters(
    method: Method,
    sets: Sequence[Classes],
    k: int | None = None,
    seeds: int = SEEDS,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> Clusters:
    """Score a method on each set; `k`: how many clusters, the number of classes if not given."""
    if not sets:
        raise LovevecError("clusters: no sets to score on")
    scores = [_score(method, words, k, seeds, restarts, seed) for words in sets]
    return Clusters(method.name, method.parameters, scores, float(np.mean([score.purity for score in scores])))


def _score(method: Method, of: Classes, k: int | None, seeds: int, restarts: int, seed: int) -> SetPurity:
    names, classes = np.unique(of.classes, return_inverse=True)
    points = unit_rows(method, of.words)
    k = k or len(names)
    purities = [
        100 * purity(kmeans(points, k, np.random.default_rng([seed, run]), restarts).labels, classes)
        for run in range(seeds)
    ]
    return SetPurity(
        of.name,
        len(of.words),
        len(names),
        k,
        int(method.covers(of.words).sum()),
        float(np.mean(purities)),
        float(np.std(purities, ddof=1)) if seeds > 1 else 0.0,
        purities,
    )


def purity(labels: NDArray[np.integer], classes: NDArray[np.integer]) -> float:
    """The share of items that are of the most frequent class of their cluster. Clusters aab, bb -> 4/5."""
    table = np.zeros((labels.max() + 1, classes.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, classes), 1)
    return float(table.max(axis=1).sum() / len(labels))
