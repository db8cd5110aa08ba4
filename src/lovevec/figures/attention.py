"""What each unit of a word takes from each, by place and by what they are: the paper's two maps of `bec0me`; and with
them the units' shares, the picture of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.figures.style import COLOURS, INK, QUIET, blank, entitle_all, frame, head, kind_of, measure, save, short

MOST_NUMBERS = 24
MOST_LABELS = 60
TOWARDS, AWAY = COLOURS[:2]  # shares that pull towards the vector, and away from it


def attention(
    path: str | PathLike[str], units: Sequence[str], positional: NDArray[Any], own: NDArray[Any], word: str
) -> Any:
    """Draw A_n and the self-attention side by side, both [n, n], with numbers from .005 on where there is room.

    Of an `Explanation`: the names of its first n units (n-grams stand outside of attention), `positional` and
    `attention`. Gives the matplotlib figure that was saved.
    """
    kind_of(path)
    for numbers, name in ((positional, "positional attention"), (own, "self-attention")):
        if numbers.shape != (len(units), len(units)) or not len(units):
            raise LovevecError(f"{path}: {name} of shape {numbers.shape} for {len(units)} units; give one row a unit")
    side = min(max(0.36 * len(units), 2.6), 10.0)
    figure = blank(1, 1)
    beside = room(figure, units)
    figure.set_size_inches(2 * (side + beside) + 1.3, side + beside + 1.2)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    draw_maps(figure, figure.subplots(1, 2), units, positional, own, len(units) <= MOST_NUMBERS)
    entitle_all(figure, short(word))
    save(figure, path)
    return figure


def draw_maps(
    figure: Any,
    places: Sequence[Any],
    units: Sequence[str],
    positional: NDArray[Any],
    own: NDArray[Any],
    numbered: bool,
) -> None:
    """The two maps on two axes; without numbers in the cells each has a colour bar."""
    takes = "what a row takes from a column"
    for axes, numbers, title, about in (
        (places[0], positional, "positional attention", f"{takes}, by place alone"),
        (places[1], own, "self-attention", f"{takes}, by what they are"),
    ):
        image = painted(axes, numbers, 0.0, float(np.nanmax(numbers)) or 1.0)
        name_axis(axes.set_xticks, units, rotation=90)
        name_axis(axes.set_yticks, units)
        axes.tick_params(length=0, labelsize=name_size(units), labelcolor=INK)
        if numbered:
            number_cells(axes, numbers, _written, 7)
        else:
            _bar(figure, axes, image)
        head(axes, title, about)


def _written(weight: float) -> str:
    """.20, 1.0; nothing for next to nothing."""
    if weight < 0.005:
        return ""
    return f"{weight:.2f}".removeprefix("0")[:3]


def _bar(figure: Any, axes: Any, image: Any) -> None:
    bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7, labelcolor=QUIET)


def name_axis(set_ticks: Any, names: Sequence[str], **options: Any) -> None:
    """Unit names along an axis; of very many only some."""
    places = range(0, len(names), -(-len(names) // MOST_LABELS))
    set_ticks(list(places), [short(names[place]) for place in places], parse_math=False, **options)


def room(figure: Any, names: Sequence[str]) -> float:
    """How many inches the longest name needs."""
    return max(measure(figure, short(name), name_size(names))[0] for name in set(names)) / 72


def name_size(names: Sequence[str]) -> float:
    """The size of unit names, in points."""
    return 8.5 if len(names) <= 40 else 6.5


def draw_explanation(explanation: Any, path: str | PathLike[str]) -> Any:
    """Positional attention, self-attention and the units' shares side by side, into a .png, .svg or .pdf file.
    `explanation` is what `love.explain` gives."""
    kind_of(path)
    if explanation.positional is None or explanation.attention is None:
        raise LovevecError(f"nothing to draw: {explanation.notes[-1]}")
    names = [unit.name for unit in explanation.units]
    side = min(max(0.24 * len(names), 2.4), 8.0)
    figure = blank(1, 1)
    beside = room(figure, names)
    figure.set_size_inches(3 * (side + beside) + 1.6, side + beside + 1.0)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    *maps, shares = figure.subplots(1, 3, width_ratios=(1, 1, 0.8))
    mapped = names[: len(explanation.attention)]  # n-grams stand outside of attention
    draw_maps(figure, maps, mapped, explanation.positional, explanation.attention, numbered=False)
    _shares(shares, [unit.share or 0.0 for unit in explanation.units], names, explanation.head)
    entitle_all(figure, _title(explanation))
    save(figure, path)
    return figure


def _title(explanation: Any) -> str:
    what = "empty" if explanation.empty else "known" if explanation.known else "imputed"
    sure = "" if explanation.confidence is None else f", confidence {explanation.confidence:.2f}"
    near = ", ".join(word for word, _ in explanation.neighbors[:3])
    return f"{short(explanation.word)}   {what}{sure}" + (f"   near {near}" if near else "")


def _shares(axes: Any, shares: list[float], names: list[str], of_head: float) -> None:
    shown, labels = (np.array([*shares, of_head]), [*names, "(head)"]) if of_head else (np.array(shares), names)
    rows = np.arange(len(shown))
    axes.barh(rows, shown, color=np.where(shown >= 0, TOWARDS, AWAY), height=0.75)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    name_axis(axes.set_yticks, labels)
    axes.tick_params(length=0, labelsize=name_size(labels), labelcolor=INK)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    head(axes, "share", "of the final vector; they sum to 1")
    low, high = min(0.0, float(shown.min())), max(0.0, float(shown.max()))
    room = 0.16 * max(high - low, 1e-9)
    axes.set_xlim(low - (room if low < -0.005 else 0.0), high + room)
    axes.set_xticks([])
    if len(shown) <= MOST_LABELS:
        for row, share in enumerate(shown.tolist()):
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
    frame(axes)


def painted(axes: Any, values: NDArray[Any], low: float, high: float) -> Any:
    """Scores from light to dark, with white lines between; NaN is not painted."""
    image = axes.imshow(values, cmap="Blues", vmin=low, vmax=high, interpolation="nearest")
    frame(axes)
    if max(values.shape) <= 40:
        for axis, count in ((axes.xaxis, values.shape[1]), (axes.yaxis, values.shape[0])):
            axis.set_ticks(np.arange(count - 1) + 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.2)
        axes.tick_params(which="minor", length=0)
    return image


def number_cells(axes: Any, values: NDArray[Any], written: Callable[[float], str], size: float) -> None:
    """The number of each painted cell inside it, black or white, whichever can be read."""
    colours = axes.images[0].to_rgba(values)
    for row, column in np.argwhere(np.isfinite(values)).tolist():
        if text := written(values[row, column]):
            ink = readable_on(colours[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)


def readable_on(colour: NDArray[Any]) -> str:
    """Black or white: that which contrasts more with an RGB colour (relative luminance as in WCAG)."""
    parts = np.asarray(colour[:3], dtype=np.float64)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    light = float(linear @ (0.2126, 0.7152, 0.0722))
    return "black" if (light + 0.05) ** 2 > 1.05 * 0.05 else "white"
