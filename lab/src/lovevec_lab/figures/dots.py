"""Scores as dots with whiskers: a panel for each set, a row for each method. Do the intervals overlap?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from os import PathLike
from typing import Any, NamedTuple

from lovevec.figures.style import (
    FAINT,
    INK,
    QUIET,
    add_figure_title,
    add_title,
    blank_figure,
    picture_type,
    save_figure,
    short_label,
    show_frame,
)

BEST = "#c4553b"
ACROSS = 4  # panels side by side


class Dot(NamedTuple):
    """A score and its interval."""

    score: float
    low: float
    high: float


def dots(
    path: str | PathLike[str],
    methods: Sequence[str],
    panels: Mapping[str, Sequence[Dot]],
    *,
    title: str,
    x_label: str,
) -> Any:
    """Draw a dot for each of `methods`, in their order from the top, in each of `panels`; the best one stands out.

    Returns the matplotlib figure.
    """
    picture_type(path)
    across = min(ACROSS, len(panels))
    down = ceil(len(panels) / across)
    figure = blank_figure(1.6 + 2.1 * across, 0.7 + down * (0.6 + 0.27 * len(methods)))
    every = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes, (name, of_methods) in zip(every.ravel(), panels.items(), strict=False):
        _panel(axes, name, of_methods)
    for axes in every.ravel()[len(panels) :]:
        axes.set_axis_off()
    every[0, 0].set_yticks(range(len(methods)), [short_label(method) for method in methods], parse_math=False)
    every[0, 0].set_ylim(len(methods) - 0.4, -0.6)
    add_figure_title(figure, title)
    figure.supxlabel(x_label, color=QUIET, fontsize=9)
    save_figure(figure, path)
    return figure


def _panel(axes: Any, name: str, of_methods: Sequence[Dot]) -> None:
    best = max(dot.score for dot in of_methods)
    for row, dot in enumerate(of_methods):
        colour = BEST if dot.score == best and len(of_methods) > 1 else INK
        axes.plot([dot.low, dot.high], [row, row], color=colour, linewidth=1.6, alpha=0.5, solid_capstyle="round")
        axes.plot(dot.score, row, "o", color=colour, markersize=5)
        axes.annotate(
            f"{dot.score:.1f}",
            (dot.high, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},  # the row's line ends before the number
        )
    low, high = min(dot.low for dot in of_methods), max(dot.high for dot in of_methods)
    room = max(high - low, 5.0)
    axes.set_xlim(low - 0.08 * room, high + 0.34 * room)  # the numbers stand on the right
    add_title(axes, name, 9.5)
    axes.tick_params(labelsize=8, colors=INK, length=0)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    show_frame(axes)
