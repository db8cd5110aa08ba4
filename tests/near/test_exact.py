"""log and exp of near/exact.py, against more digits and against plain Python numbers in the same order."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.near import exact

POSITIVE = st.floats(2.3e-308, 1e300)
NEGATIVE = st.floats(-700, 0)
PRECISION = 40  # digits


def plain_log(x: float) -> float:
    """The same arithmetic by Python's own numbers, which no processor rounds otherwise."""
    bits = struct.unpack("<q", struct.pack("<d", x))[0]
    e, m = (bits >> 52) - 1023, struct.unpack("<d", struct.pack("<q", bits & (1 << 52) - 1 | 1023 << 52))[0]
    if m > 1.4142135623730951:
        m, e = m * 0.5, e + 1
    s = (m - 1.0) / (m + 1.0)
    z, p = s * s, 1 / 21
    for odd in (19, 17, 15, 13, 11, 9, 7, 5, 3):
        p = p * z + 1 / odd
    return e * 0.6931471805599453 + 2.0 * (s + s * (z * p))


def plain_exp(x: float) -> float:
    if x < -700:
        return 0.0
    k = float(round(x * 1.4426950408889634))
    r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    p = 1 / 6227020800
    for power in range(12, -1, -1):
        p = p * r + 1 / math.factorial(power)
    return p * 2.0 ** int(k)


def error(found: float, true: Decimal) -> float:
    """Relative to the true value; 0 where both are 0."""
    return float(abs((Decimal(found) - true) / true)) if true else abs(found)


def log_of(x: float) -> float:
    return float(exact.log(np.array([x]))[0])


def exp_of(x: float) -> float:
    return float(exact.exp(np.array([x]))[0])


@given(POSITIVE)
def test_log_is_right_to_the_last_digits(x):
    with localcontext() as context:
        context.prec = PRECISION
        assert error(log_of(x), Decimal(x).ln()) < 4e-16


@given(st.floats(0.999, 1))
def test_log_is_right_close_to_one(x):
    with localcontext() as context:
        context.prec = PRECISION
        assert error(log_of(x), Decimal(x).ln()) < 4e-16


@given(NEGATIVE)
def test_exp_is_right_to_the_last_digits(x):
    with localcontext() as context:
        context.prec = PRECISION
        assert error(exp_of(x), Decimal(x).exp()) < 3e-16


@given(POSITIVE)
def test_log_has_the_bits_of_the_stated_arithmetic(x):
    assert log_of(x) == plain_log(x)


@given(st.floats(-800, 0))
def test_exp_has_the_bits_of_the_stated_arithmetic(x):
    assert exp_of(x) == plain_exp(x)


def test_a_number_has_the_same_bits_wherever_it_stands():
    """In any row of an array, so in the middle of the processor's vectors and at their ends."""
    numbers = np.random.default_rng(0).random(1003)
    assert exact.log(numbers).tolist() == [log_of(number) for number in numbers.tolist()]
    assert exact.exp(-50 * numbers).tolist() == [exp_of(-50 * number) for number in numbers.tolist()]
    assert exact.log(numbers[::-3]).tolist() == exact.log(numbers)[::-3].tolist()
    assert exact.exp(-numbers[1:].reshape(2, 501)).ravel().tolist() == exact.exp(-numbers[1:]).tolist()


def test_more_gives_more():
    """But for neighbors, which may be rounded the other way."""
    steps = np.sort(np.random.default_rng(1).random(100_000))
    steps = steps[np.append(True, np.diff(steps) > 1e-12)]
    assert (np.diff(exact.log(steps)) > 0).all()
    assert (np.diff(exact.exp(-40 * (1 - steps))) > 0).all()


@pytest.mark.parametrize(
    ("x", "expected"), [(1.0, 0.0), (2.0, 0.6931471805599453), (0.5, -0.6931471805599453), (4.0, 2 * math.log(2))]
)
def test_logs_that_are_exact(x, expected):
    assert log_of(x) == expected


@pytest.mark.parametrize(
    ("x", "expected"), [(0.0, 1.0), (-0.0, 1.0), (-1e-320, 1.0), (-700.5, 0.0), (-1e308, 0.0), (-math.inf, 0.0)]
)
def test_exps_at_the_ends(x, expected):
    assert exp_of(x) == expected


def test_nothing_in_nothing_out():
    assert exact.log(np.zeros(0)).shape == exact.exp(np.zeros(0)).shape == (0,)
    assert exact.exp(np.zeros((3, 0))).shape == (3, 0)
