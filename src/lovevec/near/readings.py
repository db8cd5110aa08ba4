"""What unknown strings may stand for: the probabilities of known words, and of being new.

A reader (reader.py) gives one `Readings` for a list of strings; vectors, nearest known words and names of readings are
made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near import exact
from lovevec.near.channel import UNIT
from lovevec.near.joined import FAR, MAX_PARTS, Cuts

WORDS_PER_READING = 10  # known words that one string may stand for
MAX_COST_GAP = 8 * UNIT  # a candidate that costs this much more than the best one is left out
MIN_PROBABILITY = 0.01  # of a known word, for its vector to be added
# In running text an unknown string is a misspelling more often than in a list of words: the weight of new is divided by
# this. Measured on the training pairs of STS-B with typing errors (docs/results/texts.md).
NEW_DIVISOR_IN_TEXT = math.e

Integers = NDArray[np.int32]


class Readings(NamedTuple):
    """The readings of some strings.

    `rows` [strings, WORDS_PER_READING] are the known words' rows in the table, most probable first, -1 where there
    are no more; `probabilities` [strings, WORDS_PER_READING] are theirs, 0 where there is no word. `new` [strings] is
    the probability of being no known word at all, `parts` [strings] that of being several known words that are run
    together: `part_rows` [strings, MAX_PARTS] are their rows, -1 where there are no more, and `part_ends` the places
    where they end. For each string `probabilities`, `new` and `parts` add up to 1. `evidence` [strings] is the
    logarithm of what was divided by, Σ e^u over all readings: how well they explain the string altogether.
    """

    rows: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    new: NDArray[np.float64]
    parts: NDArray[np.float64]
    part_rows: NDArray[np.int32]
    part_ends: NDArray[np.int32]
    evidence: NDArray[np.float64]

    @classmethod
    def empty(cls, count: int) -> Readings:
        """Room for the readings of `count` strings."""
        words, parts = (count, WORDS_PER_READING), (count, MAX_PARTS)
        numbers = np.empty(words, dtype=np.int32), np.empty(words), np.empty(count), np.empty(count)
        return cls(*numbers, np.empty(parts, dtype=np.int32), np.empty(parts, dtype=np.int32), np.empty(count))

    def some(self, which: slice | NDArray[Any]) -> Readings:
        """The readings of some of the strings; of a slice without a copy."""
        return Readings(*(array[which] for array in tuple[Any, ...](self)))

    def with_new_divided(self, divisor: float | NDArray[np.float64]) -> Readings:
        """The same readings where the weight of new is divided by a number, or by one for each string."""
        weights = [(self.new / divisor)[:, None], self.probabilities, self.parts[:, None]]
        part = self.part_rows, self.part_ends, self.evidence
        return _normalised(self.rows, np.concatenate(weights, axis=1), *part)

    def as_new(self, which: NDArray[np.bool_]) -> Readings:
        """The same readings, except that the strings of the mask `which` [strings] are certainly new."""
        new, column = all_new(len(which)), which[:, None]
        both = zip(tuple[Any, ...](new), tuple[Any, ...](self), strict=True)
        return Readings(*(np.where(column if one.ndim == 2 else which, one, own) for one, own in both))

    def put(self, which: NDArray[np.bool_], others: Readings) -> Readings:
        """The same readings, with `others` in the places of the mask `which` [strings]."""
        arrays = [array.copy() for array in tuple[Any, ...](self)]
        for array, other in zip(arrays, tuple[Any, ...](others), strict=True):
            array[which] = other
        return Readings(*arrays)


def in_context(readings: Readings, utility: NDArray[np.float64]) -> Readings:
    """Readings times e to the utility of each known word and of new, [strings, WORDS_PER_READING + 1], in the sentence;
    that of several words is 0. The known words are put in order anew."""
    is_word = readings.rows >= 0
    utility = np.where(np.column_stack([is_word, np.ones(len(is_word), dtype=np.bool_)]), utility, 0.0)
    best = np.maximum(utility.max(axis=1), 0.0)[:, None]
    factors, of_parts = exact.exp(utility - best), exact.exp(-best)
    words = np.where(is_word, readings.probabilities * factors[:, :-1], -1.0)
    order = np.argsort(-words, axis=1, kind="stable")
    rows, words = np.take_along_axis(readings.rows, order, axis=1), np.take_along_axis(words, order, axis=1)
    weights = [readings.new[:, None] * factors[:, -1:], np.maximum(words, 0.0), readings.parts[:, None] * of_parts]
    return _normalised(rows, np.concatenate(weights, axis=1), readings.part_rows, readings.part_ends, readings.evidence)


def all_new(count: int) -> Readings:
    """The readings of `count` strings that are certainly new."""
    words, cuts = (count, WORDS_PER_READING), Cuts.empty(count)
    rows, probabilities = np.full(words, -1, dtype=np.int32), np.zeros(words)
    return Readings(rows, probabilities, np.ones(count), np.zeros(count), cuts.rows, cuts.ends, np.zeros(count))


def posterior(
    known_rows: NDArray[np.int32],
    places: Integers,
    costs: Integers,
    new: NDArray[np.float64],
    cuts: Cuts,
    joined_constant: float,
) -> Readings:
    """Softmax over the cheapest candidates of each string, being new, and being several words.

    `places` and `costs` [strings, WORDS_PER_READING] are the candidates' places in the index, cheapest first, -1 where
    there are no more, and what they cost; `known_rows` their rows in the table; `new` [strings] the utility of new;
    `cuts` the cheapest cut into several words, whose utility is `joined_constant` less its cost.
    """
    chosen = (places >= 0) & (costs <= costs[:, :1] + MAX_COST_GAP)
    rows = np.full(places.shape, -1, dtype=np.int32)
    rows[chosen] = known_rows[places[chosen]]
    joined = np.where(cuts.costs < FAR, joined_constant - cuts.costs / UNIT, -np.inf)[:, None]
    utility = np.concatenate([new[:, None], np.where(chosen, -costs / UNIT, -np.inf), joined], axis=1)
    best = np.maximum(np.maximum(utility[:, :1], utility[:, 1:2]), joined)
    return _normalised(rows, exact.exp(utility - best), cuts.rows, cuts.ends, best[:, 0])


def _normalised(
    rows: NDArray[np.int32],
    weights: NDArray[np.float64],
    part_rows: Integers,
    part_ends: Integers,
    evidence: NDArray[np.float64],
) -> Readings:
    """Readings whose probabilities are weights [strings, WORDS_PER_READING + 2], of new, of the known words and of
    several words, over their sum, whose logarithm goes to `evidence`. They are added one by one from the first, so with
    the same bits on any processor."""
    total = np.add.accumulate(weights, axis=1)[:, -1:]
    total = np.where(total > 0, total, 1.0)
    chances = np.ascontiguousarray((weights / total).T)
    known = np.ascontiguousarray(chances[1:-1].T)
    return Readings(rows, known, chances[0], chances[-1], part_rows, part_ends, evidence + exact.log(total[:, 0]))


def near_words(words: Sequence[str], readings: Readings, k: int) -> list[list[tuple[str, float]]]:
    """For each string up to `k` known `words` with their probabilities, most probable first."""
    pairs = zip(readings.rows.tolist(), readings.probabilities.tolist(), strict=True)
    return [
        [(words[row], probability) for row, probability in zip(*pair, strict=True) if row >= 0][:k] for pair in pairs
    ]


def likeliest(readings: Readings) -> list[str]:
    """The name of each string's most probable reading: new, near (one of the known words) or parts."""
    near = readings.probabilities.sum(axis=1)
    chances = np.stack([readings.new, near, readings.parts])
    return [("new", "near", "parts")[place] for place in chances.argmax(axis=0).tolist()]


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
    weights: NDArray[np.float32],
    new_weight: float | None = None,
) -> None:
    """The mean over readings, in place: `vectors` [strings, dim] hold what each string would have as a new word, and
    become p(new) · that + Σ p(word) · the word's own vector + p(parts) · the mean of its words' vectors, by `weights`
    [known words]. With a `new_weight` strings are words of a text, where each word counts by its weight and several
    words add up: p(new) · new_weight · that + Σ p(word) · weight · own + p(parts) · Σ weight · own."""
    in_text = new_weight is not None
    vectors *= (readings.new * (1.0 if new_weight is None else new_weight)).astype(np.float32)[:, None]

    def weighted_rows(rows: NDArray[np.int32]) -> NDArray[np.float32]:
        own = table_rows(rows)
        return own * weights[rows][:, None] if in_text else own

    add_known_rows(vectors, readings, weighted_rows)
    add_parts(vectors, readings, weighted_rows, None if in_text else weights)


