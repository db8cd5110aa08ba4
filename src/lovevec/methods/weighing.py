"""Attention over a handful of candidates: a softmax of a weighted sum of their features, learned from examples.

For an example with candidates i, features f_i and vectors v_i, the estimate of its vector u is

    e = Σ a_i v_i,   a = softmax(θ · f_i)

and θ is chosen so that the mean cosine of e and u is largest. The cosine needs only the products c_i = v_i · u and
M_ij = v_i · v_j, so that examples of any width are learned from at the price of a few hundred numbers each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS, RATE = 200, 0.2
SLOW, SLOWER, TINY = 0.9, 0.999, 1e-12


@dataclass(frozen=True, eq=False)
class Examples:
    """`features` [n, k, f], `there` [n, k] (which candidates there are), `own` [n, k] = c, `between` [n, k, k] = M;
    u is of unit length."""

    features: Floats
    there: NDArray[np.bool_]
    own: Floats
    between: Floats


def attention(features: Floats, there: NDArray[np.bool_], theta: Floats) -> Floats:
    """a [n, k]; all zeros where there is no candidate."""
    score = np.where(there, features @ theta, -np.inf)
    most = score.max(axis=1, keepdims=True, initial=-np.inf)
    grown = np.exp(score - np.where(np.isfinite(most), most, 0)) * there
    result: Floats = grown / np.maximum(grown.sum(axis=1, keepdims=True), TINY)
    return result


def cosine_and_slope(examples: Examples, theta: Floats) -> tuple[float, Floats]:
    """The mean cosine of the estimates and its gradient by θ."""
    a = attention(examples.features, examples.there, theta)
    spread = np.matmul(examples.between, a[:, :, None])[:, :, 0]
    product = (a * examples.own).sum(axis=1, keepdims=True)
    length = np.sqrt(np.maximum((a * spread).sum(axis=1, keepdims=True), TINY))
    by_a = examples.own / length - product * spread / length**3
    by_score = a * (by_a - (a * by_a).sum(axis=1, keepdims=True))
    slope: Floats = np.einsum("nk,nkf->f", by_score, examples.features) / len(a)
    return float((product / length).mean()), slope


def fit(examples: Examples) -> Floats:
    """θ [f], from zeros, by Adam on all examples at once."""
    theta = np.zeros(examples.features.shape[2])
    mean, square = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, STEPS + 1):
        slope = cosine_and_slope(examples, theta)[1]
        mean = SLOW * mean + (1 - SLOW) * slope
        square = SLOWER * square + (1 - SLOWER) * slope**2
        theta += RATE * (mean / (1 - SLOW**step)) / (np.sqrt(square / (1 - SLOWER**step)) + TINY)
    return theta
