"""Products cut into blocks: the same numbers, and where they are cut depends on the shapes alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.engine.products import (
    MATRIX_MULTIPLICATIONS,
    QUERY_BITS,
    ROW_BITS,
    ROWS_PER_TILE,
    VECTOR_MULTIPLICATIONS,
    cuts,
    on_grid,
    product,
    rows_times,
    small_products,
)

MOST_MATRIX, MOST_VECTOR = 262_144, 460_800  # multiplications up to which OpenBLAS takes one thread


@given(st.integers(1, 3000), st.integers(1, 500))
def test_blocks_cover_all_rows_once_and_none_is_much_too_large(size, most):
    ends = cuts(size, most)
    sizes = np.diff(ends)
    step = max(most // ROWS_PER_TILE, 1) * ROWS_PER_TILE
    assert ends[0] == 0
    assert ends[-1] == size
    assert (sizes > 0).all()
    assert sizes.max() <= max(1.5 * step, 1)
    assert (sizes[:-1] == step).all()


def test_no_block_of_a_words_products_is_shared_out():
    """n units of a word, from the shortest to the longest: A_n times its features, queries times keys."""
    for units in range(1, 204):
        for k, n in ((units, 64), (32, units), (units, 768)):
            if units * k * n > 1.5 * MATRIX_MULTIPLICATIONS and units > 1:
                blocks = np.diff(cuts(units, MATRIX_MULTIPLICATIONS // (k * n)))
                assert blocks.max() * k * n <= MOST_MATRIX or blocks.max() < 2 * ROWS_PER_TILE
    assert 1.5 * VECTOR_MULTIPLICATIONS <= MOST_VECTOR


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 5, 7), (3, 7, 4)), ((203, 203), (2, 203, 64)), ((2, 203, 32), (2, 32, 203)), ((4, 1, 900), (900, 800))],
)
def test_products_are_those_of_float64(left, right):
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=left).astype(np.float32), rng.normal(size=right).astype(np.float32)
    expected = np.matmul(one.astype(np.float64), other.astype(np.float64))
    result = product(one, other)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, atol=1e-5 * left[-1])


def test_a_row_has_the_same_bits_in_any_company():
    rng = np.random.default_rng(1)
    rows, matrix = rng.normal(size=(50, 700)).astype(np.float32), rng.normal(size=(700, 800)).astype(np.float32)
    together = rows_times(rows, matrix)
    assert all(np.array_equal(rows_times(rows[i : i + 1], matrix)[0], together[i]) for i in range(50))


@pytest.mark.parametrize("dim", [3, 300, 1024])
def test_products_on_the_grid_have_no_rounding(dim):
    """As whole numbers have none: in whatever blocks, and with the largest sums there are, those of equal rows."""
    rng = np.random.default_rng(dim)
    rows = rng.normal(size=(70, dim)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    left, right = on_grid(rows, QUERY_BITS), on_grid(rows[::-1], ROW_BITS).T
    whole = (left * 2.0**QUERY_BITS).astype(np.int64) @ (right * 2.0**ROW_BITS).astype(np.int64)
    expected = whole / 2.0 ** (QUERY_BITS + ROW_BITS)
    np.testing.assert_array_equal(left @ right, expected)
    np.testing.assert_array_equal(small_products(left, right), expected)
    np.testing.assert_array_equal(small_products(left[:1], right), expected[:1])
    assert small_products(left[:0], right).shape == (0, 70)
    np.testing.assert_allclose(expected, rows @ rows[::-1].T, atol=2e-3)
