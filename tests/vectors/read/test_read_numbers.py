"""The number parser equals float() rounded to float32, bit for bit, on everything it does not pass on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.vectors.read.numbers import PAD, parse_numbers, parse_odd, to_number


def parse(fields):
    text = PAD + b" ".join(fields) + b" " + PAD
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == 32)
    starts = np.r_[len(PAD), ends[:-1] + 1]
    return parse_numbers(data, starts, ends)


def same_bits(values, fields):
    with np.errstate(over="ignore"):
        expected = np.array([float(field) for field in fields]).astype(np.float32)
    return (values.view(np.uint32) == expected.view(np.uint32)).tolist()


@pytest.mark.parametrize(
    "style",
    ["%.5g", "%.4f", "%.7f", "%.8f", "%.9f", "%.14f", "%.15f", "%.22f", "%.17g", "%.8e", "%.18e", "%r"],
)
def test_equals_float_in_every_way_of_printing(style):
    rng = np.random.default_rng(7)
    numbers = rng.normal(0, 1, 20_000) * 10.0 ** rng.integers(-4, 1, 20_000)
    fields = [(style % number).encode() for number in numbers.tolist()]
    values, odd = parse(fields)
    fast = np.setdiff1d(np.arange(len(fields)), odd)
    assert all(same_bits(values[fast], [fields[index] for index in fast]))
    assert len(fast) > 0.7 * len(fields), "most fields should take the fast way"


@given(st.lists(st.from_regex(rb"-?[0-9]\.[0-9]{1,22}([eE][+-][0-9]{2})?", fullmatch=True), min_size=1))
def test_equals_float_on_any_digits(fields):
    values, odd = parse(fields)
    right = same_bits(values, fields)
    assert all(right[index] for index in range(len(fields)) if index not in set(odd.tolist()))


def test_the_fields_just_between_two_floats_are_right_too():
    below = np.float32(0.1)
    middle = (float(below) + float(np.nextafter(below, np.float32(1)))) / 2
    fields = [f"{middle:.22f}".encode(), f"{middle:.14f}".encode(), b"0.33333333333333333333"]
    values, odd = parse(fields)
    assert odd.tolist() == [0], "the field on the boundary cannot be told from 14 places"
    assert same_bits(values, fields)[1:] == [True, True]


@given(st.lists(st.binary(min_size=1, max_size=12).filter(lambda field: b" " not in field), min_size=1))
def test_what_is_no_number_is_never_taken_for_one(fields):
    values, odd = parse(fields)
    for index in set(range(len(fields))) - set(odd.tolist()):
        assert same_bits(values[[index]], [fields[index]]) == [True]


@pytest.mark.parametrize("field", [b"-", b".", b"-.", b"1", b".5", b"12.5", b"1.", b"nan", b"1e5", b"0.1x", b"0.1e-5"])
def test_other_fields_are_passed_on(field):
    assert parse([b"0.5", field, b"0.25"])[1].tolist() == [1]


def test_the_slow_way_refuses_what_float_alone_would_take():
    assert parse_odd([b"1", b"-2e3", b"inf"]) == ([1.0, -2000.0, float("inf")], [])
    assert parse_odd([b"1", b"1_000", b"\t2", b"x", b""])[1] == [1, 2, 3, 4]
    assert to_number(b"1_000") is None
    assert to_number(b"12.5") == 12.5
