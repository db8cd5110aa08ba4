"""One score of several signals: a logistic rule, learned by lab/runs/fusion.py.

score = sigmoid(bias + Σ weight · feature)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lovevec.search.signals import FEATURES

WEIGHTS = {
    "words": 0.66,
    "coverage": 0.89,
    "backward": 0.73,
    "exact": 0.56,
    "letters": 0.44,
    "letters_covered": 0.32,
    "meaning": 1.55,
    "numbers": -0.01,
    "numbers_backward": 0.01,
}
BIAS = -2.72
FEEDBACK, USUAL_FEEDBACK = 0.6, 1.5
GROUPS = {
    "words": ("words", "coverage", "backward", "exact", "numbers"),
    "letters": ("letters", "letters_covered"),
    "meaning": ("meaning",),
}


def totals_of(features: NDArray[np.float32]) -> NDArray[np.float64]:
    """[n, len(FEATURES)] -> [n]: the logarithm of odds."""
    total = np.full(len(features), BIAS)
    for place, name in enumerate(FEATURES):  # one by one: the same bits in any company
        total += WEIGHTS[name] * features[:, place].astype(np.float64)
    return total


def with_feedback(totals: NDArray[np.float64], feedback: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same where candidates are like the best ones by so much."""
    return totals + FEEDBACK * (feedback - USUAL_FEEDBACK)


def scores_of(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Odds as scores from 0 to 1."""
    scores: NDArray[np.float64] = 1 / (1 + np.exp(-totals))
    return scores


def parts_of(features: NDArray[np.float32], score: float) -> dict[str, float]:
    """What words, letters and meaning account for of a score: in proportion to what each adds."""
    added = {
        name: max(sum(WEIGHTS[one] * float(features[FEATURES.index(one)]) for one in group), 0.0)
        for name, group in GROUPS.items()
    }
    total = sum(added.values()) or 1.0
    return {name: score * part / total for name, part in added.items()}
