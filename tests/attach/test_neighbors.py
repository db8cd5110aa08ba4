"""KnownNeighbors by clusters: against comparing with all, in any company."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import needs_core

from lovevec.attach.neighbors import (
    NEIGHBORS_PER_WORD,
    PROBES,
    TEMPERATURE,
    Codes,
    KnownNeighbors,
    clusters,
    find_known_neighbors,
)
from lovevec.engine.products import QUERY_BITS, ROW_BITS, on_grid
from lovevec.vectors.rows import normalized

DIM = 24
RNG = np.random.default_rng(5)
TOPICS = RNG.normal(size=(150, DIM))


def unit_rows(count: int) -> np.ndarray:
    """Rows in bunches, as words are."""
    return normalized((TOPICS[RNG.integers(0, 150, count)] + 0.6 * RNG.normal(size=(count, DIM))).astype(np.float32))


def pool_of(vectors: np.ndarray) -> KnownNeighbors:
    return find_known_neighbors(
        lambda words: vectors[[int(word) for word in words]], list(map(str, range(len(vectors)))), vectors
    )


def by_comparing_all(queries: np.ndarray, pool: KnownNeighbors) -> tuple[np.ndarray, np.ndarray]:
    """In whole numbers: the places of the nearest, and their cosines; these are nearly those of floats."""
    left = np.rint(queries * 2.0**QUERY_BITS).astype(np.int64)
    codes = pool.vectors.steps[:, :DIM].astype(np.int64)
    cosine = left @ codes.T / 2.0 ** (QUERY_BITS + pool.vectors.bits)
    np.testing.assert_allclose(cosine, queries @ pool.table[pool.rows].T, atol=0.02)
    places = np.argsort(-cosine, axis=1, kind="stable")[:, :NEIGHBORS_PER_WORD]
    return places, np.take_along_axis(cosine, places, axis=1)


@pytest.mark.parametrize("count", [7, 30, 570])
def test_a_few_words_are_compared_with_all(count):
    queries, pool = unit_rows(40), pool_of(unit_rows(count))
    places, weights = pool(queries)
    right, cosine = by_comparing_all(queries, pool)
    assert places.shape == weights.shape == (40, min(NEIGHBORS_PER_WORD, count))
    expected = np.exp(cosine / TEMPERATURE)
    np.testing.assert_allclose(weights, expected / expected.sum(axis=1, keepdims=True), rtol=2e-3)
    same = [len(set(one) & set(other)) for one, other in zip(places.tolist(), right.tolist(), strict=True)]
    assert np.mean(same) > 0.99 * places.shape[1]  # but for cosines that differ by less than a step


def test_clusters_miss_little_and_nothing_near():
    queries, pool = unit_rows(200), pool_of(unit_rows(6000))
    assert len(pool.centres) > 3 * PROBES
    np.testing.assert_array_equal(np.sort(pool.rows), np.arange(6000))
    places, weights = pool(queries)
    right, _ = by_comparing_all(queries, pool)
    same = [len(set(one) & set(other)) for one, other in zip(places.tolist(), right.tolist(), strict=True)]
    assert np.mean(same) > 0.85 * NEIGHBORS_PER_WORD
    assert np.mean(places[:, 0] == right[:, 0]) > 0.96
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert (np.diff(weights, axis=1) <= 0).all()


def test_the_same_bits_in_any_company():
    vectors, queries = unit_rows(6000), unit_rows(70)
    pool = pool_of(vectors)
    places, weights = pool(queries)
    for size in (1, 3, 33):
        parts = [pool(queries[low : low + size]) for low in range(0, len(queries), size)]
        np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), places)
        np.testing.assert_array_equal(np.concatenate([part[1] for part in parts]), weights)


def test_words_left_out_are_no_neighbors():
    vectors = unit_rows(6000)
    gone = np.arange(0, 6000, 3)
    pool = pool_of(vectors).without(gone)
    assert len(pool.vectors) == len(pool.rows) == pool.starts[-1] == 4000
    places, _ = pool(vectors[gone[:50]])
    assert not np.isin(pool.rows[places], gone).any()
    for cluster in range(len(pool.centres)):  # each word is still in its cluster
        members = pool.vectors.floats()[pool.starts[cluster] : pool.starts[cluster + 1]]
        cosine = members @ pool.centres.floats().T
        assert (cosine[:, cluster] >= cosine.max(axis=1, initial=-1) - 0.02).all()  # up to the rounding of int8


def test_where_nearly_all_are_left_out_the_rest_is_found_and_nothing_else_counts():
    vectors = unit_rows(6000)
    pool = pool_of(vectors).without(np.arange(5990))
    places, weights = pool(vectors[:20])
    assert len(pool.vectors) == 10
    assert ((weights > 0).sum(axis=1) <= 10).all()
    sums = weights.sum(axis=1)
    np.testing.assert_allclose(sums[sums > 0], 1, rtol=1e-5)
    assert (sums == 0).any()  # far from all that is left
    assert ((places >= 0) & (places < 10)).all()


def test_what_a_map_misses_is_what_is_left_of_a_words_own_direction():
    vectors = unit_rows(500)
    pool = find_known_neighbors(lambda words: vectors.copy(), list(map(str, range(500))), 3 * vectors)
    slope = RNG.normal(size=(DIM, DIM)).astype(np.float32)
    expected = vectors[pool.rows] - pool.vectors.floats() @ slope
    np.testing.assert_allclose(pool.misses(slope), expected, atol=1e-5)


def test_centres_are_distinct_and_each_row_is_with_its_nearest():
    vectors = on_grid(unit_rows(4000), ROW_BITS)
    centres, cluster = clusters(vectors, 80)
    assert len(np.unique(centres, axis=0)) == 80
    cosine = np.round(on_grid(vectors, QUERY_BITS).astype(np.float64) @ centres.T.astype(np.float64), 9)
    np.testing.assert_array_equal(cosine.argmax(axis=1), cluster)
    other, again = clusters(vectors, 80)
    np.testing.assert_array_equal(other, centres)
    np.testing.assert_array_equal(again, cluster)


@pytest.mark.parametrize("count", [7, 900, 6000])
@needs_core
def test_the_compiled_core_finds_what_numpy_finds_to_the_bit(count):
    pool = pool_of(unit_rows(count))
    queries = np.concatenate([unit_rows(300), 50 * unit_rows(5), np.zeros((2, DIM), np.float32)])[:, :DIM]
    for one in (pool, pool.without(np.arange(0, count, 2))):
        for by_numpy, compiled in zip(one(queries), one(queries, compiled=True), strict=True):
            np.testing.assert_array_equal(compiled, by_numpy)


@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-3, 0.0])
def test_codes_are_as_fine_as_int8_allows(scale):
    rows = np.array([[1.0, -1.0, 0.5], [0.1, 0.2, -0.7]], np.float32) * np.float32(scale)
    codes = Codes.of(rows)
    assert codes.steps.dtype == np.int8
    np.testing.assert_allclose(codes.floats(), rows, atol=max(scale, 2**-3) / 127)
    assert codes.floats().shape == rows.shape
    assert not codes.steps[:, 3:].any()
