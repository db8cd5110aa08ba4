from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from lovevec_lab.evaluate.statistics import bootstrap, draw_counts, interval, spearman_of_counts


def means(values: np.ndarray):
    """Scores a sample by the mean of its items."""
    return lambda counts: counts @ values / counts.sum(axis=1)


def test_every_sample_has_as_many_items_as_there_are():
    counts = draw_counts(np.random.default_rng(0), 200, 13)
    assert counts.shape == (200, 13)
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == 13).all()
    # A binomial of 13 tries with chance 1/13 each: mean 1, variance 12/13.
    assert counts.mean() == 1
    assert counts.var() == pytest.approx(12 / 13, rel=0.1)


def test_the_scores_are_those_of_all_possible_samples():
    values = np.array([0.0, 1, 5, 11])
    possible = np.array([np.mean(sample) for sample in product(values, repeat=4)])
    found = bootstrap(means(values), 4, 20_000, seed=3)
    assert set(found.tolist()) <= set(possible.tolist())
    assert stats.ks_2samp(found, possible).statistic < 0.02
    assert interval(found) == pytest.approx(np.quantile(possible, [0.025, 0.975]), abs=0.5)


@pytest.mark.parametrize("items", [1, 7, 3000])
def test_the_same_seed_draws_the_same_however_much_is_scored_at_once(items, monkeypatch):
    values = np.random.default_rng(1).normal(size=items)
    first = bootstrap(means(values), items, 50, seed=4)
    assert len(first) == 50
    np.testing.assert_array_equal(bootstrap(means(values), items, 50, seed=4), first)
    monkeypatch.setattr("lovevec_lab.evaluate.statistics.NUMBERS_PER_BLOCK", 10)
    np.testing.assert_allclose(bootstrap(means(values), items, 50, seed=4), first)
    if items > 1:
        assert (bootstrap(means(values), items, 50, seed=5) != first).any()


def test_the_interval_holds_the_middle_of_the_scores():
    assert interval(np.arange(1001.0)) == pytest.approx((25, 975))
    assert interval(np.arange(1001.0), share=0.5) == pytest.approx((250, 750))
    assert interval(np.array([3.0])) == (3, 3)


def test_95_of_100_intervals_hold_the_truth():
    """GoldPairs of normal numbers with correlation 0.6, for which Spearman's ρ is 6/π·asin(0.3)."""
    truth = 6 / np.pi * np.arcsin(0.3)
    rng = np.random.default_rng(0)
    held = 0
    for trial in range(200):
        one, other = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=120).T
        low, high = interval(
            bootstrap(lambda counts, a=one, b=other: spearman_of_counts(a, b, counts), 120, 200, seed=trial)
        )
        held += low <= truth <= high
    assert 180 <= held <= 199
