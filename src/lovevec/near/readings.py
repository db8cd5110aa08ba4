"""What unknown strings may stand for: the probabilities of known words, and of being new.

A reader (reader.py) gives one `Readings` for a list of strings; vectors, nearest known words and names of readings are
made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, Parameter
from lovevec.near import exact
from lovevec.near.channel import UNIT

WORDS_PER_READING = 10  # known words that one string may stand for
MAX_COST_GAP = 8 * UNIT  # a candidate that costs this much more than the best one is left out
MIN_PROBABILITY = 0.01  # of a known word, for its vector to be added
# In running text an unknown string is a misspelling more often than in a list of words: the weight of new is divided by
# this. Measured on the training pairs of STS-B with typing errors (docs/results/texts.md).
NEW_DIVISOR_IN_TEXT = math.e

Integers = NDArray[np.int32]


class Readings(NamedTuple):
    """The readings of some strings.

    `rows` [strings, WORDS_PER_READING] are the known words' rows in the table, most probable first, -1 where there are
    no more; `probabilities` [strings, WORDS_PER_READING] are theirs, 0 where there is no word; `new` [strings] is the
    probability of being no known word at all. For each string `probabilities` and `new` add up to 1.
    """

    rows: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    new: NDArray[np.float64]

    @classmethod
    def empty(cls, count: int) -> Readings:
        """Room for the readings of `count` strings."""
        shape = count, WORDS_PER_READING
        return cls(np.empty(shape, dtype=np.int32), np.empty(shape), np.empty(count))

    def part(self, which: slice) -> Readings:
        """The readings of a slice of the strings, without a copy."""
        return Readings(self.rows[which], self.probabilities[which], self.new[which])

    def with_new_divided(self, divisor: float) -> Readings:
        """The same readings where the weight of new is divided by a number."""
        return _normalised(self.rows, np.concatenate([self.new[:, None] / divisor, self.probabilities], axis=1))

    def as_new(self, which: NDArray[np.bool_]) -> Readings:
        """The same readings, except that the strings of the mask `which` [strings] are certainly new."""
        return Readings(
            np.where(which[:, None], np.int32(-1), self.rows),
            np.where(which[:, None], 0.0, self.probabilities),
            np.where(which, 1.0, self.new),
        )


def all_new(count: int) -> Readings:
    """The readings of `count` strings that are certainly new."""
    shape = count, WORDS_PER_READING
    return Readings(np.full(shape, -1, dtype=np.int32), np.zeros(shape), np.ones(count))


def posterior(known_rows: NDArray[np.int32], places: Integers, costs: Integers, new: NDArray[np.float64]) -> Readings:
    """Softmax over the cheapest candidates of each string and being new.

    `places` and `costs` [strings, WORDS_PER_READING] are the candidates' places in the index, cheapest first, -1 where
    there are no more, and what they cost; `known_rows` their rows in the table; `new` [strings] the utility of new.
    """
    chosen = (places >= 0) & (costs <= costs[:, :1] + MAX_COST_GAP)
    rows = np.full(places.shape, -1, dtype=np.int32)
    rows[chosen] = known_rows[places[chosen]]
    utility = np.concatenate([new[:, None], np.where(chosen, -costs / UNIT, -np.inf)], axis=1)
    return _normalised(rows, exact.exp(utility - np.maximum(utility[:, :1], utility[:, 1:2])))


def _normalised(rows: Integers, weights: NDArray[np.float64]) -> Readings:
    """Readings whose probabilities are `weights` [strings, 1 + WORDS_PER_READING], of new and of the known words, over
    their sum. They are added one by one from the first, so with the same bits on any processor."""
    total = np.add.accumulate(weights, axis=1)[:, -1:]
    chances = weights / np.where(total > 0, total, 1)
    return Readings(rows, np.ascontiguousarray(chances[:, 1:]), np.ascontiguousarray(chances[:, 0]))


def near_words(
    words: Sequence[str], rows: NDArray[np.int64], readings: Readings, k: int
) -> list[list[tuple[str, float]]]:
    """For each string up to `k` known words with their probabilities, most probable first.

    `rows` holds a string's row among the known `words`, which then stands for itself alone, or -1; the strings with -1
    have the `readings`, in order.
    """
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise LovevecError(f"{Parameter('k')} is {k!r}: must be at least 1, a whole number")
    unknown = zip(readings.rows.tolist(), readings.probabilities.tolist(), strict=True)
    near = []
    for row in rows.tolist():
        pairs = [(row, 1.0)] if row >= 0 else zip(*next(unknown), strict=True)
        near.append([(words[one], probability) for one, probability in pairs if one >= 0][:k])
    return near


def reading_names(words: Sequence[str], rows: NDArray[np.int64], readings: Readings) -> list[str]:
    """One name for each word: known where `rows` has its row; where it has -1, by the next of the `readings`, near (a
    known word is more probable than not) or new; and empty where the word is blank."""
    new = iter((readings.new >= 0.5).tolist())
    names = ["known" if row >= 0 else "new" if next(new) else "near" for row in rows.tolist()]
    return [name if word.strip() else "empty" for name, word in zip(names, words, strict=True)]


def add_known_rows(
    vectors: NDArray[np.float32],
    readings: Readings,
    table_rows: Callable[[NDArray[np.int32]], NDArray[np.float32]],
    rows_per_block: int = 8192,
) -> None:
    """Add to each string's vector Σ p(word) · the word's own vector, in place.

    `table_rows` gives the known words' own vectors for rows of the table; `rows_per_block` of them are held at a time.
    Words of less than MIN_PROBABILITY are left out.
    """
    for column in range(WORDS_PER_READING):  # one by one: so a string's sum does not depend on the other strings
        strings = (readings.probabilities[:, column] >= MIN_PROBABILITY).nonzero()[0]
        if not len(strings):  # the probable words come first
            break
        for low in range(0, len(strings), rows_per_block):
            part = strings[low : low + rows_per_block]
            weights = readings.probabilities[part, column].astype(np.float32)
            vectors[part] += table_rows(readings.rows[part, column]) * weights[:, None]


def mix_readings(
    vectors: NDArray[np.float32],
    readings: Readings,
    table_rows: Callable[[NDArray[np.int32]], NDArray[np.float32]],
    new_weight: float = 1.0,
    weights: NDArray[np.float32] | None = None,
) -> None:
    """The mean over readings, in place: `vectors` [strings, dim] hold what each string would have as a new word, and
    become p(new) · new_weight · that + Σ p(word) · the word's own vector, times its weight where there are `weights`
    [known words] (see `add_known_rows`)."""
    vectors *= (readings.new * new_weight).astype(np.float32)[:, None]

    def weighted_rows(rows: NDArray[np.int32]) -> NDArray[np.float32]:
        own = table_rows(rows)
        return own if weights is None else own * weights[rows][:, None]

    add_known_rows(vectors, readings, weighted_rows)
