"""What the pages share: a heading that names the target, our rows with the paper's below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lovevec.evaluate.markdown import Cell, markdown
from lovevec.evaluate.reports.rows import HEADER, about
from lovevec.methods.method import Parameters

__all__ = ["HEADER", "PAPER", "QUICK", "beside", "mean", "page_of", "size_and_speed"]
PAPER = "· in the paper"
QUICK = "Measured with --quick: numbers that only show that everything runs."


def page_of(title: str, scores: Mapping[str, Any], *parts: str) -> str:
    """Title, target, then the parts."""
    target = scores["target"]
    said = (
        f"Target: {target['name']}, {target['words']:,} words of {target['dim']} dimensions. The paper's target is"
        " fasttext-crawl-300d-2M: compare orders and gaps rather than numbers."
    )
    quick = QUICK if target.get("quick") else ""
    return "\n\n".join(part.strip() for part in (f"# {title}", said, quick, *parts) if part.strip()) + "\n"


def beside(header: Sequence[str], rows: Mapping[str, Sequence[Cell]], paper: Mapping[str, Sequence[Cell]]) -> str:
    """A table with a row of the paper's numbers, padded with dashes, below each of ours that the paper has."""
    lines: list[Sequence[Cell]] = []
    for name, row in rows.items():
        lines.append((name, *row))
        if name in paper:
            theirs = list(paper[name])
            lines.append((PAPER, *theirs, *[None] * (len(row) - len(theirs))))
    return markdown(header, lines)


def size_and_speed(found: Mapping[str, Any]) -> list[Cell]:
    """The cells under HEADER behind the name."""
    return about("", Parameters(**found["parameters"]), found["words_per_second"])[1:]


def mean(values: Sequence[float]) -> float:
    """The plain mean."""
    return sum(values) / len(values)
