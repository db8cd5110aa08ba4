"""Scores of choices and of their pairs, as in the paper's augmentation figures: singles on the diagonal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.figures.attention import draw_cells, number_cells
from lovevec.figures.style import (
    INK,
    add_figure_title,
    add_title,
    blank_figure,
    picture_type,
    save_figure,
    short_label,
    text_size,
)

Path = str | PathLike[str]
Floats = NDArray[np.float64]
NAME, NUMBER = 9.5, 9.5  # points
LEAST_CELL, MOST_CELL, PADDING = 0.62, 1.0, 0.06  # inches


def heatmap(path: Path, values: NDArray[Any], labels: Sequence[str], *, title: str, digits: int = 1) -> Any:
    """Draw [n, n] scores: the diagonal has each label alone, the others pairs; NaN is left blank.

    A pair is shown once, in the lower triangle, and may be given on either side of the diagonal or on both.
    Gives the matplotlib figure that was saved.
    """
    return _draw(path, {title: values}, labels, None, digits)


def heatmaps(
    path: Path, panels: Mapping[str, NDArray[Any]], labels: Sequence[str], *, title: str, digits: int = 1
) -> Any:
    """Several of them side by side, each with a title and a scale of its own."""
    return _draw(path, panels, labels, title, digits)


def _draw(path: Path, panels: Mapping[str, NDArray[Any]], labels: Sequence[str], title: str | None, digits: int) -> Any:
    picture_type(path)
    if not panels or not labels:
        raise LovevecError(f"{path}: no scores to draw")
    lower = {name: lower_triangle(values, labels, f"{path}: {name}") for name, values in panels.items()}
    names = [short_label(label) for label in labels]
    figure = blank_figure(1, 1)
    upright = _fit(figure, names, [f"{np.nanmax(np.abs(values), initial=0):.{digits}f}" for values in lower.values()])
    for axes, (name, values) in zip(figure.subplots(1, len(panels), squeeze=False)[0], lower.items(), strict=True):
        draw_cells(axes, values, *_range(values))
        number_cells(axes, values, lambda value: f"{value:.{digits}f}", NUMBER)
        axes.set_xticks(range(len(names)), names, parse_math=False, rotation=90 if upright else 0)
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.tick_params(length=0, labelsize=NAME, labelcolor=INK)
        add_title(axes, name, 12 if title is None else 10.5)
    if title is not None:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + 0.25)
        add_figure_title(figure, title)
    save_figure(figure, path)
    return figure


def _fit(figure: Any, names: Sequence[str], longest: Sequence[str]) -> bool:
    """Make the figure so large that names and numbers fit; says whether the names below stand upright for that.

    `longest` has the longest number of each panel.
    """
    name = max(text_size(figure, name, NAME)[0] for name in names) / 72
    number = max(text_size(figure, number, NUMBER)[0] for number in longest) / 72
    cell = max(min(max(name, LEAST_CELL), MOST_CELL), number) + 2 * PADDING
    upright = name + PADDING > cell
    side = cell * len(names)
    figure.set_size_inches(len(longest) * (side + name + 0.45), side + (name if upright else 0.2) + 0.7)
    return upright


def lower_triangle(values: NDArray[Any], labels: Sequence[str], what: str) -> Floats:
    """The scores on and below the diagonal, NaN above; a pair that has two different scores is refused."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(labels), len(labels)):
        raise LovevecError(f"{what}: scores of shape {values.shape} for {len(labels)} labels")
    differ = ~np.isclose(values, values.T, equal_nan=True) & np.isfinite(values) & np.isfinite(values.T)
    if differ.any():
        one, other = (labels[i] for i in np.argwhere(differ)[0])
        raise LovevecError(f"{what}: {one} with {other} and {other} with {one} have different scores; give one of them")
    both = np.where(np.isnan(values), values.T, values)
    both[np.triu_indices(len(labels), 1)] = np.nan
    return both


def _range(values: Floats) -> tuple[float, float]:
    """The scale: it begins below the least score, which otherwise looked like a blank."""
    found = values[np.isfinite(values)]
    if not len(found):
        return 0.0, 1.0
    low, high = float(found.min()), float(found.max())
    return low - (0.25 * (high - low) or 1.0), high
