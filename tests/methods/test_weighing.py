"""Attention over candidates: the gradient, and that it learns."""

from __future__ import annotations

import numpy as np

from lovevec.methods.weighing import Examples, attention, cosine_and_slope, fit


def made(n: int = 60, k: int = 5, seed: int = 0):
    """Examples in which the first feature tells the right candidate, the second is noise."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(n, 12))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    vectors = rng.normal(size=(n, k, 12))
    features = rng.normal(size=(n, k, 2)) * [0.2, 1]
    right = rng.integers(0, k - 1, n)
    vectors[np.arange(n), right] = own * 3
    features[np.arange(n), right, 0] += 1
    there = np.ones((n, k), bool)
    there[:, -1] = rng.random(n) < 0.5
    products = (vectors @ own[:, :, None])[:, :, 0]
    return Examples(features, there, products, vectors @ vectors.transpose(0, 2, 1)), vectors, own


def test_the_cosine_is_that_of_the_estimates():
    examples, vectors, own = made()
    theta = np.array([0.7, -1.3])
    weights = attention(examples.features, examples.there, theta)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert not weights[~examples.there].any()
    estimate = (weights[:, :, None] * vectors).sum(axis=1)
    cosine = (estimate * own).sum(axis=1) / np.linalg.norm(estimate, axis=1)
    np.testing.assert_allclose(cosine_and_slope(examples, theta)[0], cosine.mean())


def test_the_gradient_is_that_of_finite_differences():
    examples, _, _ = made()
    theta, step = np.array([0.7, -1.3]), 1e-6
    slope = cosine_and_slope(examples, theta)[1]
    for place in range(2):
        aside = np.eye(2)[place] * step
        above, below = (cosine_and_slope(examples, theta + side)[0] for side in (aside, -aside))
        np.testing.assert_allclose(slope[place], (above - below) / (2 * step), rtol=1e-5)


def test_what_is_learned_holds_for_other_examples():
    theta = fit(made()[0])
    other = made(seed=1)[0]
    before, after = cosine_and_slope(other, np.zeros(2))[0], cosine_and_slope(other, theta)[0]
    assert theta[0] > 3 * abs(theta[1])
    assert after > max(before + 0.15, 0.9)


def test_without_candidates_there_is_nothing_to_weigh():
    assert not attention(np.ones((2, 3, 1)), np.zeros((2, 3), bool), np.ones(1)).any()
    examples = Examples(np.ones((2, 3, 1)), np.zeros((2, 3), bool), np.zeros((2, 3)), np.zeros((2, 3, 3)))
    assert np.isfinite(fit(examples)).all()
