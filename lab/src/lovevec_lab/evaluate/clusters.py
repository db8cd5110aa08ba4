"""Word clusters: do words of a class come together? K-means on unit-length vectors, scored by purity.

As many clusters as classes, if not told otherwise. K-means depends on its start, so several seeds are averaged.
Words that a method has no vector for stay in, as zeros.

>>> clusters(["default", "glove.txt"], sets=["AP"]).markdown()
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, LovevecError, MissingExtra
from lovevec.files.lines import filled_lines
from lovevec.progress import Progress
from lovevec_lab.evaluate.comparison import Comparison, Folder, refuse_less_than_one
from lovevec_lab.evaluate.datasets import data_folder, digest_of, find_or_own, names_of, read_several
from lovevec_lab.evaluate.results import HEADER, Cell, MethodScores, Result, markdown, method_cells
from lovevec_lab.evaluate.similarity import unit_rows
from lovevec_lab.evaluate.speed import words_per_second
from lovevec_lab.figures.dots import Dot, dots
from lovevec_lab.methods.method import Method

SEEDS, RESTARTS = 10, 10
QUICK_SEEDS, QUICK_RESTARTS = 2, 3


@dataclass(frozen=True)
class WordClasses:
    """`classes[i]` is the class of `words[i]`. `digest` names the file's content."""

    name: str
    words: list[str]
    classes: list[str]
    digest: str = ""


def word_classes(name_or_path: str, data: Path | None = None) -> WordClasses:
    """AP, BLESS, or an own file."""
    listed, (path,) = find_or_own(name_or_path, "clusters", data)
    words, classes = [], []
    for number, line in filled_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise FormatError(path, f"a word and its class with a tab between expected, not {line[:60]!r}", number)
        words.append(cells[0])
        classes.append(cells[1])
    if len(set(classes)) < 2:
        raise FormatError(path, "all words are of one class; nothing to tell apart")
    return WordClasses(listed.name if listed else path.stem, words, classes, digest_of([path]))


@dataclass(frozen=True)
class ClusterPurity:
    """Purity x 100 on a set: each seed's, their mean and standard deviation; how many of the words were covered."""

    name: str
    words: int
    classes: int
    k: int
    covered: int
    purity: float
    deviation: float
    purities: list[float]


@dataclass(frozen=True)
class ClusterScores(MethodScores):
    """A method's scores, and their mean over the sets."""

    sets: list[ClusterPurity]
    mean: float


