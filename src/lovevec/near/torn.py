"""Words torn in two: `to morrow`, `some thing`, `im portant`, read as one where that is safe.

Two neighbors of nothing but letters, the second in lower case, with blanks alone between them, are one word if that
word is known and

    one of them is not known, both have two letters or more, and together they have six; or both are known, but so
    much rarer than the word that their ranks cost LEAST_GAIN more than its does; and where one of them is among the
    FREQUENT words (a, in, to), the other is a RARE one: `in formation` stays, `to morrow` does not.

What that does to running text: `per cent`, `web site` and `hong kong` become one word, too, where such a word is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near.channel import UNIT, Channel

MIN_LENGTH, MIN_UNKNOWN_LENGTH, MIN_UNKNOWN_PART = 5, 6, 2
LEAST_GAIN = round(3.2 * UNIT)
FREQUENT, RARE = 30, 10_000  # ranks


class TornWords(NamedTuple):
    """`costs` [known words] of their ranks; those of the rank FREQUENT and of the rank RARE."""

    costs: NDArray[np.int32]
    frequent: int
    rare: int

    @classmethod
    def of(cls, channel: Channel, ranks: NDArray[np.int32]) -> TornWords:
        """By a channel and the ranks of the known words."""
        frequent, rare = channel.rank_costs(np.array([FREQUENT, RARE])).tolist()
        return cls(channel.rank_costs(ranks), frequent, rare)

    def is_torn(self, first: str, second: str, row_of: Callable[[str], int]) -> bool:
        """Whether two neighbors are one known word; `row_of` gives the row of a known word, -1 for others."""
        if not may_be_torn(first, second) or (joined := row_of(first + second)) < 0:
            return False
        rows = row_of(first), row_of(second)
        if min(rows) < 0:
            return min(len(first), len(second)) >= MIN_UNKNOWN_PART and len(first) + len(second) >= MIN_UNKNOWN_LENGTH
        one, other = sorted(int(self.costs[row]) for row in rows)
        return one + other - int(self.costs[joined]) >= LEAST_GAIN and (one >= self.frequent or other >= self.rare)


def may_be_torn(first: str, second: str) -> bool:
    """Whether two neighbors are such as a torn word has: of enough plain letters, the second in lower case."""
    if len(first) + len(second) < MIN_LENGTH or not (first.isalpha() and second.isalpha()):
        return False
    return first.isascii() and second.isascii() and second.islower()
