from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lovevec_lab.figures.labels import GAP, apart, find_places

places = st.lists(st.integers(-3, 15), min_size=1, max_size=3)


@given(places, st.sampled_from([0.0, 1.0, 2.0, 4.0]))
def test_a_column_is_as_near_to_the_wanted_places_as_can_be(wanted, size):
    """Against all placings on a grid, none of which is nearer."""
    wanted = np.array(wanted, dtype=np.float64)
    found = apart(wanted, size, 0, 12)
    assert found.min() >= -1e-9
    assert found.max() <= 12 + 1e-9
    assert (np.diff(np.sort(found)) >= size - 1e-9).all()
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(found[order]) >= -1e-9).all()
    grid = np.array(list(product(np.arange(0, 12.5, 0.5), repeat=len(wanted))))
    fits = [(np.abs(grid[:, i] - grid[:, j]) >= size) for i, j in combinations(range(len(wanted)), 2)]
    grid = grid[np.logical_and.reduce(fits)] if fits else grid
    best = ((grid - wanted) ** 2).sum(axis=1).min()
    assert ((found - wanted) ** 2).sum() <= best + 1e-9


def test_a_column_without_room_is_spread_evenly():
    np.testing.assert_allclose(apart(np.array([5.0, 5.0, 1.0]), 40, 0, 10), [5, 10, 0])
    assert apart(np.zeros(0), 1, 0, 1).shape == (0,)


def test_labels_of_crowded_spots_cover_neither_each_other_nor_spots_nor_leave_the_frame():
    rng = np.random.default_rng(1)
    for _ in range(5):
        spots = np.concatenate([rng.uniform(60, 340, (25, 2)), 200 + rng.normal(scale=8, size=(6, 2))])
        radii, sizes = np.full(len(spots), 3.0), np.stack([rng.uniform(15, 50, len(spots)), np.full(len(spots), 9)], 1)
        boxes = find_places(spots, radii, sizes, np.array([0, 0, 400, 400.0]))
        np.testing.assert_allclose(boxes[:, 2:] - boxes[:, :2], sizes)
        assert (boxes >= 0).all()
        assert (boxes <= 400).all()
        for one, other in combinations(boxes, 2):
            between = np.maximum(one[:2], other[:2]) - np.minimum(one[2:], other[2:])
            assert between.max() >= GAP - 1e-9
        gaps = np.maximum(boxes[:, None, :2] - spots - 3, spots - 3 - boxes[:, None, 2:]).max(axis=2)
        assert gaps.min() >= GAP - 1e-9


def test_a_lone_label_stands_right_above_its_spot():
    boxes = find_places(np.array([[50.0, 50]]), np.array([3.0]), np.array([[20.0, 8]]), np.array([0, 0, 100, 100.0]))
    assert (boxes[0, :2] > 53).all()
    assert (boxes[0, :2] < 60).all()
