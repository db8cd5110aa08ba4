from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lovevec_lab.evaluate.statistics import mean_ranks, spearman, spearman_of_counts

# Few distinct values, so that ties are the rule.
NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40)


def test_ranks_of_the_docstring():
    np.testing.assert_array_equal(mean_ranks(np.array([10.0, 20, 20, 30]), np.ones((1, 4))), [[1, 2.5, 2.5, 4]])


def test_a_published_example():
    """IQ and hours of television a week of ten people; ρ = -29/165."""
    iq = np.array([106.0, 86, 100, 101, 99, 103, 97, 113, 112, 110])
    hours = np.array([7.0, 0, 27, 50, 28, 29, 20, 12, 6, 17])
    assert spearman(iq, hours) == pytest.approx(-29 / 165, abs=1e-14)


@given(PAIRS)
def test_as_scipy_has_it(pairs):
    one, other = np.array(pairs).T
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert spearman(one, other) == 0
    else:
        assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_ranks_as_scipy_has_them(values):
    np.testing.assert_array_equal(mean_ranks(np.array(values), np.ones((1, len(values))))[0], stats.rankdata(values))


@given(PAIRS, st.integers(0, 1000))
def test_a_sample_by_counts_is_the_sample_written_out(pairs, seed):
    one, other = np.array(pairs).T
    counts = np.random.default_rng(seed).integers(0, 4, size=(3, len(one)))
    counts[:, 0] += 1
    found = spearman_of_counts(one, other, counts)
    for rho, row in zip(found, counts, strict=True):
        assert rho == pytest.approx(spearman(np.repeat(one, row), np.repeat(other, row)), abs=1e-12)


@given(PAIRS)
def test_only_the_order_counts(pairs):
    one, other = (stats.rankdata(row) for row in np.array(pairs).T)
    rho = spearman(one, other)
    assert spearman(other, one) == pytest.approx(rho, abs=1e-12)
    assert spearman(one**3 + 7, other) == pytest.approx(rho, abs=1e-12)
    assert spearman(-one, other) == pytest.approx(-rho, abs=1e-12)
    assert -1 <= rho <= 1
