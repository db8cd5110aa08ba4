"""Numbers as text, against Python's own formatting and reading."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from lovevec.vectors.write.text import format_rows

any_float = st.floats(width=32, allow_nan=False, allow_infinity=False)
small_float = st.floats(-9.5, 9.5, width=32)
tables = st.sampled_from([any_float, small_float]).flatmap(
    lambda numbers: arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=numbers)
)


def read(lines: list[bytes], separator: bytes = b" ") -> np.ndarray:
    assert all(line.startswith(separator) for line in lines)
    return np.array([[float(field) for field in line[1:].split(separator)] for line in lines])


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=small_float))
def test_eight_places_are_those_of_python(rows):
    expected = [b"".join(b" %.8f" % number for number in row) for row in rows.tolist()]
    assert format_rows(rows) == expected


@given(tables, st.sampled_from([b" ", b","]))
def test_exact_reads_back_bit_for_bit(rows, separator):
    back = read(format_rows(rows, separator, exact=True), separator).astype(np.float32)
    assert back.view(np.uint32).tolist() == rows.view(np.uint32).tolist()


@given(tables)
def test_otherwise_numbers_are_off_by_less_than_a_millionth(rows):
    back = read(format_rows(rows))
    np.testing.assert_allclose(back, rows.astype(np.float64), rtol=1e-8, atol=5.1e-9)


def test_digits_of_a_text_file_come_out_again():
    """GloVe's 5 places stay those 5 places with zeros behind, though float32 holds none of them exactly."""
    said = [["0.04656", "-0.21318", "0.11111", "0.00001", "-0.00741"]]
    line = format_rows(np.array(said, np.float32), exact=True)[0]
    assert [field[: len(text)] for field, text in zip(line.decode().split(), said[0], strict=True)] == said[0]


@pytest.mark.parametrize("number", [0.999999999, -0.0, 9.999999999, 10.0, 1e-30, 3.4e38, np.inf, np.nan])
def test_edges(number):
    row = np.array([[number, 0.5]], np.float32)
    for exact in (False, True):
        back = read(format_rows(row, exact=exact)).astype(np.float32)
        np.testing.assert_allclose(back, row, rtol=1e-7, atol=1e-8)


def test_blocks_join_without_a_seam():
    rows = np.random.default_rng(0).normal(size=(2_000, 150)).astype(np.float32)
    rows[::97, 3] *= 1e4
    lines = format_rows(rows, b",", exact=True)
    assert len(lines) == len(rows)
    np.testing.assert_array_equal(np.array([json.loads(b"[" + line[1:] + b"]") for line in lines], np.float32), rows)
