"""Synonyms: against all cosines in float64, and the lists against plain sets of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.errors import LovevecError
from lovevec.train import synonyms as module
from lovevec.train.synonyms import contains, find_synonyms, symmetric
from lovevec.units.ragged import Ragged


def clustered(seed: int, count: int = 1500, dimensions: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((count // 8, dimensions))
    vectors = centres[rng.integers(0, len(centres), count)] + 0.5 * rng.standard_normal((count, dimensions))
    return vectors * rng.uniform(0.01, 100, (count, 1))


def all_cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -1)
    return cosines


def lists(synonyms: Ragged) -> list[list[int]]:
    return [synonyms.row(row).tolist() for row in range(len(synonyms))]


def from_lists(rows: list[list[int]]) -> Ragged:
    return Ragged.from_lengths(np.array([column for row in rows for column in row], np.int32), [*map(len, rows)])


@pytest.mark.parametrize(("similarity", "most"), [(0.6, 10), (0.6, 1), (0.9, 3), (0.2, 2000)])
def test_equals_all_cosines_in_float64(similarity: float, most: int) -> None:
    vectors = clustered(1)
    cosines = all_cosines(vectors)
    found = find_synonyms(vectors, similarity=similarity, most=most)
    for row, own in enumerate(lists(found)):
        expected = np.sort(cosines[row][cosines[row] >= similarity])[::-1][:most]
        np.testing.assert_allclose(cosines[row][own], expected, atol=1e-6)
        assert len(set(own)) == len(own)
        assert row not in own


def test_by_clusters_most_are_found_and_nothing_else() -> None:
    vectors = clustered(3, 6000)
    exact, near = (find_synonyms(vectors, similarity=0.8, most=8, exact=way) for way in (True, False))
    cosines = all_cosines(vectors)
    found = 0
    for row, (own, right) in enumerate(zip(lists(near), lists(exact), strict=True)):
        assert row not in own
        assert len(set(own)) == len(own) <= len(right)
        assert (cosines[row][own] >= 0.8 - 1e-6).all()
        assert (np.diff(cosines[row][own]) <= 1e-6).all()
        found += len({*own} & {*right})
    assert found > 0.9 * len(exact.values)
    assert found < len(exact.values), "it is not the exact way"


def test_by_clusters_equals_exact_where_all_clusters_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(2, 400, 16)
    vectors[7] = 0
    monkeypatch.setattr(module, "NEARBY", 1000)
    for tile in (8192, 11):
        monkeypatch.setattr(module, "TILE_COLUMNS", tile)
        near = find_synonyms(vectors, similarity=0.25, most=5, exact=False)
        assert lists(near) == lists(find_synonyms(vectors, similarity=0.25, most=5, exact=True))
        assert lists(near)[7] == []


def test_large_tables_go_by_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(4, 3000)
    by_clusters = lists(find_synonyms(vectors, exact=False))
    monkeypatch.setattr(module, "EXACT_BELOW", 3000)
    assert lists(find_synonyms(vectors)) == by_clusters
    monkeypatch.setattr(module, "EXACT_BELOW", 3001)
    assert lists(find_synonyms(vectors)) == lists(find_synonyms(vectors, exact=True))


def test_the_size_of_tiles_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows of +1 and -1: cosines are multiples of 1/8, so many ties and no rounding.
    vectors = np.sign(clustered(2, 300, 16)).astype(np.float32)
    expected = find_synonyms(vectors, similarity=0.25, most=5)
    cosines = all_cosines(vectors)
    order = np.argsort(-cosines.round(6), axis=1, kind="stable")[:, :5]
    assert lists(expected) == [[j for j in order[i].tolist() if cosines[i, j] > 0.2] for i in range(300)]
    monkeypatch.setattr(module, "TILE_ROWS", 7)
    monkeypatch.setattr(module, "TILE_COLUMNS", 11)
    assert lists(find_synonyms(vectors, similarity=0.25, most=5)) == lists(expected)


def test_length_does_not_matter_and_no_direction_means_no_synonyms() -> None:
    vectors = np.array([[1, 2], [0, 0], [1, 2], [np.nan, 1], [np.inf, 1], [2, 1]], np.float32)
    vectors *= np.array([1e30, 1, 1e-30, 1, 1, 1], np.float32)[:, None]
    assert lists(find_synonyms(vectors)) == [[2, 5], [], [0, 5], [], [], [0, 2]]


def test_no_rows_no_synonyms_and_wrong_calls() -> None:
    assert len(find_synonyms(np.empty((0, 5)))) == 0
    assert lists(find_synonyms(np.eye(3))) == [[], [], []]
    for wrong in ({"similarity": 0.0}, {"similarity": float("nan")}, {"most": 0}):
        with pytest.raises(LovevecError, match="similarity > 0"):
            find_synonyms(np.eye(3), **wrong)
    with pytest.raises(LovevecError, match="1-dimensional"):
        find_synonyms(np.ones(3))


@given(
    st.integers(1, 9).flatmap(lambda n: st.lists(st.lists(st.integers(0, n - 1), unique=True), min_size=n, max_size=n))
)
def test_membership_and_symmetry_agree_with_sets_of_pairs(rows: list[list[int]]) -> None:
    synonyms, count = from_lists(rows), len(rows)
    pairs = {(i, j) for i, row in enumerate(rows) for j in row}
    grid = np.mgrid[0:count, -1 : count + 1]
    inside = contains(synonyms, grid[0], grid[1])
    assert set(zip(*(part[inside].tolist() for part in grid), strict=True)) == pairs

    both = symmetric(synonyms)
    assert {(i, j) for i, row in enumerate(lists(both)) for j in row} == pairs | {(j, i) for i, j in pairs}
    assert [own[: len(row)] for own, row in zip(lists(both), rows, strict=True)] == rows
    assert lists(symmetric(both)) == lists(both)
