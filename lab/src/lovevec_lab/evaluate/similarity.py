"""Word similarity: do pairs that people find alike have near vectors? Spearman's ρ of cosine and human score.

All pairs count. A word that a method has no vector for makes its pair's cosine 0, neither near nor far; how the
method does on the pairs that it covers is a second figure.

>>> similarity(["default", "glove.txt"], rivals="all").markdown()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.comparison import Folder, Lineup, refuse_less_than_one
from lovevec_lab.evaluate.data import Pairs, data_folder, names_of, read_several, similarity_set
from lovevec_lab.evaluate.results import HEADER, Cell, MethodScores, Result, markdown, method_cells
from lovevec_lab.evaluate.speed import words_per_second
from lovevec_lab.evaluate.statistics import RESAMPLES, interval, spearman, spearman_draws
from lovevec_lab.figures.dots import Dot, dots
from lovevec_lab.methods.method import Method, checked_embed

QUICK_RESAMPLES = 100
FEWEST = 3  # pairs that a correlation is worth saying for
DIGITS = 9  # of a cosine: every word is exactly as near to itself, whatever the last bits say
LEGEND = """
Spearman's ρ x 100 of cosine and human score, over all pairs of a set; a pair with a word that a method has no vector
for counts with cosine 0. Words a second: of the sets' own words, known ones too.
"""
COVERED = "\nOn covered pairs only, of methods that lack words (how many pairs):\n\n"


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
class Similarity(MethodScores):
    """A method's scores, and the means over the sets; the interval of the mean is of all sets drawn anew."""

    sets: list[SetScore]
    mean: float
    low: float
    high: float
    mean_covered: float | None


def similarity(
    methods: Any = (),
    sets: Sequence[str] | None = None,
    *,
    resamples: int | None = None,
    rivals: str | Sequence[str] = "",
    target: Any = None,
    device: str = "auto",
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score methods on sets of word pairs: names (the paper's six by default) or own files, word1, word2, score.

    `resamples` of the bootstrap are 1,000, and 100 with `quick`; rivals that learn are kept in the folder `keep`.
    """
    refuse_less_than_one(resamples=resamples)
    resamples = resamples or (QUICK_RESAMPLES if quick else RESAMPLES)
    lineup = Lineup(rivals, target, device, seed, quick, keep, progress)
    pairs = read_several(similarity_set, sets or names_of("similarity"), data_folder(data))
    words = list(dict.fromkeys(word for one in pairs for word in (*one.left, *one.right)))

    def score(method: Method) -> Similarity:
        correlations = score_similarity(method, pairs, resamples, seed)
        return replace(correlations, words_per_second=words_per_second(method, words))

    scores = lineup.score_each(methods, score)
    settings = lineup.settings_of(methods, pairs, resamples=resamples)
    table = similarity_table(scores, resamples)
    pictures = {"similarity.png": partial(draw_similarity, scores)}
    return Result("similarity", settings, [score.plain() for score in scores], table, pictures)


def score_similarity(method: Method, sets: Sequence[Pairs], resamples: int = RESAMPLES, seed: int = 0) -> Similarity:
    """Score one method on each set; one call of it embeds the words of all."""
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
        drawn = 100 * spearman_draws(cosine, pairs.gold, resamples, seed)
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
    return normalized(checked_embed(method, words).astype(np.float64))


def _score(pairs: Pairs, cosine: NDArray[np.float64], both: NDArray[np.bool_], drawn: NDArray[np.float64]) -> SetScore:
    low, high = interval(drawn)
    count = int(both.sum())
    on_covered = 100 * spearman(cosine[both], pairs.gold[both]) if count >= FEWEST else None
    return SetScore(pairs.name, len(cosine), 100 * spearman(cosine, pairs.gold), low, high, count, on_covered)


def similarity_table(results: Sequence[Similarity], resamples: int) -> str:
    """Methods (rows) on sets (columns): scores, then intervals, then the covered pairs where a method lacks words."""
    sets = [score.name for score in results[0].sets]
    main: list[list[Cell]] = [
        [
            *method_cells(result.method, result.parameters, result.words_per_second),
            *(score.spearman for score in result.sets),
            result.mean,
        ]
        for result in results
    ]
    parts = [markdown([*HEADER, *sets, "mean"], main), LEGEND]
    rows: list[list[Cell]] = [
        [result.method, *(_interval(one.low, one.high) for one in result.sets), _interval(result.low, result.high)]
        for result in results
    ]
    parts.append(f"\n95 % intervals, from {resamples:,} bootstrap resamples of the pairs:\n\n")
    parts.append(markdown(["method", *sets, "mean"], rows))
    lacking = [result for result in results if any(score.covered < score.pairs for score in result.sets)]
    if lacking:
        rows = [[result.method, *map(_covered, result.sets), result.mean_covered] for result in lacking]
        parts += [COVERED, markdown(["method", *sets, "mean"], rows)]
    return "".join(parts)


def _interval(low: float, high: float) -> str:
    return f"{low:.1f} to {high:.1f}"


def _covered(score: SetScore) -> str:
    number = "-" if score.spearman_covered is None else f"{score.spearman_covered:.1f}"
    return f"{number} ({score.covered:,} of {score.pairs:,})"


def draw_similarity(results: Sequence[Similarity], path: Path) -> None:
    """The scores with their intervals as a picture."""
    panels = {
        score.name: [Dot(one.spearman, one.low, one.high) for one in (result.sets[number] for result in results)]
        for number, score in enumerate(results[0].sets)
    }
    if len(panels) > 1:
        panels["mean"] = [Dot(result.mean, result.low, result.high) for result in results]
    names = [result.method for result in results]
    dots(path, names, panels, title="Word similarity", x_label="Spearman's ρ x 100, with 95 % intervals")
