"""The character model of novelty.py, compiled: to the same bits, since numbers are rounded one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.kernel import compiled, compiled_exactly
from lovevec.near.index import LONGEST
from lovevec.near.novelty import BEGIN, BITS, END, ORDER, PRIMES, STRENGTH, WORD_BITS, Novelty, Numbers
from lovevec.units.ragged import Ragged

WIDE, STEP, MIX = np.uint64(0xFFFFFFFF), np.uint64(PRIMES[0]), np.uint64(0x2C1B3C6D)
GRAM_PRIMES = PRIMES.astype(np.uint64)
GRAM_SEEDS = np.array([0x9E3779B9 * (order + 1) & 0xFFFFFFFF for order in range(ORDER)], dtype=np.uint64)
TO_COUNT, TO_WORD = np.uint64(32 - BITS), np.uint64(32 - WORD_BITS)


class CompiledNovelty(Novelty):
    """The same model; strings have at most LONGEST letters."""

    def __init__(self, made: Novelty) -> None:
        self.__dict__.update(made.__dict__)

    def chances(self, rows: Ragged) -> Numbers:
        """The probability of each letter of each row, and of its end, one row behind the other."""
        result = np.empty(len(rows.values) + len(rows))
        letter_chances(rows.values, rows.offsets, self.counts, float(self.letters), self.uniform, result)
        return result

    def known_ends(self, rows: Ragged) -> NDArray[np.int64]:
        """[rows] how many letters the longest known begin and the longest known end have together."""
        result = np.empty(len(rows), dtype=np.int64)
        longest_parts(rows.values, rows.offsets, self.words, result)
        return result


@compiled
def gram_place(state: Any, order: Any) -> Any:
    """Where an n-gram is counted (novelty.py)."""
    state = (state + GRAM_SEEDS[order]) & WIDE
    state = ((state ^ (state >> np.uint64(15))) * MIX) & WIDE
    return (state ^ (state >> np.uint64(12))) >> TO_COUNT


@compiled_exactly
def letter_chances(values: Any, offsets: Any, counts: Any, letters: Any, uniform: Any, chances: Any) -> Any:
    """The probability of each letter of each row, and of its end, one after the other."""
    seen, before = np.zeros(ORDER), np.zeros(ORDER)
    window = np.zeros(ORDER, dtype=np.uint64)
    at = 0
    for row in range(len(offsets) - 1):
        window[:] = BEGIN
        for place in range(offsets[row], offsets[row + 1] + 2):
            if place > offsets[row]:
                for back in range(ORDER - 1, 0, -1):
                    window[back] = window[back - 1]
                window[0] = END if place > offsets[row + 1] else values[place - 1]
            state, chance = np.uint64(0), uniform
            for order in range(ORDER):
                state += window[order] * GRAM_PRIMES[order]
                seen[order] = counts[gram_place(state & WIDE, order)]
                total = before[order - 1] if order else letters
                chance = (seen[order] + STRENGTH * chance) / (total + STRENGTH)
            seen, before = before, seen
            if place > offsets[row]:
                chances[at] = chance
                at += 1


@compiled
def known_bit(state: Any, words: Any) -> Any:
    """Whether a word with this hash is known."""
    place = (((state ^ (state >> np.uint64(16))) * np.uint64(0x9E3779B1)) & WIDE) >> TO_WORD
    return words[place >> np.uint64(3)] >> (place & np.uint64(7)) & 1


@compiled
def longest_parts(values: Any, offsets: Any, words: Any, result: Any) -> Any:
    """How many letters the longest known begin and the longest known end of each row have together."""
    prefix, power = np.zeros(LONGEST + 1, dtype=np.uint64), np.ones(LONGEST + 1, dtype=np.uint64)
    for place in range(LONGEST):
        power[place + 1] = (power[place] * STEP) & WIDE
    for row in range(len(offsets) - 1):
        length = offsets[row + 1] - offsets[row]
        begin = end = 0
        for place in range(length):
            letter = np.uint64(values[offsets[row] + place]) + np.uint64(1)
            prefix[place + 1] = (prefix[place] * STEP + letter) & WIDE
        for size in range(length - 1, 1, -1):
            if known_bit(prefix[size], words):
                begin = size
                break
        for start in range(1, length - 1):
            if known_bit((prefix[length] - prefix[start] * power[length - start]) & WIDE, words):
                end = length - start
                break
        result[row] = begin + end
