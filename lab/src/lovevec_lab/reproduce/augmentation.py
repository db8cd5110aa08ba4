"""Figures "different augmentations on RareWord" and "on SST2": each of the five alone (the diagonal) and in pairs.

The paper does not say in which shares: here words stay as they are in 36 % of the draws, as in LOVE's own mix, and the
chosen kinds share the rest evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec_lab.evaluate.results import Pictures, markdown
from lovevec_lab.reproduce.bench import Bench
from lovevec_lab.reproduce.pages import mean, page_of
from lovevec_lab.reproduce.variants import measure_variants, numbers_of

KINDS = ("swap", "drop", "insert", "keyboard", "synonym")
NONE = 0.36
FIGURES = {
    "RareWord": "Spearman's ρ x 100",
    "SST2": "accuracy x 100",
    "SST2 + typo": "accuracy x 100",
    "Birkbeck": "right word among the ten nearest, %",
}


def shares(*kinds: str) -> dict[str, float]:
    """The probabilities when only these kinds are used."""
    return {**dict.fromkeys(KINDS, 0.0), **dict.fromkeys(kinds, (1 - NONE) / len(set(kinds))), "none": NONE}


VARIANTS: dict[str, dict[str, Any]] = {
    f"{one} + {other}" if one != other else one: shares(one, other)
    for i, one in enumerate(KINDS)
    for other in KINDS[: i + 1]
} | {"all five": {}}


def measure(bench: Bench) -> dict[str, Any]:
    """Train and score each variant."""
    return measure_variants(bench, VARIANTS)


def page(scores: Mapping[str, Any]) -> str:
    """The heatmaps' numbers, and what all five together give."""
    parts = []
    for title, unit in FIGURES.items():
        if (whole := _score(scores, "all five", title)) is None:
            continue
        grid = grid_of(scores, title)
        rows = [(kind, *(None if np.isnan(x) else float(x) for x in grid[i])) for i, kind in enumerate(KINDS)]
        parts += [f"## {title}, {unit}", markdown(("", *KINDS), rows), f"All five, in LOVE's own shares: {whole:.1f}."]
    legend = "The diagonal has one augmentation alone, the rest two. SST2 + typo: OCR confusions in 70 % of the words."
    return page_of("Augmentations", scores, legend, *parts)


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """A heatmap for each score."""
    from lovevec_lab.figures.heatmap import heatmaps

    panels = {
        f"{title}, {unit}": grid_of(scores, title)
        for title, unit in FIGURES.items()
        if _score(scores, "all five", title) is not None
    }

    def draw(path: Any) -> None:
        heatmaps(path, panels, KINDS, title="Augmentations, alone and in pairs")

    return {"augmentation.png": draw, "augmentation.svg": draw} if panels else {}


def grid_of(scores: Mapping[str, Any], title: str) -> NDArray[np.float64]:
    """[5, 5], the lower triangle filled."""
    grid = np.full((len(KINDS), len(KINDS)), np.nan)
    for i, one in enumerate(KINDS):
        for j, other in enumerate(KINDS[: i + 1]):
            score = _score(scores, f"{one} + {other}" if i != j else one, title)
            grid[i, j] = np.nan if score is None else score
    return grid


def _score(scores: Mapping[str, Any], variant: str, title: str) -> float | None:
    entry = scores["variants"].get(variant)
    numbers = numbers_of(entry["seeds"], title) if entry else []
    return mean(numbers) if numbers else None
