"""The table and the curves of a downstream task: methods under noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from lovevec.damage.noise import Noise
from lovevec.evaluate.markdown import Cell, markdown
from lovevec.evaluate.reports.rows import HEADER, about
from lovevec.evaluate.result_cache import Score
from lovevec.figures.curves import curves
from lovevec.methods.method import Parameters


def downstream_report(scores: Sequence[Score], noises: Sequence[Noise], measure: str) -> str:
    """Methods (rows) under noises (columns) and the mean of these. A score has `method`, `parameters`,
    `words_per_second`, and what `lovevec.evaluate.grid.best_of` gives."""
    labels = [noise.label for noise in noises]
    rows: list[list[Cell]] = []
    for score in scores:
        values = [float(score["test"][label]) for label in labels]
        first = about(score["method"], Parameters(**score["parameters"]), score["words_per_second"])
        rows.append([*first, *values, sum(values) / len(values)])
    legend = (
        f"\n{measure} on the test set, x 100, at the learning rate that is best on the clean dev set."
        " Words a second: of mistyped words.\n"
    )
    return markdown([*HEADER, *labels, "mean"], rows) + legend


def downstream_pictures(
    name: str, scores: Sequence[Score], noises: Sequence[Noise], measure: str
) -> dict[str, Callable[[Path], None]]:
    """Curves over the share of damaged words, and over their number a sentence, where there are two points or more."""
    counted = {noise: noise.per_sentence for noise in noises if noise.per_sentence is not None}
    shared = {noise: 100 * noise.share for noise in noises if noise not in counted}
    kinds = {noise.kind for noise in shared if noise.share}
    drawn: dict[str, Callable[[Path], None]] = {}
    if len(shared) > 1 and len(kinds) == 1:
        label = f"damaged words, % ({kinds.pop()})"
        drawn[f"{name}.png"] = partial(_draw, name, scores, shared, label, measure)
    if len(counted) > 1:
        drawn[f"{name}-typos.png"] = partial(_draw, name, scores, counted, "typos a sentence", measure)
    return drawn


def _draw(
    name: str, scores: Sequence[Score], places: Mapping[Noise, float], about: str, measure: str, path: Path
) -> None:
    noises = sorted(places, key=lambda noise: places[noise])

    def along(part: str) -> dict[str, list[float]]:
        return {score["method"]: [float(score[part][noise.label]) for noise in noises] for score in scores}

    several = any(run["seed"] != score["runs"][0]["seed"] for score in scores for run in score["runs"])
    spread = along("spread") if several else None
    x = [float(places[noise]) for noise in noises]
    curves(path, along("test"), x, title=name, x_label=about, y_label=measure, spread=spread)
