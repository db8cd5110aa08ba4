"""What all pictures share: a blank figure, colours, plain titles, and saving it whole or not at all."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError, MissingExtra
from lovevec.files import atomic_write

INK, QUIET, FAINT = "#1f2933", "#66717d", "#d9dee4"
# Found by search: told apart with any kind of colour vision, and dark enough for text on white (a test measures both).
COLOURS = ("#2266bb", "#d97400", "#00a676", "#661166", "#f01a55", "#445500", "#aa6699", "#770033")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "p")
PICTURE_TYPES = ("png", "svg", "pdf")
DPI = 160
MAX_LABEL_LETTERS = 40


def blank_figure(width: float, height: float) -> Any:
    """A white matplotlib figure, `width` and `height` in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plots") from None
    return Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained")


def picture_type(path: str | PathLike[str]) -> str:
    """png, svg or pdf, by the end of the file's name; an error for any other, to raise before the work is done."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in PICTURE_TYPES:
        raise LovevecError(f"{path}: a picture's name ends in {', '.join('.' + kind for kind in PICTURE_TYPES)}")
    return kind


def save_figure(figure: Any, path: str | PathLike[str]) -> None:
    """Write a figure to a picture file, whole or not at all; the type is that of the file's name."""
    data = io.BytesIO()
    with any_script():
        figure.savefig(data, format=picture_type(path), dpi=DPI, bbox_inches="tight", pad_inches=0.12)
    with atomic_write(Path(path)) as file:
        file.write(data.getvalue())


def settle(figure: Any) -> None:
    """Lay everything out and hold it there: from now on places on the page can be measured."""
    with any_script():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


@contextmanager
def any_script() -> Iterator[None]:
    """Letters that the font lacks are drawn as boxes, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def drawable(text: str) -> str:
    """Control characters and lone surrogates as escapes, or the font would stumble over them."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def short_label(text: str) -> str:
    """A drawable label of at most MAX_LABEL_LETTERS letters; a longer one ends in an ellipsis."""
    text = drawable(text[: MAX_LABEL_LETTERS + 1])
    return text if len(text) <= MAX_LABEL_LETTERS else text[: MAX_LABEL_LETTERS - 1] + "…"


def add_title(axes: Any, title: str, size: float = 12) -> None:
    """Write the title of axes, bold, at the left end; a `$` in it is a `$`, not a formula."""
    axes.set_title(drawable(title), loc="left", color=INK, fontsize=size, fontweight="bold", parse_math=False)


def add_figure_title(figure: Any, title: str) -> None:
    """Write the title of a figure over all its panels, bold, at the left end."""
    figure.suptitle(drawable(title), x=0.01, ha="left", color=INK, fontsize=12, fontweight="bold", parse_math=False)


def add_panel_title(axes: Any, title: str, about: str) -> None:
    """Write a panel's title and below it, smaller, what the panel is about."""
    axes.set_title(drawable(title), loc="left", fontsize=10.5, color=INK, pad=18, fontweight="bold", parse_math=False)
    axes.annotate(about, (0, 1), (0, 5), "axes fraction", "offset points", fontsize=8, color=QUIET, parse_math=False)


def show_frame(axes: Any, *sides: str) -> None:
    """Show only these sides of the axes' frame, faint: left, right, top, bottom."""
    for side, spine in axes.spines.items():
        spine.set_color(FAINT)
        spine.set_visible(side in sides)


def add_legend(of: Any, handles: list[Any], names: list[str], about: str | None = None, **options: Any) -> None:
    """A legend of axes or a figure, with any names: matplotlib would leave out `_x` and take `$x$` for a formula."""
    legend = of.legend(handles, ["-"] * len(names), frameon=False, fontsize=9, labelcolor=INK, **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(short_label(name))
    if about is not None:
        legend.set_title(about, prop={"size": 8.5})
        legend.get_title().set_color(QUIET)


def text_size(figure: Any, text: str, size: float, weight: str = "normal") -> tuple[float, float]:
    """The width and height of a text drawn at `size`, in points."""
    probe = figure.text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    with any_script():
        box = probe.get_window_extent()
    probe.remove()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi
