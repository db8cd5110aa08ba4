"""K-means: Lloyd's rounds from a k-means++ start (Arthur and Vassilvitskii 2007), the best of some restarts.

All restarts go side by side, so that a round is two matrix products however many they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError

RESTARTS = 10
MOST_ROUNDS = 300
ROUNDING = 1e-12  # a smaller share of the sum of squares is no progress
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clustering:
    """`labels` [points], `centres` [k, dim]; `inertias` [rounds]: the sum of squared distances to the own centre."""

    labels: Labels
    centres: Floats
    inertias: Floats

    @property
    def inertia(self) -> float:
        """What K-means makes small."""
        return float(self.inertias[-1])


def kmeans(points: Floats, k: int, rng: np.random.Generator, restarts: int = RESTARTS) -> Clustering:
    """The clustering of least inertia among `restarts`, of points [n, dim] into k; no cluster is empty."""
    if not 1 <= k <= len(points):
        raise LovevecError(f"K-means: {k} clusters of {len(points)} points; k must be from 1 to the number of points")
    labels, centres, inertias = lloyd(points, points[plus_plus(points, k, rng, restarts)])
    best = int(inertias[-1].argmin())
    return Clustering(labels[best], centres[best], inertias[:, best])


def plus_plus(points: Floats, k: int, rng: np.random.Generator, restarts: int) -> Labels:
    """The rows of k points for each restart, [restarts, k]: spread out, yet random.

    Of a few points drawn by their squared distance to those chosen before, the one that brings all points nearest is
    chosen: the greedy form that its authors advise.
    """
    trials = 2 + int(np.log(k))
    chosen = rng.integers(len(points), size=(restarts, 1))
    nearest = _distances(points, points[chosen])[:, 0]
    while chosen.shape[1] < k:
        drawn = _draw(nearest, trials, rng)
        nearer = np.minimum(nearest[:, None], _distances(points, points[drawn]))
        best = nearer.sum(axis=2).argmin(axis=1)
        runs = np.arange(restarts)
        chosen = np.column_stack([chosen, drawn[runs, best]])
        nearest = nearer[runs, best]
    return chosen


def _draw(weights: Floats, count: int, rng: np.random.Generator) -> Labels:
    """`count` rows for each restart, drawn by `weights` [restarts, n]; the last ones where all weights are 0."""
    sums = np.cumsum(weights, axis=1)
    at = rng.random((len(weights), count)) * sums[:, -1:]
    rows = np.stack([np.searchsorted(row, spots, side="right") for row, spots in zip(sums, at, strict=True)])
    result: Labels = np.minimum(rows, weights.shape[1] - 1)
    return result


def lloyd(points: Floats, centres: Floats) -> tuple[Labels, Floats, Floats]:
    """Points to the nearest centre, centres to the middle of their points, until no inertia falls any more.

    centres [restarts, k, dim] -> labels [restarts, n], centres, inertias [rounds, restarts].
    """
    total = float((points**2).sum())
    inertias: list[Floats] = []
    for _ in range(MOST_ROUNDS):
        labels = _assigned(_distances(points, centres))
        members = (labels[:, None] == np.arange(centres.shape[1])[:, None]).astype(np.float64)  # [restarts, k, n]
        sizes = members.sum(axis=2)
        centres = members @ points / sizes[..., None]
        inertias.append(total - (sizes * (centres**2).sum(axis=2)).sum(axis=1))
        if len(inertias) > 1 and (inertias[-1] > inertias[-2] - ROUNDING * total).all():
            break
    return labels, centres, np.maximum(inertias, 0)


def _distances(points: Floats, centres: Floats) -> Floats:
    """Squared distances: points [n, dim], centres [restarts, k, dim] -> [restarts, k, n]."""
    flat = centres.reshape(-1, points.shape[1])
    squares = (points**2).sum(axis=1) + (flat**2).sum(axis=1)[:, None]
    result: Floats = np.maximum(squares - 2 * (flat @ points.T), 0)
    return result.reshape(*centres.shape[:2], len(points))


def _assigned(distances: Floats) -> Labels:
    """The nearest centre of each point, [restarts, n]; a centre that no point chose takes one from another."""
    k = distances.shape[1]
    labels: Labels = distances.argmin(axis=1)
    own = distances.min(axis=1)
    for mine, far in zip(labels, own, strict=True):
        for empty in np.flatnonzero(np.bincount(mine, minlength=k) == 0):
            spare = np.bincount(mine, minlength=k)[mine] > 1  # taking it leaves no other centre empty
            mine[np.where(spare, far, -1).argmax()] = empty
    return labels
