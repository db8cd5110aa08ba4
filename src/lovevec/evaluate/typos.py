"""Real misspellings: is the right word near? A misspelling's vector among all vectors of the target, by cosine.

A misspelling counts when its right word is in the target and it is not itself there. It is recovered at k when the
right word's own target vector is among the k nearest. A zero vector recovers nothing, and its cosine is 0.

Misspellings of one word are alike, so that the intervals are of right words drawn anew, each with all its misspellings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.evaluate.bootstrap import RESAMPLES, bootstrap, interval
from lovevec.evaluate.data.misspellings import Misspellings
from lovevec.methods.method import Floats, Method, Parameters, checked_embed
from lovevec.methods.table import Table
from lovevec.train.score import ranks
from lovevec.vectors import ReadReport, VectorTable
from lovevec.vectors.normalized import normalized
from lovevec.vectors.rows import lower_case

BATCH = 1024  # x 16,384 cosines are 64 MB
TEN = 10


@dataclass(frozen=True, eq=False)
class Trial:
    """The misspellings of a set that count with a target: `wrong[i]` should lead to the row `rows[i]`."""

    name: str
    wrong: list[str]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """A mean and from where to where 95 % of such means would lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class SetScore:
    """How a method does on a set: `covered`, `top1`, `top10` in percent of its misspellings, the mean `cosine`."""

    name: str
    misspellings: int
    words: int
    covered: float
    top1: Measured
    top10: Measured
    cosine: Measured


@dataclass(frozen=True)
class Typos:
    """A method's scores on all sets."""

    method: str
    parameters: Parameters
    sets: list[SetScore]

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "parameters": self.parameters._asdict()}


def lower_cased(table: Table) -> Table:
    """The table with its words in lower case, as the misspellings are; where some are then the same, one of them."""
    words, keep = lower_case(table.words)
    if words == table.words:
        return table
    return Table(VectorTable(words, table.vectors[keep], ReadReport("memory", dim=table.dim)), table.name)


def trial(given: Misspellings, table: Table, most: int | None = None, seed: int = 0) -> Trial:
    """What counts of a set; `most` draws so many of these."""
    known = table.row
    pairs = [(w, known[r]) for r, w in zip(given.right, given.wrong, strict=True) if r in known and w not in known]
    if not pairs:
        raise LovevecError(f"{given.name}: no misspelling of a word of {table.name} is left to score")
    if most is not None and len(pairs) > most:
        drawn = np.sort(np.random.default_rng([seed, most]).permutation(len(pairs))[:most])
        pairs = [pairs[place] for place in drawn.tolist()]
    return Trial(given.name, [wrong for wrong, _ in pairs], np.array([row for _, row in pairs], dtype=np.int64))


def typos(method: Method, table: Table, trials: Sequence[Trial], resamples: int = RESAMPLES, seed: int = 0) -> Typos:
    """Score a method whose vectors live in the table's space (see same_space.py)."""
    return Typos(method.name, method.parameters, [_score(method, table, each, resamples, seed) for each in trials])


def recovered(made: Floats, vectors: Floats, rows: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """For each vector made: the cosine to its own target vector, and how many others are nearer."""
    cosine, rank = np.zeros(len(made), dtype=np.float32), np.full(len(made), len(vectors), dtype=np.int64)
    for low in range(0, len(made), BATCH):
        part = slice(low, low + BATCH)
        cosine[part], rank[part] = ranks(normalized(made[part]), vectors, rows[part])
    nothing = ~made.any(axis=1)
    cosine[nothing], rank[nothing] = 0, len(vectors)
    return cosine, rank


def _score(method: Method, table: Table, tried: Trial, resamples: int, seed: int) -> SetScore:
    cosine, rank = recovered(checked_embed(method, tried.wrong), table.vectors, tried.rows)
    values = np.stack([100.0 * (rank < 1), 100.0 * (rank < TEN), cosine], axis=1)
    words, owner = np.unique(tried.rows, return_inverse=True)
    sums, counts = np.zeros((len(words), values.shape[1])), np.bincount(owner)
    np.add.at(sums, owner, values)
    drawn = bootstrap(lambda times: (times @ sums) / (times @ counts)[:, None], len(words), resamples, seed)
    means = values.mean(axis=0).tolist()
    top1, top10, near = (Measured(mean, *interval(scores)) for mean, scores in zip(means, drawn.T, strict=True))
    covered = 100 * float(method.covers(tried.wrong).mean())
    return SetScore(tried.name, len(rank), len(words), covered, top1, top10, near)
