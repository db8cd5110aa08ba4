"""Logarithm and exponential with the same bits on every processor.

numpy computes them with AVX-512, with AVX2 or with the C library, and the last bit differs. Here both are made only of
operations that IEEE 754 rounds exactly (+ - * /, rounding to whole numbers, shifts of bits), always in this order, none
of them fused. So a reading has the same probabilities everywhere, by numpy and compiled.

    log   x = m · 2^e with m about 1;  log m = 2 (s + s³/3 + s⁵/5 + …) with s = (m - 1) / (m + 1)
    exp   x = k log 2 + r with |r| <= log(2) / 2;  exp r = 1 + r + r²/2! + …
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

LOG_2 = 0.6931471805599453
# log 2 in two parts: the first has so few bits that k times it is exact.
LOG_2_HIGH, LOG_2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
ROOT_2 = 1.4142135623730951
LEAST_EXPONENT = -700.0  # exp of less is 0: far below what a probability can add
LOG_SERIES = tuple(1 / odd for odd in range(21, 2, -2))
EXP_SERIES = tuple(1 / math.factorial(power) for power in range(13, -1, -1))
FRACTION_BITS, EXPONENT_OF_ONE = 52, 1023
FRACTION = (1 << FRACTION_BITS) - 1


def log(x: Numbers) -> Numbers:
    """The natural logarithm of numbers above 0 (normal ones, from 2.3e-308 up), to 2 units of the last place."""
    bits = x.view(np.int64)
    exponent = (bits >> FRACTION_BITS) - EXPONENT_OF_ONE
    m = (bits & FRACTION | EXPONENT_OF_ONE << FRACTION_BITS).view(np.float64)
    large = m > ROOT_2
    m = np.where(large, m * 0.5, m)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    return (exponent + large) * LOG_2 + 2.0 * (s + s * (z * _polynomial(LOG_SERIES, z)))


def exp(x: Numbers) -> Numbers:
    """e to the power of numbers up to 0, to 2 units of the last place; 0 below LEAST_EXPONENT."""
    inside = np.maximum(x, LEAST_EXPONENT)
    k = np.rint(inside * 1.4426950408889634)
    r = (inside - k * LOG_2_HIGH) - k * LOG_2_LOW
    power = (k.astype(np.int64) + EXPONENT_OF_ONE << FRACTION_BITS).view(np.float64)
    return np.where(x < LEAST_EXPONENT, 0.0, _polynomial(EXP_SERIES, r) * power)


def _polynomial(coefficients: tuple[float, ...], x: Numbers) -> Numbers:
    """By Horner's rule, the coefficient of the highest power first."""
    result = coefficients[0] * x
    for coefficient in coefficients[1:-1]:
        result += coefficient
        result *= x
    result += coefficients[-1]
    return result
