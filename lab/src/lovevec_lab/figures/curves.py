"""Scores against the share of damaged words, one line a method, as in the paper's typo-impact figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    settle,
    short_label,
    show_frame,
    text_size,
)
from lovevec_lab.figures.labels import GAP, apart

Path = str | PathLike[str]
Series = Mapping[str, Sequence[float]]
Floats = NDArray[np.float64]
DASHES = ("-", "--", ":", "-.")
MOST_TICKS = 12
LABEL = 9.0  # points
BESIDE = 16.0  # points from the last value to the names


class Style(NamedTuple):
    """How a method's line looks: the same in every panel."""

    colour: str
    marker: str
    dash: str


def curves(
    path: Path,
    series: Series,
    x: Sequence[float],
    *,
    title: str,
    x_label: str,
    y_label: str,
    spread: Series | None = None,
) -> Any:
    """Draw one line a method, named at its right end, with a band of ± `spread` where there is one.

    A value that is not there is NaN, and leaves a gap. Gives the matplotlib figure that was saved.
    """
    picture_type(path)
    _refuse_odd(path, series, x, spread)
    figure = blank_figure(7.6, max(4.4, 1.2 + 0.24 * len(series)))
    axes = figure.subplots()
    styles = _styles(series)
    _lines(axes, series, x, styles, spread or {})
    _frame(axes, x, x_label, y_label)
    add_title(axes, title)
    _name_ends(axes, series, x, styles)
    save_figure(figure, path)
    return figure


def curve_panels(
    path: Path,
    panels: Mapping[str, Series],
    x: Sequence[float],
    *,
    title: str,
    x_label: str,
    y_label: str | Mapping[str, str],
    spread: Mapping[str, Series] | None = None,
) -> Any:
    """The same for several data sets side by side, with one legend; `y_label` is for all, or by panel.

    A method looks alike in every panel, and may be missing from some.
    """
    picture_type(path)
    if not panels:
        raise LovevecError(f"{path}: no panels to draw")
    for name, series in panels.items():
        _refuse_odd(path, series, x, (spread or {}).get(name))
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    styles = _styles(names)
    figure = blank_figure(4.1 * len(panels) + 2.0, max(3.8, 1.0 + 0.22 * len(names)))
    figure.get_layout_engine().set(w_pad=0.1)
    for axes, (name, series) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        _lines(axes, series, x, styles, (spread or {}).get(name) or {})
        _frame(axes, x, x_label, y_label if isinstance(y_label, str) else y_label[name])
        add_title(axes, name, 10.5)
    add_figure_title(figure, title)
    add_legend(figure, [_handle(styles[name]) for name in names], names, loc="outside right center", handlelength=3)
    save_figure(figure, path)
    return figure


def _refuse_odd(path: Path, series: Series, x: Sequence[float], spread: Series | None) -> None:
    if not series or not len(x):
        raise LovevecError(f"{path}: no curves to draw")
    if not np.all(np.diff(np.asarray(x, dtype=np.float64)) > 0):
        raise LovevecError(f"{path}: the places on the x axis must rise, not {', '.join(map(str, x))}")
    for name, values in [*series.items(), *(spread or {}).items()]:
        if len(values) != len(x):
            raise LovevecError(f"{path}: {name} has {len(values)} values for {len(x)} places on the x axis")
    for name, values in series.items():
        if not np.isfinite(np.asarray(values, dtype=np.float64)).any():
            raise LovevecError(f"{path}: {name} has no values to draw")
    if unknown := (spread or {}).keys() - series.keys():
        raise LovevecError(f"{path}: a spread without a curve: {', '.join(sorted(unknown))}")


def _styles(names: Sequence[str] | Series) -> dict[str, Style]:
    """Colours first; when they are used up, other dashes with other markers."""
    few, shapes = len(COLOURS), len(MARKERS)
    return {
        name: Style(COLOURS[i % few], MARKERS[(i + i // few) % shapes], DASHES[i // few % len(DASHES)])
        for i, name in enumerate(names)
    }


def _look(style: Style) -> dict[str, Any]:
    look: dict[str, Any] = {"color": style.colour, "linestyle": style.dash, "marker": style.marker}
    return look | {"linewidth": 1.8, "markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.7}


def _handle(style: Style) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **_look(style))


def _lines(axes: Any, series: Series, x: Sequence[float], styles: Mapping[str, Style], spread: Series) -> None:
    for name, values in series.items():
        heights = np.asarray(values, dtype=np.float64)
        axes.plot(x, heights, zorder=3, clip_on=False, **_look(styles[name]))
        if name in spread:
            half = np.abs(np.asarray(spread[name], dtype=np.float64))
            axes.fill_between(x, heights - half, heights + half, color=styles[name].colour, alpha=0.15, linewidth=0)


def _frame(axes: Any, x: Sequence[float], x_label: str, y_label: str) -> None:
    axes.set_xlabel(drawable(x_label), color=INK, fontsize=9.5, parse_math=False)
    axes.set_ylabel(drawable(y_label), color=INK, fontsize=9.5, parse_math=False)
    axes.tick_params(length=0, labelsize=9, labelcolor=QUIET)
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    show_frame(axes, "bottom")
    axes.margins(x=0.02)
    if len(x) <= MOST_TICKS and (len(x) == 1 or np.diff(x).min() > 0.05 * (x[-1] - x[0])):
        axes.set_xticks(x, [f"{place:g}" for place in x])


def _name_ends(axes: Any, series: Series, x: Sequence[float], styles: Mapping[str, Style]) -> None:
    """Each method's name to the right of its last value, moved up or down where names would lie on each other."""
    ends = {name: int(np.flatnonzero(np.isfinite(values))[-1]) for name, values in series.items()}
    names = [
        axes.annotate(
            short_label(name),
            (x[end], series[name][end]),
            xytext=(1.05, 0.5),
            textcoords="axes fraction",
            va="center",
            fontsize=LABEL,
            color=styles[name].colour,
            fontweight="bold",
            parse_math=False,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": styles[name].colour,
                "linewidth": 0.7,
                "alpha": 0.6,
                "shrinkA": 1,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )
        for name, end in ends.items()
    ]
    settle(axes.figure)
    wide, high = axes.get_window_extent().size * 72 / axes.figure.dpi
    spots = axes.transData.transform([(x[end], series[name][end]) for name, end in ends.items()])
    wanted: Floats = axes.transAxes.inverted().transform(spots)[:, 1]
    line = max(text_size(axes.figure, name.get_text(), LABEL, "bold")[1] for name in names) + GAP
    for name, place in zip(names, apart(wanted, line / high, 0.0, 1.0), strict=True):
        name.set_position((1 + BESIDE / wide, place))
