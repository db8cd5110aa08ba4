"""A part of a training text, for a quick look: drawn at random, yet always the same."""

from __future__ import annotations

import numpy as np


def subsample(count: int, most: int | None) -> list[int]:
    """Which of `count` sentences to take: all in their order, or `most` of them mixed."""
    if most is None or most >= count:
        return list(range(count))
    rows: list[int] = np.random.default_rng([most, count]).permutation(count)[:most].tolist()
    return rows
