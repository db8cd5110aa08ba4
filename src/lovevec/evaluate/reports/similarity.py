"""The word-similarity table: scores first, then intervals, then the pairs that a method covers where it lacks words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lovevec.evaluate.markdown import Cell, markdown
from lovevec.evaluate.reports.rows import HEADER, about
from lovevec.evaluate.similarity import SetScore, Similarity
from lovevec.figures.dots import Dot, dots

LEGEND = """
Spearman's ρ x 100 of cosine and human score, over all pairs of a set; a pair with a word that a method has no vector
for counts with cosine 0. Words a second: of the sets' own words, known ones too.
"""
COVERED = "\nOn covered pairs only, of methods that lack words (how many pairs):\n\n"


def similarity_report(results: Sequence[Similarity], speeds: Sequence[float], resamples: int) -> str:
    """The tables of methods (rows) on sets (columns); `speeds` are words a second."""
    sets = [score.name for score in results[0].sets]
    main: list[list[Cell]] = [
        [*about(result.method, result.parameters, speed), *(score.spearman for score in result.sets), result.mean]
        for result, speed in zip(results, speeds, strict=True)
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
