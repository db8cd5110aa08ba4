"""A word's spelling as numbers, so that it can go along with `input_ids` through collators, datasets and devices.

Each position has 8 numbers, which are 64 bytes of UTF-8: all zero where the position is no broken word. Of a longer
word the head and the tail are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NUMBERS = 8
BYTES = 8 * NUMBERS
NOTHING = (0,) * NUMBERS
KEY = "love_words"  # the name that the numbers have beside input_ids


def to_numbers(word: str) -> tuple[int, ...]:
    """`mispelled` -> 8 numbers."""
    text = word.encode("utf-8", "replace")
    if len(text) > BYTES:
        head, tail = text[: BYTES // 2], text[-BYTES // 2 :]
        text = (head.decode("utf-8", "ignore") + tail.decode("utf-8", "ignore")).encode("utf-8")
    numbers: list[int] = np.frombuffer(text.ljust(BYTES, b"\0"), dtype="<i8").tolist()
    return tuple(numbers)


def to_words(keys: Sequence[bytes]) -> list[str]:
    """The words of rows as `to_bytes` gives them."""
    return [key.rstrip(b"\0").decode("utf-8", "replace") for key in keys]


def to_bytes(numbers: NDArray[np.int64]) -> list[bytes]:
    """[n, 8] -> the 64 bytes of each row: what a word is looked up by."""
    text = np.ascontiguousarray(numbers, dtype="<i8").tobytes()
    return [text[low : low + BYTES] for low in range(0, len(text), BYTES)]
