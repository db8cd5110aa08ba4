"""Neighbors by clusters: against comparing with all, in any company."""

from __future__ import annotations

import numpy as np
import pytest

from lovevec.attach.neighbors import COUNT, PROBES, TEMPERATURE, Neighbors, clusters, known_neighbors
from lovevec.engine.products import QUERY_BITS, ROW_BITS, on_grid
from lovevec.vectors.rows import normalized

DIM = 24
RNG = np.random.default_rng(5)
TOPICS = RNG.normal(size=(150, DIM))


def unit_rows(count: int) -> np.ndarray:
    """Rows in bunches, as words are."""
    return normalized((TOPICS[RNG.integers(0, 150, count)] + 0.6 * RNG.normal(size=(count, DIM))).astype(np.float32))


def pool_of(vectors: np.ndarray) -> Neighbors:
    return known_neighbors(
        lambda words: vectors[[int(word) for word in words]], list(map(str, range(len(vectors)))), vectors
    )


def by_comparing_all(queries: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In whole numbers: the rows of the nearest, and their cosines."""
    left = np.rint(queries * 2.0**QUERY_BITS).astype(np.int64)
    cosine = left @ np.rint(vectors * 2.0**ROW_BITS).astype(np.int64).T / 2.0 ** (QUERY_BITS + ROW_BITS)
    rows = np.argsort(-cosine, axis=1, kind="stable")[:, :COUNT]
    return rows, np.take_along_axis(cosine, rows, axis=1)


@pytest.mark.parametrize("count", [7, 30, 900])
def test_a_few_words_are_compared_with_all(count):
    vectors, queries = unit_rows(count), unit_rows(40)
    pool = pool_of(vectors)
    places, weights = pool(queries)
    rows, cosine = by_comparing_all(queries, vectors)
    assert places.shape == weights.shape == (40, min(COUNT, count))
    expected = np.exp(cosine / TEMPERATURE)
    np.testing.assert_allclose(weights, expected / expected.sum(axis=1, keepdims=True), rtol=2e-3)
    exact = np.einsum("qd,qkd->qk", queries, vectors[pool.rows[places]])
    np.testing.assert_allclose(exact, cosine, atol=2e-3)  # the nearest, up to rounding
    assert (pool.rows[places][:, 0] == rows[:, 0]).all()


def test_clusters_miss_little_and_nothing_near():
    vectors, queries = unit_rows(6000), unit_rows(200)
    pool = pool_of(vectors)
    assert len(pool.centres) > 3 * PROBES
    np.testing.assert_array_equal(np.sort(pool.rows), np.arange(6000))
    places, weights = pool(queries)
    rows, _ = by_comparing_all(queries, vectors)
    found = pool.rows[places]
    assert np.mean([len(set(one) & set(other)) for one, other in zip(found.tolist(), rows.tolist(), strict=True)]) > 28
    assert np.mean(found[:, 0] == rows[:, 0]) > 0.98
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
        members = pool.vectors[pool.starts[cluster] : pool.starts[cluster + 1]]
        assert ((on_grid(members, QUERY_BITS) @ pool.centres.T).argmax(axis=1) == cluster).all()


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
    pool = known_neighbors(lambda words: vectors, list(map(str, range(500))), 3 * vectors)
    slope = RNG.normal(size=(DIM, DIM)).astype(np.float32)
    expected = vectors[pool.rows] - pool.vectors @ slope
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
