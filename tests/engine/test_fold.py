"""Folded tables: small, and close to what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tests.factories import random_parts

from lovevec.engine.fold import Tables, quantise
from lovevec.errors import LovevecError

ROWS = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, max_side=8),
    elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False),
)


@given(ROWS)
def test_a_stored_number_is_off_by_half_a_step_at_most(rows):
    largest = np.abs(rows).max(axis=1, keepdims=True)
    for precision, step in (("float32", 0), ("float16", 2**-10), ("int8", 1.001 / 127)):
        stored, scale = quantise(rows, precision)
        assert stored.dtype.name == precision
        assert scale.dtype == np.float32
        assert (scale > 0).all()
        found = stored.astype(np.float64) * scale[:, None]
        assert (np.abs(found - rows) <= largest * step / 2).all()


@given(ROWS)
def test_float16_keeps_the_relative_precision_of_numbers_near_the_largest(rows):
    stored, scale = quantise(rows, "float16")
    near = np.abs(rows) >= np.abs(rows).max(axis=1, keepdims=True) / 1000
    found = stored.astype(np.float64) * scale[:, None]
    assert (np.abs(found - rows)[near] <= np.abs(rows)[near] * 2**-11 * 1.001).all()


def test_tables_go_through_their_tensors():
    for shape in ({}, {"head": 5, "ngrams": 9}):
        tables = random_parts(**shape).folded.to("int8")
        again = Tables.from_tensors(tables.tensors())
        assert again.precision == "int8"
        assert again.tensors().keys() == tables.tensors().keys()
        assert all(np.array_equal(again.tensors()[name], tensor) for name, tensor in tables.tensors().items())


def test_storing_what_is_stored_so_changes_nothing():
    tables = random_parts().folded.to("int8")
    assert tables.to("int8") is tables
    again = tables.to("float32").to("int8")
    assert np.array_equal(again.out, tables.out)
    np.testing.assert_allclose(again.out_scale, tables.out_scale, rtol=1e-6)


def test_tables_cannot_be_changed():
    tables = random_parts(head=4).folded
    for tensor in tables.tensors().values():
        with pytest.raises(ValueError, match="read-only"):
            tensor[0] = 0


def test_unknown_precisions_are_refused():
    with pytest.raises(LovevecError, match="unknown precision 'int4'"):
        random_parts().folded.to("int4")  # type: ignore[arg-type]
