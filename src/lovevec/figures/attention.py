"""What each unit of a word takes from each, by place and by what they are: the paper's two maps of `bec0me`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.figures.heatmap import number_cells, painted
from lovevec.figures.labels import measure
from lovevec.figures.style import INK, QUIET, blank, entitle_all, head, kind_of, save, short

MOST_NUMBERS = 24
MOST_LABELS = 60


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