def add_parts(
    vectors: NDArray[np.float32],
    readings: Readings,
    table_rows: Callable[[NDArray[np.int32]], NDArray[np.float32]],
    weights: NDArray[np.float32] | None = None,
) -> None:
    """Add to each string's vector p(parts) times the sum of its words' own vectors, in place; with `weights` [known
    words] times their mean by these. Strings with less than MIN_PROBABILITY are left out."""
    strings = (readings.parts >= MIN_PROBABILITY).nonzero()[0]
    if not len(strings):
        return
    rows, joined = readings.part_rows[strings], readings.parts[strings]
    shares = np.ones(rows.shape)
    if weights is not None:
        shares = np.where(rows >= 0, weights[rows], np.float32(0)).astype(np.float64)
        total, many = np.add.accumulate(shares, axis=1)[:, -1:], np.maximum((rows >= 0).sum(axis=1), 1)[:, None]
        shares = np.where(total > 0, shares / np.where(total > 0, total, 1), 1 / many)
    for column in range(MAX_PARTS):  # one by one: so a string's sum does not depend on the other strings
        some = (rows[:, column] >= 0).nonzero()[0]
        if not len(some):
            break
        factor = (joined[some] * shares[some, column]).astype(np.float32)
        vectors[strings[some]] += table_rows(rows[some, column]) * factor[:, None]
