"""Spearman's ρ: Pearson's correlation of ranks, where equal values share the mean of their ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
