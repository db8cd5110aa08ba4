"""Pictures of explanations: a word's two attention maps, as the paper shows for `bec0me`, and its units' shares."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from lovevec.errors import LovevecError
from lovevec.figures.paper import INK, QUIET, blank, drawable, kind_of, save

if TYPE_CHECKING:
    from lovevec.explain import Explanation

TOWARDS, AWAY = "#2f6db5", "#c4553b"
MOST_LABELS = 60


def draw_explanation(explanation: Explanation, path: str | PathLike[str]) -> None:
    """Positional attention, self-attention and the units' shares side by side, into a .png, .svg or .pdf file."""
    kind_of(path)
    if explanation.positional is None or explanation.attention is None:
        raise LovevecError(f"nothing to draw: {explanation.notes[-1]}")
    names = [drawable(unit.name) for unit in explanation.units]
    side = min(max(0.24 * len(names), 2.4), 8.0)
    figure = blank(3 * side + 2.8, side + 1.4)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    places: list[Any] = list(figure.subplots(1, 3, width_ratios=(1, 1, 0.8)))
    takes = "what a row takes from a column"
    mapped = names[: len(explanation.attention)]  # n-grams stand outside of attention
    _map(figure, places[0], explanation.positional, mapped, "positional attention", f"{takes}, by place alone")
    _map(figure, places[1], explanation.attention, mapped, "self-attention", f"{takes}, by what they are")
    _shares(places[2], [unit.share or 0.0 for unit in explanation.units], names, explanation.head)
    figure.suptitle(_title(explanation), x=0.01, ha="left", color=INK, fontsize=12, fontweight="bold", parse_math=False)
    save(figure, path)


def _title(explanation: Explanation) -> str:
    what = "empty" if explanation.empty else "known" if explanation.known else "imputed"
    sure = "" if explanation.confidence is None else f", confidence {explanation.confidence:.2f}"
    near = ", ".join(word for word, _ in explanation.neighbors[:3])
    shown = explanation.word if len(explanation.word) <= 40 else explanation.word[:39] + "…"
    return drawable(f"{shown}   {what}{sure}" + (f"   near {near}" if near else ""))


def _map(figure: Any, axes: Any, numbers: Any, names: list[str], title: str, about: str) -> None:
    drawn = axes.imshow(numbers, cmap="Blues", vmin=0, interpolation="nearest")
    _label(axes.set_xticks, names, rotation=90)
    _label(axes.set_yticks, names)
    axes.tick_params(length=0, labelsize=_size(names), labelcolor=INK)
    _head(axes, title, about)
    bar = figure.colorbar(drawn, ax=axes, fraction=0.046, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7, labelcolor=QUIET)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _shares(axes: Any, shares: list[float], names: list[str], head: float) -> None:
    shown, labels = (np.array([*shares, head]), [*names, "(head)"]) if head else (np.array(shares), names)
    rows = np.arange(len(shown))
    axes.barh(rows, shown, color=np.where(shown >= 0, TOWARDS, AWAY), height=0.75)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    _label(axes.set_yticks, labels)
    axes.tick_params(length=0, labelsize=_size(labels), labelcolor=INK)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    _head(axes, "share", "of the final vector; they sum to 1")
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
    for spine in axes.spines.values():
        spine.set_visible(False)


def _head(axes: Any, title: str, about: str) -> None:
    axes.set_title(title, loc="left", fontsize=10, color=INK, pad=18)
    axes.annotate(about, (0, 1), (0, 5), "axes fraction", "offset points", fontsize=8, color=QUIET)


def _label(set_ticks: Any, names: list[str], **options: Any) -> None:
    """Unit names along an axis; of very many only some."""
    places = range(0, len(names), -(-len(names) // MOST_LABELS))
    set_ticks(list(places), [names[place] for place in places], parse_math=False, **options)


def _size(names: list[str]) -> float:
    return 8.5 if len(names) <= 40 else 6.5
