"""Spearman's ρ, and how far a score would move with other test items.

ρ is Pearson's correlation of ranks, where equal values share the mean of their ranks. The bootstrap (Efron 1979) draws
items with replacement, as many as there are, and scores them again; the middle 95 % of such scores are the interval.
One seed draws the same items for every method.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 1000
SHARE = 0.95
NUMBERS_PER_BLOCK = 500_000  # numbers at a time: 4 MB
DrawCounts = NDArray[np.int64]


def spearman(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """ρ of two rows of numbers, -1 to 1; 0 where one of them is constant and so orders nothing."""
    return float(spearman_of_counts(one, other, np.ones((1, len(one)), dtype=np.int64))[0])


def spearman_of_counts(one: NDArray[np.floating], other: NDArray[np.floating], counts: NDArray[np.integer]) -> Floats:
    """ρ [samples] of samples in which pair i stands `counts[sample, i]` times; each sample has as many pairs.

    Values are sorted once for all samples, since a sample changes how often they stand there, not their order.
    """
    weights = counts.astype(np.float64)
    size = weights.sum(axis=1, keepdims=True)
    middle = (size + 1) / 2
    left = mean_ranks(one, weights) - middle
    right = mean_ranks(other, weights) - middle
    weighted = weights * left
    shared = np.einsum("ij,ij->i", weighted, right)
    spread = np.einsum("ij,ij->i", weighted, left) * np.einsum("ij,ij,ij->i", weights, right, right)
    varied = spread > 0
    result = np.zeros(len(weights))
    result[varied] = np.clip(shared[varied] / np.sqrt(spread[varied]), -1, 1)
    return result


def spearman_draws(one: NDArray[np.floating], other: NDArray[np.floating], resamples: int, seed: int) -> Floats:
    """ρ [resamples] of the pairs drawn anew."""
    return bootstrap(lambda counts: spearman_of_counts(one, other, counts), len(one), resamples, seed)


def mean_ranks(values: NDArray[np.floating], weights: Floats) -> Floats:
    """The rank [samples, values] of each value where it stands `weights[sample, value]` times, from 1.

    10, 20, 20, 30 once each -> 1, 2.5, 2.5, 4.
    """
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    standing = np.add.reduceat(weights[:, order], starts, axis=1)  # how often each distinct value stands there
    before = np.cumsum(standing, axis=1) - standing
    ranks: Floats = (before + (standing + 1) / 2)[:, group]
    return ranks


def bootstrap(score: Callable[[DrawCounts], Floats], items: int, resamples: int, seed: int) -> Floats:
    """The scores [resamples]; `score` takes how often each item was drawn, [samples, items], and scores each row."""
    rng = np.random.default_rng([seed, items])
    block = max(1, NUMBERS_PER_BLOCK // items)
    return np.concatenate(
        [score(draw_counts(rng, min(block, resamples - done), items)) for done in range(0, resamples, block)]
    )


def draw_counts(rng: np.random.Generator, samples: int, items: int) -> DrawCounts:
    """How often each item is drawn, [samples, items]; every row sums to `items`."""
    picks = rng.integers(items, size=(samples, items)) + items * np.arange(samples)[:, None]
    counts: DrawCounts = np.bincount(picks.ravel(), minlength=samples * items).reshape(samples, items)
    return counts


def interval(scores: Floats, share: float = SHARE) -> tuple[float, float]:
    """From where to where the middle `share` of the scores lies."""
    low, high = np.quantile(scores, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
