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
KINDS = ("png", "svg", "pdf")
DPI = 160
MOST_LETTERS = 40


def blank(width: float, height: float) -> Any:
    """A white figure of so many inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plots") from None
    return Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained")


def kind_of(path: str | PathLike[str]) -> str:
    """png, svg or pdf, by the end of the name; anything else is an error, before the work is done."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise LovevecError(f"{path}: a picture's name ends in {', '.join('.' + kind for kind in KINDS)}")
    return kind


def save(figure: Any, path: str | PathLike[str]) -> None:
    """Write the picture file."""
    held = io.BytesIO()
    with any_script():
        figure.savefig(held, format=kind_of(path), dpi=DPI, bbox_inches="tight", pad_inches=0.12)
    with atomic_write(Path(path)) as file:
        file.write(held.getvalue())


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


def short(text: str) -> str:
    """A drawable label; of a very long one only the beginning."""
    text = drawable(text[: MOST_LETTERS + 1])
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def entitle(axes: Any, title: str, size: float = 12) -> None:
    """The title, bold, at the left end; a `$` in it is a `$`."""
    axes.set_title(drawable(title), loc="left", color=INK, fontsize=size, fontweight="bold", parse_math=False)


def entitle_all(figure: Any, title: str) -> None:
    """The title over all panels."""
    figure.suptitle(drawable(title), x=0.01, ha="left", color=INK, fontsize=12, fontweight="bold", parse_math=False)


def head(axes: Any, title: str, about: str) -> None:
    """A panel's title and below it, smaller, what is shown."""
    axes.set_title(drawable(title), loc="left", fontsize=10.5, color=INK, pad=18, fontweight="bold", parse_math=False)
    axes.annotate(about, (0, 1), (0, 5), "axes fraction", "offset points", fontsize=8, color=QUIET, parse_math=False)


def frame(axes: Any, *sides: str) -> None:
    """Of the axes' frame only these sides, faint."""
    for side, spine in axes.spines.items():
        spine.set_color(FAINT)
        spine.set_visible(side in sides)


def add_legend(of: Any, handles: list[Any], names: list[str], about: str | None = None, **options: Any) -> None:
    """A legend of axes or a figure, with any names: matplotlib would leave out `_x` and take `$x$` for a formula."""
    legend = of.legend(handles, ["-"] * len(names), frameon=False, fontsize=9, labelcolor=INK, **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(short(name))
    if about is not None:
        legend.set_title(about, prop={"size": 8.5})
        legend.get_title().set_color(QUIET)


def measure(figure: Any, text: str, size: float, weight: str = "normal") -> tuple[float, float]:
    """How wide and high a text is, in points."""
    probe = figure.text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    with any_script():
        box = probe.get_window_extent()
    probe.remove()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi
