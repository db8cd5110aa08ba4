"""Two measures against each other, one better where the other is worse: a line a method, through its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from lovevec.errors import LovevecError
from lovevec.figures.style import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    QUIET,
    add_figure_title,
    add_legend,
    add_title,
    blank_figure,
    drawable,
    picture_type,
    save_figure,
    show_frame,
)

Points = Sequence[tuple[float, float]]


def tradeoff(
    path: str | PathLike[str],
    panels: Mapping[str, Mapping[str, Points]],
    *,
    title: str,
    x_label: str,
    y_label: str,
) -> Any:
    """Draw for each panel the points (x, y) of each method, joined in their order; both measures begin at 0.

    A method looks alike in every panel. Gives the matplotlib figure that was saved.
    """
    picture_type(path)
    names = list(dict.fromkeys(name for methods in panels.values() for name in methods))
    if not names:
        raise LovevecError(f"{path}: no points to draw")
    figure = blank_figure(3.6 * len(panels) + 2.0, max(3.6, 1.0 + 0.22 * len(names)))
    looks = {name: _look(place) for place, name in enumerate(names)}
    for axes, (panel, methods) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for name, points in methods.items():
            axes.plot(*zip(*points, strict=True), zorder=3, clip_on=False, **looks[name])
        axes.set_xlabel(drawable(x_label), color=INK, fontsize=9.5, parse_math=False)
        axes.set_ylabel(drawable(y_label), color=INK, fontsize=9.5, parse_math=False)
        axes.tick_params(length=0, labelsize=9, labelcolor=QUIET)
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        show_frame(axes, "bottom", "left")
        add_title(axes, panel, 10.5)
    add_figure_title(figure, title)
    add_legend(figure, [_handle(looks[name]) for name in names], names, loc="outside right center", handlelength=3)
    save_figure(figure, path)
    return figure


def _look(place: int) -> dict[str, Any]:
    few, shapes = len(COLOURS), len(MARKERS)
    colour, marker = COLOURS[place % few], MARKERS[(place + place // few) % shapes]
    look: dict[str, Any] = {"color": colour, "marker": marker, "linewidth": 1.8, "markersize": 6}
    return look | {"markeredgecolor": "white", "markeredgewidth": 0.7}


def _handle(look: Mapping[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)
