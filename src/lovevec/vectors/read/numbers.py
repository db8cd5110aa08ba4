"""Decimal numbers to float32, all fields of a chunk of text at once.

Reading `-0.12345` field by field costs about 200 ns even in C. Here eight digits are fetched as one 64-bit
word and joined pairwise (tens, hundreds, ten-thousands) by three multiplications, for all fields together.
The digits make an exact integer below 2**53, and its one division by an exact power of ten is rounded once,
so the result equals `float32(float(field))` bit for bit. `1.2345e-05` is the same with a larger power.

More than 14 places are cut to 14: where the numbers just below and above the field are the same float32, the
field is too. The rest (no point, two digits before it, `nan`, very large or small exponents) goes to `float`.

Kept by hand because numpy's own `loadtxt` takes several times as long (bench/read_vectors.py) and leaves words out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PAD = bytes(24)  # what must lie before and after the text, because whole words are fetched around each field
MAX_PLACES = 14  # one digit before the point and 14 after it stay below 2**53

MINUS, PLUS, POINT, ZERO, LETTER_E = b"-+.0e"
ASCII_ZEROS = np.uint64(0x3030303030303030)
LIFT = np.uint64(0x7676767676767676)  # added to a byte, lifts anything above 9 to 128 or more
HIGH_BITS = np.uint64(0x8080808080808080)
PAIRS = np.uint64(0x000000FF000000FF)
UPPER = np.uint64(100 + (1_000_000 << 32))
LOWER = np.uint64(1 + (10_000 << 32))
POWERS = np.array([10**n for n in range(MAX_PLACES + 1)], np.uint64)
FLOAT_POWERS = np.array([10.0**n for n in range(23)])  # those that float64 holds exactly


def parse_numbers(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Parse the fields `data[start:end]`; also give the indices of those that are not like `-0.12345`.

    The values at those indices mean nothing. `data` begins and ends with PAD.
    """
    words = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    ends, exponents = _split_exponents(data, ends)
    negative = data[starts] == MINUS
    first = starts + negative
    whole = data[first] - np.uint8(ZERO)
    first += 1
    good = data[first] == POINT
    good &= whole <= 9
    places = ends - first
    places -= 1
    good &= places > 0
    good &= places <= MAX_PLACES + 8
    if not good.all():
        places[~good] = 1

    cut = np.flatnonzero(places > MAX_PLACES)
    if len(cut):
        _, fine = _last_digits(words, ends[cut], places[cut] - MAX_PLACES)
        good[cut] &= fine
        ends[cut] -= places[cut] - MAX_PLACES
        places[cut] = MAX_PLACES
    digits, fine = _last_digits(words, ends, np.minimum(places, 8))
    good &= fine
    long = np.flatnonzero(places > 8)
    if len(long):
        upper, fine = _last_digits(words, ends[long] - 8, places[long] - 8)
        digits[long] += upper * POWERS[8]
        good[long] &= fine
    digits += whole * POWERS[places]

    if exponents is not None:
        places -= exponents
        inside = (places >= 0) & (places < len(FLOAT_POWERS))
        good &= inside
        places[~inside] = 0
    divisors = FLOAT_POWERS[places]
    values = digits / divisors
    if len(cut):
        above = (digits[cut] + np.uint64(1)) / divisors[cut]
        good[cut] &= above.astype(np.float32) == values[cut].astype(np.float32)
    values.view(np.uint64)[:] |= negative.astype(np.uint64) << np.uint64(63)  # set the sign bit
    return values.astype(np.float32), np.flatnonzero(~good)


def _split_exponents(
    data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Find the fields that end like `e-05`; give where their digits end, and the exponents if any."""
    ends = ends.copy()
    fields = np.flatnonzero((data[ends - 4] | 32) == LETTER_E)
    at = ends[fields]
    sign, tens, ones = data[at - 3], data[at - 2] - np.uint8(ZERO), data[at - 1] - np.uint8(ZERO)
    right = ((sign == MINUS) | (sign == PLUS)) & (tens <= 9) & (ones <= 9)
    fields = fields[right]
    if not len(fields):
        return ends, None
    ends[fields] -= 4
    size = (tens[right] * np.uint8(10) + ones[right]).astype(np.int64)
    exponents = np.zeros(len(ends), np.int64)
    exponents[fields] = np.where(sign[right] == MINUS, -size, size)
    return ends, exponents


def _last_digits(
    words: NDArray[np.uint64], ends: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Read the `counts` (1 to 8) digits before `ends` as integers; also say where they really are digits.

    `words[i]` holds the bytes i to i+7, the first one lowest. After the shifts the digits sit at the top and
    the bytes below are 0. `w*10 + (w>>8)` then puts each pair of digits into one byte: "12" to 1*10+2.
    """
    word = words[ends - 8]
    word ^= ASCII_ZEROS
    shift = ((8 - counts) * 8).view(np.uint64)
    word >>= shift
    word <<= shift
    check = word + LIFT
    check |= word
    check &= HIGH_BITS
    fine = check == 0
    pairs = word * np.uint64(10)
    word >>= np.uint64(8)
    pairs += word
    upper = pairs & PAIRS
    upper *= UPPER
    pairs >>= np.uint64(16)
    pairs &= PAIRS
    pairs *= LOWER
    pairs += upper
    pairs >>= np.uint64(32)
    return pairs, fine


def parse_odd(fields: Sequence[bytes]) -> tuple[list[float], list[int]]:
    """Parse fields one by one with `float`; also give the indices of those that are not numbers."""
    joined = b"".join(fields)
    if not any(mark in joined for mark in (b"_", b"\t", b"\r", b"\v", b"\f", b"\n")):
        try:
            return list(map(float, fields)), []
        except ValueError:
            pass
    values, wrong = [0.0] * len(fields), []
    for index, field in enumerate(fields):
        number = to_number(field)
        if number is None:
            wrong.append(index)
        else:
            values[index] = number
    return values, wrong


def to_number(field: bytes) -> float | None:
    """Read one field; None when it is no number. Unlike `float`, takes no `1_000` and no blanks around it."""
    if b"_" in field or field != field.strip():
        return None
    try:
        return float(field)
    except ValueError:
        return None
