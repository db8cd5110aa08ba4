"""How alike strings are spelled, for many pairs at once: bit by bit, a place of all pairs at a time.

A string of up to 64 letters is one machine word: bit i stands for its i-th letter, so that a letter of the other string
is compared with all of them by a few operations (Hyyrö, 2003 and 2004).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Letters = NDArray[np.uint8]  # [pairs, 64] numbers above 0, zeros behind the end
Lengths = NDArray[np.int64]
PAIRS_PER_BLOCK = 8192  # aligned together, of lengths that are alike
ONE, ALL = np.uint64(1), ~np.uint64(0)


def common_letters(left: Letters, left_lengths: Lengths, right: Letters, right_lengths: Lengths) -> NDArray[np.int64]:
    """[pairs] how many letters the longest common subsequence has."""
    result = np.zeros(len(left), np.int64)
    for which, width in _blocks(left_lengths, right_lengths):
        own, other = left[which], right[which]
        state = np.full(len(which), ALL)
        for place in range(width):
            equal = _equal(own, other[:, place])
            common = state & equal
            state = (state + common) | (state & ~equal)
        used = np.where(left_lengths[which] >= 64, ALL, (ONE << left_lengths[which].astype(np.uint64)) - ONE)
        result[which] = _count_bits(~state & used)
    return result


def edits(left: Letters, left_lengths: Lengths, right: Letters, right_lengths: Lengths) -> NDArray[np.int64]:
    """[pairs] the least number of letters lost, put in, replaced, or neighbors that change places."""
    result = np.zeros(len(left), np.int64)
    for which, width in _blocks(left_lengths, right_lengths):
        own, other, lengths = left[which], right[which], left_lengths[which]
        last = ONE << np.maximum(lengths - 1, 0).astype(np.uint64)
        plus, minus = np.full(len(which), ALL), np.zeros(len(which), np.uint64)
        diagonal, before = np.zeros(len(which), np.uint64), np.zeros(len(which), np.uint64)
        distance = lengths.copy()
        for place in range(width):
            going = place < right_lengths[which]
            equal = _equal(own, other[:, place])
            swapped = ((~diagonal & equal) << ONE) & before
            diagonal = (((equal & plus) + plus) ^ plus) | equal | minus | swapped
            up, down = minus | ~(diagonal | plus), diagonal & plus
            distance += going & (up & last > 0)
            distance -= going & (down & last > 0)
            up, down, before = up << ONE | ONE, down << ONE, equal
            plus, minus = down | ~(diagonal | up), up & diagonal
        result[which] = np.where(lengths > 0, distance, right_lengths[which])
    return result


def _blocks(left_lengths: Lengths, right_lengths: Lengths) -> list[tuple[NDArray[np.int64], int]]:
    """Pairs whose right strings are about as long, and the longest of these."""
    order = np.argsort(right_lengths, kind="stable")
    parts = [order[low : low + PAIRS_PER_BLOCK] for low in range(0, len(order), PAIRS_PER_BLOCK)]
    return [(part, int(right_lengths[part[-1]])) for part in parts]


def _equal(letters: Letters, letter: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """[pairs] a bit for each letter that is this one."""
    same = (letters == letter[:, None]) & (letters > 0)
    return np.packbits(same, axis=1, bitorder="little").view("<u8")[:, 0].astype(np.uint64)


def _count_bits(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    if hasattr(np, "bitwise_count"):  # numpy 2
        return np.bitwise_count(numbers).astype(np.int64)
    count: NDArray[np.int64] = np.unpackbits(numbers.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=np.int64)
    return count
