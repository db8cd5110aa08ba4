"""What every table of methods says of each: name, size as the paper counts it, speed."""

from __future__ import annotations

from lovevec.evaluate.markdown import Cell, millions
from lovevec.methods.method import Parameters

HEADER = ("method", "embedding", "others", "words/s")


def about(method: str, parameters: Parameters, speed: float | None) -> list[Cell]:
    """The cells under HEADER; a CharCNN has no speed of its own."""
    shown = None if speed is None else round(speed)
    return [method, millions(parameters.embedding), millions(parameters.others), shown]
