"""What all pictures share: a blank figure, colours, and saving it whole or not at all."""

from __future__ import annotations

import io
import warnings
from os import PathLike
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError, MissingExtra
from lovevec.files import atomic_write

INK, QUIET = "#1f2933", "#7b8794"
KINDS = ("png", "svg", "pdf")


def blank(width: float, height: float) -> Any:
    """A white figure of so many inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plots") from None
    return Figure(figsize=(width, height), facecolor="white", layout="constrained")


def kind_of(path: str | PathLike[str]) -> str:
    """png, svg or pdf, by the end of the name; anything else is an error, before the work is done."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise LovevecError(f"{path}: a picture's name ends in {', '.join('.' + kind for kind in KINDS)}")
    return kind


def save(figure: Any, path: str | PathLike[str]) -> None:
    """Write the picture file."""
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a script that the font lacks is drawn as boxes
        figure.savefig(held, format=kind_of(path), dpi=160, bbox_inches="tight", pad_inches=0.12)
    with atomic_write(Path(path)) as file:
        file.write(held.getvalue())


def drawable(text: str) -> str:
    """Control characters and lone surrogates as escapes, or the font would stumble over them."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
