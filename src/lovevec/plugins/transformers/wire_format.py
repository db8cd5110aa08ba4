"""A word's spelling as numbers, so that it can go along with `input_ids` through collators, datasets and devices.

Each position has 8 numbers, which are 64 bytes of UTF-8: all zero where the position is no broken word. Of a longer
word the head and the tail are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LOVE_WORDS = "love_words"  # the name that the numbers have beside input_ids
NUMBERS_PER_WORD = 8
BYTES_PER_WORD = 8 * NUMBERS_PER_WORD
NO_BROKEN_WORD = (0,) * NUMBERS_PER_WORD


def to_numbers(word: str) -> tuple[int, ...]:
    """The 8 numbers that carry the spelling of a word: `love` -> (1702260588, 0, 0, 0, 0, 0, 0, 0)."""
    text = word.encode("utf-8", "replace")
    if len(text) > BYTES_PER_WORD:
        head, tail = text[: BYTES_PER_WORD // 2], text[-BYTES_PER_WORD // 2 :]
        text = (head.decode("utf-8", "ignore") + tail.decode("utf-8", "ignore")).encode("utf-8")
    numbers: list[int] = np.frombuffer(text.ljust(BYTES_PER_WORD, b"\0"), dtype="<i8").tolist()
    return tuple(numbers)


def to_bytes(numbers: NDArray[np.int64]) -> list[bytes]:
    """[n, 8] -> the 64 bytes of each row: the key that a word is looked up by."""
    text = np.ascontiguousarray(numbers, dtype="<i8").tobytes()
    return [text[low : low + BYTES_PER_WORD] for low in range(0, len(text), BYTES_PER_WORD)]


def to_words(keys: Sequence[bytes]) -> list[str]:
    """The words that such keys of 64 bytes spell: the inverse of `to_numbers` followed by `to_bytes`."""
    return [key.rstrip(b"\0").decode("utf-8", "replace") for key in keys]
