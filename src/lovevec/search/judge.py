"""How probably two records are the same thing: a conditional logit over the candidates of a record, and none of them.

    p(record | query) = e^u(record) / (1 + Σ e^u)        u = bias + Σ weight · feature, over all candidates of the query

Where many records may be the same thing (dedupe), each pair is judged by itself: p = e^u / (1 + e^u), with weights of
its own. Both were learned by lab/runs/matching.py, and stand in matching.json.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.search.pairs import FEATURES

Floats = NDArray[np.float64]


class Judge(NamedTuple):
    """Weights of FEATURES and a bias."""

    weights: Floats
    bias: float

    @classmethod
    def load(cls, name: str) -> Judge:
        """The one of this name in matching.json: `match` or `dedupe`."""
        return _judges()[name]

    def utilities(self, features: NDArray[np.float32]) -> Floats:
        """[pairs] u of each. Each is added up by itself, so that it has the same bits in any company."""
        utilities: Floats = np.einsum("ij,j->i", features.astype(np.float64), self.weights) + self.bias
        return utilities


@cache
def _judges() -> dict[str, Judge]:
    stored = json.loads((files("lovevec.search") / "matching.json").read_text("utf-8"))
    return {
        name: Judge(np.array([one["weights"][feature] for feature in FEATURES]), one["bias"])
        for name, one in stored.items()
        if isinstance(one, dict)
    }


def of_one(utilities: Floats, queries: NDArray[np.int64]) -> Floats:
    """[pairs] p(record | query), for the pairs of a query in a row."""
    if not len(queries):
        return np.zeros(0)
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(queries))))
    most = np.maximum(np.maximum.reduceat(utilities, starts), 0)
    shares = np.exp(utilities - most[group])
    total = np.add.reduceat(shares, starts) + np.exp(-most)
    probabilities: Floats = np.minimum(shares / total[group], 1.0)
    return probabilities


def of_each(utilities: Floats) -> Floats:
    """[pairs] p of each pair by itself."""
    return 1 / (1 + np.exp(-np.clip(utilities, -500, 500)))


def surest(probabilities: Floats, precision: float) -> NDArray[np.bool_]:
    """Those that are kept so that at least this share of them is expected to be right, and as many as possible."""
    order = np.argsort(-probabilities, kind="stable")
    mean = np.cumsum(probabilities[order]) / np.arange(1, len(order) + 1)
    count = int((mean >= precision).sum())
    keep = np.zeros(len(order), np.bool_)
    if count:
        keep = probabilities >= probabilities[order[count - 1]]
        if probabilities[keep].mean() < precision:  # of equal ones all or none
            keep = probabilities > probabilities[order[count - 1]]
    return keep
