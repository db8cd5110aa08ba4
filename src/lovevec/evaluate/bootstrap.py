"""How far a score would move with other test items: the bootstrap (Efron 1979).

Items are drawn with replacement, as many as there are, and scored again; the middle 95 % of such scores are the
interval. One seed draws the same items for every method.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
SHARE = 0.95
BLOCK = 500_000  # numbers at a time: 4 MB
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def bootstrap(score: Callable[[Counts], Floats], items: int, resamples: int, seed: int) -> Floats:
    """The scores [resamples]; `score` takes how often each item was drawn, [samples, items], and scores each row."""
    rng = np.random.default_rng([seed, items])
    block = max(1, BLOCK // items)
    return np.concatenate(
        [score(drawn(rng, min(block, resamples - done), items)) for done in range(0, resamples, block)]
    )


def drawn(rng: np.random.Generator, samples: int, items: int) -> Counts:
    """How often each item is drawn, [samples, items]; every row sums to `items`."""
    picks = rng.integers(items, size=(samples, items)) + items * np.arange(samples)[:, None]
    counts: Counts = np.bincount(picks.ravel(), minlength=samples * items).reshape(samples, items)
    return counts


def interval(scores: Floats, share: float = SHARE) -> tuple[float, float]:
    """From where to where the middle `share` of the scores lies."""
    low, high = np.quantile(scores, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
