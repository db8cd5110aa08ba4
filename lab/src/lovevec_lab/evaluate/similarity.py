"""Word similarity: do pairs that people find alike have near vectors? Spearman's ρ of cosine and human score.

All pairs count. A word that a method has no vector for makes its pair's cosine 0, neither near nor far; how the
method does on the pairs that it covers is a second figure.

>>> similarity(["default", "glove.txt"], rivals="all").markdown()
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import filled_lines
from lovevec.progress import Progress
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.comparison import Comparison, Folder, refuse_less_than_one
from lovevec_lab.evaluate.datasets import data_folder, digest_of, find_or_own, names_of, read_several
from lovevec_lab.evaluate.results import HEADER, Cell, MethodScores, Result, markdown, method_cells
from lovevec_lab.evaluate.speed import words_per_second
from lovevec_lab.evaluate.statistics import RESAMPLES, interval, spearman, spearman_draws
from lovevec_lab.figures.dots import Dot, dots
from lovevec_lab.methods.method import Method, finite_embed

OWN_COLUMNS = (0, 1, 2)  # word1, word2, score
QUICK_RESAMPLES = 100
FEWEST = 3  # pairs that a correlation is worth saying for
DIGITS = 9  # of a cosine: every word is exactly as near to itself, whatever the last bits say
LEGEND = """
Spearman's ρ x 100 of cosine and human score, over all pairs of a set; a pair with a word that a method has no vector
for counts with cosine 0. Words a second: of the sets' own words, known ones too.
"""
COVERED = "\nOn covered pairs only, of methods that lack words (how many pairs):\n\n"


@dataclass(frozen=True, eq=False)
class GoldPairs:
    """`gold` [pairs]: the higher, the more alike. `digest` names the file's content."""

    name: str
    left: list[str]
    right: list[str]
    gold: NDArray[np.float64]
    digest: str = ""


def similarity_set(name_or_path: str, data: Path | None = None) -> GoldPairs:
    """One of the paper's sets, or an own file; further columns are not looked at."""
    listed, (path,) = find_or_own(name_or_path, "similarity", data)
    columns = listed.columns if listed else OWN_COLUMNS
    rows = ((number, line.split("\t")) for number, line in filled_lines(path))
    return gold_pairs(listed.name if listed else path.stem, path, rows, columns)


def gold_pairs(
    name: str,
    path: Path,
    rows: Iterable[tuple[int, list[str]]],
    columns: tuple[int, int, int] = OWN_COLUMNS,
    item: str = "word",
    between: str = "tabs",
) -> GoldPairs:
    """Pairs of words (or of what an `item` is) out of numbered lines, which are parted into cells already."""
    left, right, gold = [], [], []
    for number, cells in rows:
        if len(cells) <= max(columns):
            expected = f"{item}1, {item}2, score with {between} between expected"
            raise FormatError(path, f"{expected}, found {len(cells)} columns", number)
        one, other, score = _row(path, number, cells, columns, item)
        left.append(one)
        right.append(other)
        gold.append(score)
    if len(gold) < 3:
        raise FormatError(path, f"has {len(gold)} pairs; a correlation needs at least 3")
    if len(set(gold)) == 1:
        raise FormatError(path, "all pairs have one score; nothing to put in order")
    return GoldPairs(name, left, right, np.array(gold), digest_of([path]))


def _row(path: Path, number: int, cells: list[str], columns: tuple[int, int, int], item: str) -> tuple[str, str, float]:
    left, right, score = (cells[column].strip() for column in columns)
    if not left or not right:
        raise FormatError(path, f"a {item} is missing", number)
    try:
        gold = float(score)
    except ValueError:
        gold = math.nan
    if not math.isfinite(gold):
        raise FormatError(path, f"the score must be a number, not {score[:40]!r} (and no header line)", number)
    return left, right, gold


@dataclass(frozen=True)
class PairCorrelation:
    """ρ x 100 on all pairs of a set with its interval, and on the pairs of which both words are covered."""

    name: str
    pairs: int
    spearman: float
    low: float
    high: float
    covered: int
    spearman_covered: float | None


@dataclass(frozen=True)
class SimilarityScores(MethodScores):
    """A method's scores, and the means over the sets; the interval of the mean is of all sets drawn anew."""

    sets: list[PairCorrelation]
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
    comparison = Comparison(rivals, target, device, seed, quick, keep, progress)
    pairs = read_several(similarity_set, sets or names_of("similarity"), data_folder(data))
    words = list(dict.fromkeys(word for one in pairs for word in (*one.left, *one.right)))

    def score(method: Method) -> SimilarityScores:
        correlations = score_similarity(method, pairs, resamples, seed)
        return replace(correlations, words_per_second=words_per_second(method, words))

    scores = comparison.score_each(methods, score)
    settings = comparison.settings_of(methods, pairs, resamples=resamples)
    table = similarity_table(scores, resamples)
    pictures = {"similarity.png": partial(draw_similarity, scores)}
    return Result("similarity", settings, [score.plain() for score in scores], table, pictures)


def score_similarity(
    method: Method, sets: Sequence[GoldPairs], resamples: int = RESAMPLES, seed: int = 0
) -> SimilarityScores:
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
    return SimilarityScores(
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
    return normalized(finite_embed(method, words).astype(np.float64))


def _score(
    pairs: GoldPairs, cosine: NDArray[np.float64], both: NDArray[np.bool_], drawn: NDArray[np.float64]
) -> PairCorrelation:
    low, high = interval(drawn)
    count = int(both.sum())
    on_covered = 100 * spearman(cosine[both], pairs.gold[both]) if count >= FEWEST else None
    return PairCorrelation(pairs.name, len(cosine), 100 * spearman(cosine, pairs.gold), low, high, count, on_covered)


def similarity_table(results: Sequence[SimilarityScores], resamples: int) -> str:
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
        rows = [[result.method, *map(_coverage, result.sets), result.mean_covered] for result in lacking]
        parts += [COVERED, markdown(["method", *sets, "mean"], rows)]
    return "".join(parts)


def _interval(low: float, high: float) -> str:
    return f"{low:.1f} to {high:.1f}"


def _coverage(score: PairCorrelation) -> str:
    number = "-" if score.spearman_covered is None else f"{score.spearman_covered:.1f}"
    return f"{number} ({score.covered:,} of {score.pairs:,})"


def draw_similarity(results: Sequence[SimilarityScores], path: Path) -> None:
    """The scores with their intervals as a picture."""
    panels = {
        score.name: [Dot(one.spearman, one.low, one.high) for one in (result.sets[number] for result in results)]
        for number, score in enumerate(results[0].sets)
    }
    if len(panels) > 1:
        panels["mean"] = [Dot(result.mean, result.low, result.high) for result in results]
    names = [result.method for result in results]
    dots(path, names, panels, title="Word similarity", x_label="Spearman's ρ x 100, with 95 % intervals")
