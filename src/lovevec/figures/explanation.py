"""A picture of an explanation: the word's two attention maps and its units' shares."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from lovevec.errors import LovevecError
from lovevec.figures.attention import MOST_LABELS, draw_maps, name_axis, name_size, room
from lovevec.figures.style import COLOURS, INK, QUIET, blank, entitle_all, frame, head, kind_of, save, short

TOWARDS, AWAY = COLOURS[:2]


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
