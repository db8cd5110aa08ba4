"""Word similarity: do pairs that people find alike have near vectors? Spearman's ρ of cosine and human score.

All pairs count. A word that a method has no vector for makes its pair's cosine 0, neither near nor far; how the
method does on the pairs that it covers is a second figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.evaluate.bootstrap import RESAMPLES, bootstrap, interval
from lovevec.evaluate.data.pairs import Pairs
from lovevec.evaluate.spearman import spearman, spearman_of_counts
from lovevec.methods.method import Method, Parameters, checked_embed

FEWEST = 3  # pairs that a correlation is worth saying for
DIGITS = 9  # of a cosine: every word is exactly as near to itself, whatever the last bits say


@dataclass(frozen=True)
class SetScore:
    """ρ x 100 on all pairs of a set with its interval, and on the pairs of which both words are covered."""

    name: str
    pairs: int
    spearman: float
    low: float
    high: float
    covered: int
    spearman_covered: float | None


@dataclass(frozen=True)
class Similarity:
    """A method's scores, and the means over the sets; the interval of the mean is of all sets drawn anew."""

    method: str
    parameters: Parameters
    sets: list[SetScore]
    mean: float
    low: float
    high: float
    mean_covered: float | None

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "parameters": self.parameters._asdict()}


def similarity(method: Method, sets: Sequence[Pairs], resamples: int = RESAMPLES, seed: int = 0) -> Similarity:
    """Score a method on each set; one call of it embeds the words of all."""
    if not sets:
        raise LovevecError("similarity: no sets to score on")
    rows = {word: row for row, word in enumerate(dict.fromkeys(w for s in sets for w in (*s.left, *s.right)))}
    words = list(rows)
    vectors, covered = unit_rows(method, words), method.covers(words)
    scores, draws = [], []
    for pairs in sets:
        left = np.array([rows[word] for word in pairs.left])
        right = np.array([rows[word] for word in pairs.right])
        cosine = np.einsum("ij,ij->i", vectors[left], vectors[right]).round(DIGITS)
        drawn = _draws(cosine, pairs, resamples, seed)
        scores.append(_score(pairs, cosine, covered[left] & covered[right], drawn))
        draws.append(drawn)
    low, high = interval(np.mean(draws, axis=0))
    on_covered = [score.spearman_covered for score in scores if score.spearman_covered is not None]
    return Similarity(
        method.name,
        method.parameters,
        scores,
        float(np.mean([score.spearman for score in scores])),
        low,
        high,
        float(np.mean(on_covered)) if len(on_covered) == len(scores) else None,
    )


def unit_rows(method: Method, words: Sequence[str]) -> NDArray[np.float64]:
    """The method's vectors at length 1, zeros as they are: [len(words), dim]."""
    vectors = checked_embed(method, words).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: NDArray[np.float64] = vectors / np.where(lengths > 0, lengths, 1)
    return result


def _draws(cosine: NDArray[np.float64], pairs: Pairs, resamples: int, seed: int) -> NDArray[np.float64]:
    return 100 * bootstrap(lambda counts: spearman_of_counts(cosine, pairs.gold, counts), len(cosine), resamples, seed)


def _score(pairs: Pairs, cosine: NDArray[np.float64], both: NDArray[np.bool_], drawn: NDArray[np.float64]) -> SetScore:
    low, high = interval(drawn)
    count = int(both.sum())
    on_covered = 100 * spearman(cosine[both], pairs.gold[both]) if count >= FEWEST else None
    return SetScore(pairs.name, len(cosine), 100 * spearman(cosine, pairs.gold), low, high, count, on_covered)