def clusters(
    methods: Any = (),
    sets: Sequence[str] | None = None,
    *,
    k: int | None = None,
    seeds: int | None = None,
    restarts: int | None = None,
    rivals: str | Sequence[str] = "",
    target: Any = None,
    device: str = "auto",
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score methods on sets of words with classes: names (AP and BLESS by default) or own files, word and class.

    Of each of `seeds` (10; with `quick` 2) the best of `restarts` (10; 3) counts; rivals are kept in the folder `keep`.
    """
    refuse_less_than_one(k=k, seeds=seeds, restarts=restarts)
    seeds = seeds or (QUICK_SEEDS if quick else SEEDS)
    restarts = restarts or (QUICK_RESTARTS if quick else RESTARTS)
    comparison = Comparison(rivals, target, device, seed, quick, keep, progress)
    classes = read_several(word_classes, sets or names_of("clusters"), data_folder(data))
    for one in classes:
        if k and k > len(one.words):
            raise LovevecError(f"-k {k}: {one.name} has only {len(one.words)} words")
    words = list(dict.fromkeys(word for one in classes for word in one.words))

    def score(method: Method) -> ClusterScores:
        purities = score_clusters(method, classes, k, seeds, restarts, seed)
        return replace(purities, words_per_second=words_per_second(method, words))

    scores = comparison.score_each(methods, score)
    settings = comparison.settings_of(methods, classes, k=k, seeds=seeds, restarts=restarts)
    table = clusters_table(scores, seeds, restarts)
    pictures = {"clusters.png": partial(draw_purities, scores)}
    return Result("clusters", settings, [score.plain() for score in scores], table, pictures)


def score_clusters(
    method: Method,
    sets: Sequence[WordClasses],
    k: int | None = None,
    seeds: int = SEEDS,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> ClusterScores:
    """Score one method on each set; `k`: how many clusters, the number of classes if not given."""
    if not sets:
        raise LovevecError("clusters: no sets to score on")
    scores = [_score(method, words, k, seeds, restarts, seed) for words in sets]
    return ClusterScores(method.name, method.parameters, scores, float(np.mean([score.purity for score in scores])))


def _score(method: Method, of: WordClasses, k: int | None, seeds: int, restarts: int, seed: int) -> ClusterPurity:
    names, classes = np.unique(of.classes, return_inverse=True)
    points = unit_rows(method, of.words)
    k = k or len(names)
    purities = [100 * purity(kmeans(points, k, [seed, run], restarts), classes) for run in range(seeds)]
    return ClusterPurity(
        of.name,
        len(of.words),
        len(names),
        k,
        int(method.covers(of.words).sum()),
        float(np.mean(purities)),
        float(np.std(purities, ddof=1)) if seeds > 1 else 0.0,
        purities,
    )


def kmeans(
    points: NDArray[np.float64], k: int, seed: Sequence[int], restarts: int = RESTARTS
) -> NDArray[np.integer[Any]]:
    """The cluster of each point, [n]: scikit-learn's K-means, the best of `restarts` starts that `seed` decides."""
    try:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
    except ImportError:
        raise MissingExtra("scikit-learn", "evaluate") from None
    if not 1 <= k <= len(points):
        raise LovevecError(f"K-means: {k} clusters of {len(points)} points; k must be from 1 to the number of points")
    state = int(np.random.default_rng(list(seed)).integers(2**32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters: zeros are alike
        labels: NDArray[np.integer[Any]] = KMeans(k, n_init=restarts, random_state=state).fit_predict(points)
    return labels


def purity(labels: NDArray[np.integer], classes: NDArray[np.integer]) -> float:
    """The share of items that are of the most frequent class of their cluster. ClusterScores aab, bb -> 4/5."""
    table = np.zeros((labels.max() + 1, classes.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, classes), 1)
    return float(table.max(axis=1).sum() / len(labels))


def clusters_table(results: Sequence[ClusterScores], seeds: int, restarts: int) -> str:
    """Methods (rows) on sets (columns): purities, then how far they spread over the seeds and what a method covers."""
    sets = [score.name for score in results[0].sets]
    main: list[list[Cell]] = [
        [
            *method_cells(result.method, result.parameters, result.words_per_second),
            *(score.purity for score in result.sets),
            result.mean,
        ]
        for result in results
    ]
    spread: list[list[Cell]] = [[result.method, *map(_spread, result.sets)] for result in results]
    sizes = "; ".join(f"{one.name}: {one.words} words, {one.classes} classes, k = {one.k}" for one in results[0].sets)
    return "".join(
        [
            markdown([*HEADER, *sets, "mean"], main),
            "\nPurity x 100 of K-means on unit-length vectors, the mean over "
            f"{seeds} seeds, each the best of {restarts} starts.\n"
            f"Words that a method has no vector for stay in, as zeros. {sizes}.\n"
            "Words a second: of the sets' own words, known ones too.\n",
            "\nStandard deviation over the seeds, and how many words are covered:\n\n",
            markdown(["method", *sets], spread),
        ]
    )


def _spread(score: ClusterPurity) -> str:
    return f"{score.deviation:.1f} ({score.covered:,} of {score.words:,})"


def draw_purities(results: Sequence[ClusterScores], path: Path) -> None:
    """The purities, with a standard deviation to both sides, as a picture."""
    panels = {
        score.name: [
            Dot(one.purity, one.purity - one.deviation, one.purity + one.deviation)
            for one in (result.sets[number] for result in results)
        ]
        for number, score in enumerate(results[0].sets)
    }
    names = [result.method for result in results]
    dots(path, names, panels, title="Word clusters", x_label="purity x 100, ± one standard deviation over the seeds")
