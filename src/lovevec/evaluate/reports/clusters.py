"""The word-cluster table: purities, then how far they spread over the seeds and what a method covers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lovevec.evaluate.clusters import Clusters, SetPurity
from lovevec.evaluate.markdown import Cell, markdown
from lovevec.evaluate.reports.rows import HEADER, about
from lovevec.figures.dots import Dot, dots


def clusters_report(results: Sequence[Clusters], speeds: Sequence[float], seeds: int, restarts: int) -> str:
    """The tables of methods (rows) on sets (columns); `speeds` are words a second."""
    sets = [score.name for score in results[0].sets]
    main: list[list[Cell]] = [
        [*about(result.method, result.parameters, speed), *(score.purity for score in result.sets), result.mean]
        for result, speed in zip(results, speeds, strict=True)
    ]
    spread: list[list[Cell]] = [[result.method, *map(_spread, result.sets)] for result in results]
    told = "; ".join(f"{one.name}: {one.words} words, {one.classes} classes, k = {one.k}" for one in results[0].sets)
    return "".join(
        [
            markdown([*HEADER, *sets, "mean"], main),
            "\nPurity x 100 of K-means on unit-length vectors, the mean over "
            f"{seeds} seeds, each the best of {restarts} starts.\n"
            f"Words that a method has no vector for stay in, as zeros. {told}.\n"
            "Words a second: of the sets' own words, known ones too.\n",
            "\nStandard deviation over the seeds, and how many words are covered:\n\n",
            markdown(["method", *sets], spread),
        ]
    )


def _spread(score: SetPurity) -> str:
    return f"{score.deviation:.1f} ({score.covered:,} of {score.words:,})"


def draw_purities(results: Sequence[Clusters], path: Path) -> None:
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
