"""How much a string looks like a word of its own: a character model of the known words.

A new word is made like others (`unfriended`, `Kreuzberg`); a misspelling has a place that no word has (`wrnog`). The
model gives each letter a probability after the four before it, counted over the known words and drawn to those of
shorter contexts where little was counted (Dirichlet smoothing):

    p_k(c | context) = (count(context c) + μ p_{k-1}(c)) / (count(context) + μ)

Counts stand in one table by hash. What speaks for new is a sum over features:

    constant   1
    total      the log probability of the string
    mean       the same divided by the number of letters, the end being one
    letters    the log of the number of letters
    short      by how many letters it is shorter than four
    parts      how much of it the longest known word at its begin and the longest at its end make up: known words in
               other forms, compounds (`unfriended`)
    digits     whether some are digits
    name       whether it begins with a capital where others follow in lower case
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lovevec.near import exact
from lovevec.units.ragged import Ragged, offsets_of, spread

FEATURES = ("constant", "total", "mean", "letters", "short", "parts", "digits", "name")
ORDER = 5
COUNT_BITS, WORD_BITS = 21, 24  # of a place in the table of counts, and in that of known words
STRENGTH = 5.0  # μ
WORDS_PER_BLOCK = 8192
BEGIN, END = 256, 257
PRIMES = np.cumprod(np.full(ORDER, 0x01000193, dtype=np.uint32), dtype=np.uint32)

Numbers = NDArray[np.float64]


class Novelty:
    """The character model: `counts` [2^COUNT_BITS] of all n-grams up to ORDER."""

    def __init__(self, known: Ragged) -> None:
        self.counts = np.zeros(1 << COUNT_BITS, dtype=np.int32)
        for low in range(0, len(known), WORDS_PER_BLOCK):  # a few at a time: this is done for the first unknown word
            places = _places(known.take(np.arange(low, min(low + WORDS_PER_BLOCK, len(known))))).ravel()
            np.add.at(self.counts, places.astype(np.intp), np.int32(1))  # with other types 40 times as slow
        self.letters = int(known.lengths.sum() + len(known))  # with the ends of words
        self.words = np.zeros(1 << WORD_BITS - 3, dtype=np.uint8)  # a bit for each known word, by hash
        place = _bit(_whole_hashes(known))
        np.bitwise_or.at(self.words, place >> np.uint32(3), np.uint8(1) << (place & np.uint32(7)).astype(np.uint8))
        self.uniform = 1 / 256

    def log_probabilities(self, rows: Ragged) -> Numbers:
        """The log probability of each letter of each row, and of its end: length + 1 numbers a row, one row after the
        other."""
        places = _places(rows)  # [ORDER, letters and ends, behind the begin of each word]
        begins = offsets_of(rows.lengths + 2)[:-1]
        chance = np.full(places.shape[1], self.uniform)
        for order in range(ORDER):
            count = self.counts[places[order]].astype(np.float64)
            before = np.append(0.0, self.counts[places[order - 1]][:-1]) if order else np.float64(self.letters)
            chance = (count + STRENGTH * chance) / (before + STRENGTH)
        inside = np.ones(len(chance), dtype=np.bool_)
        inside[begins] = False
        return exact.log(np.minimum(chance[inside], 1.0))  # by rounding some lie just above 1

    def totals(self, rows: Ragged) -> Numbers:
        """[rows] the log probability of each row: the sum over its letters and its end, one by one from the first."""
        lengths = rows.lengths + 1
        logs = np.zeros((len(rows), int(lengths.max(initial=1))))
        logs[np.arange(logs.shape[1]) < lengths[:, None]] = self.log_probabilities(rows)
        totals: Numbers = np.add.accumulate(logs, axis=1)[:, -1]
        return totals

    def features(self, rows: Ragged, digits: NDArray[np.bool_], names: NDArray[np.bool_]) -> Numbers:
        """[rows, FEATURES] what speaks for or against each string being new, in the order of FEATURES."""
        result = np.zeros((len(rows), len(FEATURES)))
        if not len(rows):
            return result
        result[:, 0] = 1
        result[:, 1] = self.totals(rows)
        result[:, 2] = result[:, 1] / (rows.lengths + 1)
        result[:, 3] = exact.log(np.maximum(rows.lengths, 1).astype(np.float64))
        result[:, 4] = np.maximum(4 - rows.lengths, 0)
        result[:, 5] = self.parts(rows)
        result[:, 6] = digits
        result[:, 7] = names
        return result

    def score(self, rows: Ragged, digits: NDArray[np.bool_], names: NDArray[np.bool_], weights: Numbers) -> Numbers:
        """[rows] what speaks for new: Σ weight · feature, added up one by one from the first."""
        total: Numbers = np.add.accumulate(self.features(rows, digits, names) * weights, axis=1)[:, -1]
        return total

    def parts(self, rows: Ragged) -> Numbers:
        """[rows] (longest known prefix + longest known suffix) / length, neither of them the whole; of two letters and
        more. One in 200 is taken for known by chance."""
        parts: Numbers = self.known_ends(rows) / np.maximum(rows.lengths, 1)
        return parts

    def known_ends(self, rows: Ragged) -> NDArray[np.int64]:
        """[rows] how many letters the longest known prefix and the longest known suffix have together."""
        lengths = rows.lengths
        prefix, suffix = _hashes(rows.padded(1).astype(np.uint32), lengths)
        place = np.arange(prefix.shape[1])
        inner = (place >= 2) & (place < lengths[:, None])
        begin = np.where(inner & self._known(prefix), place, 0).max(axis=1)
        inner = (place > 0) & (place <= lengths[:, None] - 2)
        end = np.where(inner & self._known(suffix), lengths[:, None] - place, 0).max(axis=1)
        both: NDArray[np.int64] = begin + end
        return both

    def _known(self, hashes: NDArray[np.uint32]) -> NDArray[np.bool_]:
        place = _bit(hashes)
        known: NDArray[np.bool_] = self.words[place >> np.uint32(3)] >> (place & np.uint32(7)).astype(np.uint8) & 1 > 0
        return known


def _places(rows: Ragged) -> NDArray[np.uint32]:
    """[ORDER, positions] where in the table the n-gram that ends at each position is counted. The positions of a row
    are its begin, its letters, its end; what lies before the begin is more begin."""
    lengths = rows.lengths + 2
    offsets = offsets_of(lengths)
    text = np.empty(offsets[-1], dtype=np.uint32)
    text[offsets[:-1]] = BEGIN
    text[offsets[1:] - 1] = END
    inner = np.ones(len(text), dtype=np.bool_)
    inner[offsets[:-1]] = inner[offsets[1:] - 1] = False
    text[inner] = rows.values
    inside = np.arange(offsets[-1]) - spread(offsets[:-1], lengths)
    places = np.empty((ORDER, len(text)), dtype=np.uint32)
    state = np.zeros(len(text), dtype=np.uint32)
    for order in range(ORDER):
        back = np.concatenate([np.full(order, BEGIN, dtype=np.uint32), text])[: len(text)]
        state = state + np.where(inside >= order, back, np.uint32(BEGIN)) * PRIMES[order]
        places[order] = _place(state, order)
    return places


def _place(state: NDArray[np.uint32], order: int) -> NDArray[np.uint32]:
    state = state + np.uint32(0x9E3779B9 * (order + 1) & 0xFFFFFFFF)
    state = (state ^ state >> np.uint32(15)) * np.uint32(0x2C1B3C6D)
    place: NDArray[np.uint32] = (state ^ state >> np.uint32(12)) >> np.uint32(32 - COUNT_BITS)
    return place


def _hashes(letters: NDArray[np.uint32], lengths: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Of each row [rows, width]: hashes [rows, width + 1] of its first k letters, and of those from the k-th on."""
    width = letters.shape[1]
    prefix = np.zeros((len(letters), width + 1), dtype=np.uint32)
    power = np.cumprod(np.append(np.uint32(1), np.full(width, PRIMES[0])), dtype=np.uint32)
    for place in range(width):
        prefix[:, place + 1] = prefix[:, place] * PRIMES[0] + letters[:, place] + np.uint32(1)
    whole = prefix[np.arange(len(letters)), lengths][:, None]
    left = np.maximum(lengths[:, None] - np.arange(width + 1), 0)
    return prefix, whole - prefix * power[left]


def _whole_hashes(rows: Ragged) -> NDArray[np.uint32]:
    left = spread(rows.offsets[1:] - 1, rows.lengths) - np.arange(len(rows.values))
    power = np.cumprod(np.append(np.uint32(1), np.full(int(left.max(initial=0)), PRIMES[0])), dtype=np.uint32)
    parts = (rows.values.astype(np.uint32) + np.uint32(1)) * power[left]
    result = np.zeros(len(rows), dtype=np.uint32)
    filled = np.flatnonzero(rows.lengths)
    if len(filled):
        result[filled] = np.add.reduceat(parts, rows.offsets[filled], dtype=np.uint32)
    return result


def _bit(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    state = (hashes ^ hashes >> np.uint32(16)) * np.uint32(0x9E3779B1)
    bit: NDArray[np.uint32] = state >> np.uint32(32 - WORD_BITS)
    return bit
