"""Rows at length 1, times a matrix, kept, and one for each word in lower case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from lovevec.vectors.rows import keep_rows, lower_case, normalized


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@given(data=st.data())
def test_rows_at_length_1_keep_type_direction_and_zeros(kind, data):
    numbers = st.floats(-1e6, 1e6, width=32).map(lambda number: number if abs(number) > 1e-6 else 0.0)
    rows = data.draw(arrays(kind, array_shapes(min_dims=1, max_dims=3, max_side=5), elements=numbers))
    before = rows.copy()
    result = normalized(rows)
    np.testing.assert_array_equal(rows, before)
    assert result.dtype == kind
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    expected = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    np.testing.assert_allclose(result, expected, atol=1e-6 if kind is np.float32 else 1e-14)


def test_rows_are_those_of_linalg_bit_for_bit():
    """What was once written out beside each caller: `rows / np.linalg.norm(rows, axis=1)`."""
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        rows = rng.normal(size=(500, 300)).astype(kind)
        np.testing.assert_array_equal(normalized(rows), rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_rows_too_short_or_long_for_their_squares_have_length_one_too(size):
    rows = np.full((2, 3), size, np.float32)
    np.testing.assert_allclose(np.linalg.norm(normalized(rows), axis=1), 1, atol=1e-6)


@given(st.lists(st.text("aAbBß İé", min_size=1, max_size=3), unique=True))
def test_lower_case_words_are_distinct_and_the_right_rows_stay(words):
    lowered, keep = lower_case(words)
    assert lowered == [word.lower() for word, kept in zip(words, keep, strict=True) if kept]
    assert sorted(lowered) == sorted({word.lower() for word in words})
    for low, row in zip(lowered, np.flatnonzero(keep), strict=True):
        rivals = [other for other, word in enumerate(words) if word.lower() == low]
        assert row == next((other for other in rivals if words[other] == low), rivals[0])


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_rows_are_kept_in_place_or_copied_alike(seed, share):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(9000, 2)).astype(np.float32)
    keep = rng.random(9000) < share
    expected = vectors[keep]
    np.testing.assert_array_equal(keep_rows(vectors, keep, owned=False), expected)
    ours = vectors.copy()
    kept = keep_rows(ours, keep, owned=True)
    assert kept is ours
    np.testing.assert_array_equal(kept, expected)


def test_rows_of_a_mapped_file_are_copied_as_they_are_stored(tmp_path):
    rows = np.arange(30_000, dtype=np.float16).reshape(-1, 3) % 100
    np.save(tmp_path / "a.npy", rows)
    keep = np.arange(len(rows)) % 7 != 0
    kept = keep_rows(np.load(tmp_path / "a.npy", mmap_mode="r"), keep, owned=True)
    assert kept.dtype == np.float16
    assert type(kept) is np.ndarray
    np.testing.assert_array_equal(kept, rows[keep])
