"""How much each unit of a word attends to each, by position and by content: the paper's two attention maps of `bec0me`;
and with them the units' shares, the picture of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.figures.style import (
    COLOURS,
    INK,
    QUIET,
    add_figure_title,
    add_panel_title,
    blank_figure,
    picture_type,
    save_figure,
    short_label,
    show_frame,
    text_size,
)

MAX_UNITS_WITH_NUMBERS = 24  # larger maps have a colour bar instead
MAX_LABELS = 60  # along an axis
TOWARDS, AWAY = COLOURS[:2]  # shares that pull towards the vector, and away from it


def attention(
    path: str | PathLike[str], units: Sequence[str], positional: NDArray[Any], own: NDArray[Any], word: str
) -> Any:
    """Draw A_n and the self-attention side by side, both [n, n], with numbers from .005 on where there is room.

    path        the picture file: .png, .svg or .pdf
    units       the names of the word's n units; of an `Explanation` its first n, for n-grams stand outside of attention
    positional  A_n, the positional attention, [n, n]; that of an `Explanation`
    own         the self-attention, [n, n]; `attention` of an `Explanation`
    word        the title

    Returns the matplotlib figure that was saved.
    """
    picture_type(path)
    for numbers, name in ((positional, "positional attention"), (own, "self-attention")):
        if numbers.shape != (len(units), len(units)) or not len(units):
            raise LovevecError(f"{path}: {name} of shape {numbers.shape} for {len(units)} units; give one row a unit")
    side = min(max(0.36 * len(units), 2.6), 10.0)
    figure = blank_figure(1, 1)
    label_width = _label_width(figure, units)
    figure.set_size_inches(2 * (side + label_width) + 1.3, side + label_width + 1.2)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    _draw_maps(figure, figure.subplots(1, 2), units, positional, own, len(units) <= MAX_UNITS_WITH_NUMBERS)
    add_figure_title(figure, short_label(word))
    save_figure(figure, path)
    return figure


def _draw_maps(
    figure: Any,
    places: Sequence[Any],
    units: Sequence[str],
    positional: NDArray[Any],
    own: NDArray[Any],
    numbered: bool,
) -> None:
    """Draw the two maps on two axes; without numbers in the cells (`numbered`) each has a colour bar."""
    takes = "what a row takes from a column"
    for axes, numbers, title, about in (
        (places[0], positional, "positional attention", f"{takes}, by place alone"),
        (places[1], own, "self-attention", f"{takes}, by what they are"),
    ):
        image = draw_cells(axes, numbers, 0.0, float(np.nanmax(numbers)) or 1.0)
        _label_axis(axes.set_xticks, units, rotation=90)
        _label_axis(axes.set_yticks, units)
        axes.tick_params(length=0, labelsize=_label_size(units), labelcolor=INK)
        if numbered:
            number_cells(axes, numbers, _format_weight, 7)
        else:
            _add_colour_bar(figure, axes, image)
        add_panel_title(axes, title, about)


def _format_weight(weight: float) -> str:
    """0.2 -> ".20", 1 -> "1.0", and an empty string below 0.005, where the number would only be clutter."""
    if weight < 0.005:
        return ""
    return f"{weight:.2f}".removeprefix("0")[:3]


def _add_colour_bar(figure: Any, axes: Any, image: Any) -> None:
    bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7, labelcolor=QUIET)


def _label_axis(set_ticks: Any, names: Sequence[str], **options: Any) -> None:
    """Write unit names along an axis; of more than MAX_LABELS only every second, third … name."""
    places = range(0, len(names), -(-len(names) // MAX_LABELS))
    set_ticks(list(places), [short_label(names[place]) for place in places], parse_math=False, **options)


def _label_width(figure: Any, names: Sequence[str]) -> float:
    """The width of the longest name, in inches."""
    return max(text_size(figure, short_label(name), _label_size(names))[0] for name in set(names)) / 72


def _label_size(names: Sequence[str]) -> float:
    return 8.5 if len(names) <= 40 else 6.5


def draw_explanation(explanation: Any, path: str | PathLike[str]) -> Any:
    """Draw positional attention, self-attention and the units' shares side by side.

    `explanation` is what `love.explain` gives; `path` names a .png, .svg or .pdf file. Returns the matplotlib figure.

        draw_explanation(love.explain("oxgen"), "oxgen.svg")
    """
    picture_type(path)
    if explanation.positional is None or explanation.attention is None:
        raise LovevecError(f"nothing to draw: {explanation.notes[-1]}")
    names = [unit.name for unit in explanation.units]
    side = min(max(0.24 * len(names), 2.4), 8.0)
    figure = blank_figure(1, 1)
    label_width = _label_width(figure, names)
    figure.set_size_inches(3 * (side + label_width) + 1.6, side + label_width + 1.0)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    *maps, shares = figure.subplots(1, 3, width_ratios=(1, 1, 0.8))
    mapped = names[: len(explanation.attention)]  # n-grams stand outside of attention
    _draw_maps(figure, maps, mapped, explanation.positional, explanation.attention, numbered=False)
    _draw_shares(shares, [unit.share or 0.0 for unit in explanation.units], names, explanation.head)
    add_figure_title(figure, _title(explanation))
    save_figure(figure, path)
    return figure


def _title(explanation: Any) -> str:
    what = "empty" if explanation.empty else "known" if explanation.known else "imputed"
    sure = "" if explanation.confidence is None else f", confidence {explanation.confidence:.2f}"
    near = ", ".join(word for word, _ in explanation.neighbors[:3])
    return f"{short_label(explanation.word)}   {what}{sure}" + (f"   near {near}" if near else "")


def _draw_shares(axes: Any, shares: list[float], names: list[str], head_share: float) -> None:
    values, labels = (np.array([*shares, head_share]), [*names, "(head)"]) if head_share else (np.array(shares), names)
    rows = np.arange(len(values))
    axes.barh(rows, values, color=np.where(values >= 0, TOWARDS, AWAY), height=0.75)
    axes.set_ylim(len(values) - 0.5, -0.5)
    _label_axis(axes.set_yticks, labels)
    axes.tick_params(length=0, labelsize=_label_size(labels), labelcolor=INK)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    add_panel_title(axes, "share", "of the final vector; they sum to 1")
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    margin = 0.16 * max(high - low, 1e-9)
    axes.set_xlim(low - (margin if low < -0.005 else 0.0), high + margin)
    axes.set_xticks([])
    if len(values) <= MAX_LABELS:
        for row, share in enumerate(values.tolist()):
            right = share > -0.005
            axes.annotate(
                f"{abs(share) if right else share:.0%}",
                (share, row),
                xytext=(3 if right else -3, 0),
                textcoords="offset points",
                ha="left" if right else "right",
                va="center",
                fontsize=7,
                color=QUIET,
            )
    show_frame(axes)


def draw_cells(axes: Any, values: NDArray[Any], low: float, high: float) -> Any:
    """Draw a matrix of scores from light (`low`) to dark (`high`), with white lines between; NaN is left white."""
    image = axes.imshow(values, cmap="Blues", vmin=low, vmax=high, interpolation="nearest")
    show_frame(axes)
    if max(values.shape) <= 40:
        for axis, count in ((axes.xaxis, values.shape[1]), (axes.yaxis, values.shape[0])):
            axis.set_ticks(np.arange(count - 1) + 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.2)
        axes.tick_params(which="minor", length=0)
    return image


def number_cells(axes: Any, values: NDArray[Any], format_value: Callable[[float], str], size: float) -> None:
    """Write the number of each cell of a heatmap inside it, black or white, whichever can be read."""
    colours = axes.images[0].to_rgba(values)
    for row, column in np.argwhere(np.isfinite(values)).tolist():
        if text := format_value(values[row, column]):
            ink = readable_on(colours[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)


def readable_on(colour: NDArray[Any]) -> str:
    """Black or white: that which contrasts more with an RGB colour (relative luminance as in WCAG)."""
    parts = np.asarray(colour[:3], dtype=np.float64)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    light = float(linear @ (0.2126, 0.7152, 0.0722))
    return "black" if (light + 0.05) ** 2 > 1.05 * 0.05 else "white"
