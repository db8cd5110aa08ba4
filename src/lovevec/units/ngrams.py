"""n-grams, the bag beside the mixed input: all runs of 3 and 4 characters of `<word>`, hashed into a number of rows.

    knife -> <kn kni nif ife fe> <kni knif nife ife>

A typo changes a few of them and leaves the rest, where WordPiece would split the word quite otherwise. They take no
part in attention: each counts once in the sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lovevec.units.ragged import Ragged, offsets_of, spread

LENGTHS = (3, 4)
# The word's ends, as code points that normal text does not hold.
BEGIN, END = 2, 3
PRIME, MIX, SHIFT = 1099511628211, 0x9E3779B97F4A7C15, 33


def ngram_buckets(codes: Ragged, buckets: int) -> Ragged:
    """Words as rows of code points -> rows of bucket numbers: of the 3-grams from left to right, then the 4-grams.

    The hash is h = (h * PRIME) ^ character over the run, from h = its length, modulo 2^64, then mixed and cut.
    """
    ends = with_ends(codes)
    owner = ends.owners
    left = spread(ends.offsets[1:], ends.lengths) - np.arange(len(ends.values))  # characters to the word's end
    owners, numbers = [], []
    for length in LENGTHS:
        whole = np.flatnonzero(left >= length)
        hashed: NDArray[np.uint64] = np.full(len(whole), length, dtype=np.uint64)
        for step in range(length):
            hashed = (hashed * np.uint64(PRIME)) ^ ends.values[whole + step].astype(np.uint64, copy=False)
        mixed = (hashed * np.uint64(MIX)) >> np.uint64(SHIFT)
        owners.append(owner[whole])
        numbers.append((mixed % np.uint64(buckets)).astype(np.int32))
    owned = np.concatenate(owners)
    order = np.argsort(owned, kind="stable")
    return Ragged(np.concatenate(numbers)[order], offsets_of(np.bincount(owned, minlength=len(codes))))


def ngram_counts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of n-grams of each word, from its number of characters."""
    counts: NDArray[np.int64] = sum((np.maximum(lengths + 3 - length, 0) for length in LENGTHS), np.zeros_like(lengths))
    return counts


def ngram_names(word: str) -> list[str]:
    """The n-grams of one normalised word as people read them, in the order of `ngram_buckets`."""
    shown = f"<{word}>"
    return [shown[low : low + length] for length in LENGTHS for low in range(len(shown) - length + 1)]


def ngram_spans(length: int) -> list[tuple[int, int]]:
    """For each n-gram of a word of `length` characters, which of these it covers, from and to; its ends are none."""
    return [(max(low - 1, 0), min(low + size - 1, length)) for size in LENGTHS for low in range(length + 2 - size + 1)]


def with_ends(codes: Ragged) -> Ragged:
    """Put BEGIN before and END behind each word."""
    offsets = offsets_of(codes.lengths + 2)
    values = np.empty(offsets[-1], dtype=np.uint64)
    values[offsets[:-1]], values[offsets[1:] - 1] = BEGIN, END
    codes.put(values, offsets[:-1] + 1)
    return Ragged(values, offsets)
