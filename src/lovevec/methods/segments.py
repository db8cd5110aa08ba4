"""Segmentation: the known words that a word is put together from.

    blackboarding -> black boarding        unhappiness -> happiness        footballers -> football ers

Of all ways to cut a word into known words of three characters or more and single characters, the likeliest is taken.
Words are as likely as Zipf's law has it by their rank in the table; a character that is left over costs as much as the
rarest word.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

SHORTEST = 3


class Segments:
    """Cuts words into those of a table: word -> row."""

    def __init__(self, row: Mapping[str, int]) -> None:
        self.row = row
        harmonic = log(len(row)) + 0.5772  # 1 + 1/2 + … + 1/n
        self._whole = log(harmonic)
        self._left_over = self._whole + log(len(row) + 1)
        self._longest = max(map(len, row))

    def __call__(self, word: str, leave_out: int = -1) -> list[int]:
        """The rows of the known words of its likeliest segmentation, from left to right; `leave_out` is not used."""
        ends = len(word)
        cost, start, found = [0.0] * (ends + 1), [0] * (ends + 1), [-1] * (ends + 1)
        for end in range(1, ends + 1):
            cost[end], start[end] = cost[end - 1] + self._left_over, end - 1
            for begin in range(max(0, end - self._longest), end - SHORTEST + 1):
                row = self.row.get(word[begin:end], -1)
                if row < 0 or row == leave_out:
                    continue
                total = cost[begin] + self._whole + log(row + 1)
                if total < cost[end]:
                    cost[end], start[end], found[end] = total, begin, row
        rows = []
        while ends:
            if found[ends] >= 0:
                rows.append(found[ends])
            ends = start[ends]
        return rows[::-1]
