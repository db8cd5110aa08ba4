from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.errors import LovevecError
from lovevec.evaluate.kmeans import kmeans, lloyd, plus_plus

# Points on a small grid: many of them alike, many distances equal.
POINTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25).map(
    lambda rows: np.array(rows, dtype=np.float64)
)


def inertia(points: np.ndarray, labels: np.ndarray) -> float:
    """By the definition: squared distances to the mean of one's cluster."""
    return sum(((points[labels == one] - points[labels == one].mean(axis=0)) ** 2).sum() for one in set(labels))


def made_points(seed: int, n: int = 60, dim: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim))


@settings(deadline=None)
@given(POINTS, st.integers(1, 25), st.integers(0, 99))
def test_inertia_never_rises_and_no_cluster_is_empty(points, k, seed):
    k = min(k, len(points))
    found = kmeans(points, k, np.random.default_rng(seed), restarts=3)
    assert sorted(set(found.labels.tolist())) == list(range(k))
    assert (np.diff(found.inertias) <= 1e-9).all()
    assert found.inertia == pytest.approx(inertia(points, found.labels), abs=1e-9)
    for one in range(k):
        np.testing.assert_allclose(found.centres[one], points[found.labels == one].mean(axis=0), atol=1e-12)


def test_at_the_end_every_point_is_with_its_nearest_centre():
    points = made_points(1)
    found = kmeans(points, 6, np.random.default_rng(0))
    distances = ((points[:, None] - found.centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.labels, distances.argmin(axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_goes_from_the_same_start(seed):
    cluster = pytest.importorskip("sklearn.cluster")
    points = made_points(seed, n=200, dim=8)
    start = points[np.random.default_rng(seed).choice(200, 9, replace=False)]
    labels, centres, inertias = lloyd(points, start[None])
    theirs = cluster.KMeans(9, init=start, n_init=1, tol=0, algorithm="lloyd").fit(points)
    np.testing.assert_array_equal(labels[0], theirs.labels_)
    np.testing.assert_allclose(centres[0], theirs.cluster_centers_, atol=1e-10)
    assert inertias[-1, 0] == pytest.approx(theirs.inertia_)


def test_as_good_as_scikit_learn_from_own_starts():
    cluster = pytest.importorskip("sklearn.cluster")
    points = made_points(7, n=150, dim=10)
    ours = [kmeans(points, 12, np.random.default_rng(seed), 5).inertia for seed in range(10)]
    theirs = [cluster.KMeans(12, n_init=5, random_state=seed).fit(points).inertia_ for seed in range(10)]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_many_restarts_find_the_best_of_all_partitions(seed):
    points = made_points(seed, n=8, dim=2)
    partitions = (np.array(labels) for labels in product(range(3), repeat=8) if len(set(labels)) == 3)
    best = min(inertia(points, labels) for labels in partitions)
    assert kmeans(points, 3, np.random.default_rng(seed), restarts=60).inertia == pytest.approx(best)


def test_clusters_far_apart_are_found():
    classes = np.repeat(np.arange(20), 15)
    points = 100 * np.random.default_rng(0).normal(size=(20, 16))[classes] + made_points(1, 300, 16)
    labels = kmeans(points, 20, np.random.default_rng(0)).labels
    assert len({*zip(classes.tolist(), labels.tolist(), strict=True)}) == 20


def test_each_restart_is_a_run_of_its_own_and_the_best_wins():
    points = made_points(3)
    start = points[plus_plus(points, 7, np.random.default_rng(2), 6)]
    labels, centres, inertias = lloyd(points, start)
    alone = [lloyd(points, one[None]) for one in start]
    for run, (own_labels, own_centres, own_inertias) in enumerate(alone):
        np.testing.assert_array_equal(labels[run], own_labels[0])
        np.testing.assert_allclose(centres[run], own_centres[0])
        assert inertias[-1, run] == pytest.approx(own_inertias[-1, 0])
    assert kmeans(points, 7, np.random.default_rng(2), 6).inertia == pytest.approx(min(inertias[-1]))


def test_starts_are_distinct_points_while_there_are_any():
    points = np.repeat(made_points(5, n=9, dim=3), 4, axis=0)
    for rows in plus_plus(points, 9, np.random.default_rng(0), 20):
        assert len(np.unique(points[rows], axis=0)) == 9


def test_points_all_alike_are_no_trouble():
    found = kmeans(np.zeros((10, 3)), 4, np.random.default_rng(0))
    assert found.inertia == 0
    assert set(found.labels.tolist()) == {0, 1, 2, 3}


def test_the_seed_decides():
    points = made_points(2)
    first, again = (kmeans(points, 5, np.random.default_rng([1, 2]), 1).labels for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("k", [0, 11])
def test_more_clusters_than_points_are_refused(k):
    with pytest.raises(LovevecError, match=f"{k} clusters of 10 points"):
        kmeans(np.zeros((10, 2)), k, np.random.default_rng(0))
