"""The tables of real misspellings, one a set: how often the right word is near, and how near."""

from __future__ import annotations

from collections.abc import Sequence

from lovevec.evaluate.markdown import Cell, markdown
from lovevec.evaluate.reports.rows import HEADER, about
from lovevec.evaluate.typos import SetScore, Typos

COLUMNS = ("covered %", "top-1 %", "95 %", "top-10 %", "95 %", "cosine")


def typos_report(target: str, scores: Sequence[Typos], speeds: Sequence[float], mapped: Sequence[bool]) -> str:
    """Methods (rows); `speeds` are words a second, `mapped` says which methods came from another space."""
    parts = []
    for place, one in enumerate(scores[0].sets):
        rows: list[list[Cell]] = [
            [*about(score.method + (" (mapped)" if far else ""), score.parameters, speed), *_cells(score.sets[place])]
            for score, speed, far in zip(scores, speeds, mapped, strict=True)
        ]
        parts.append(f"{one.name}: {one.misspellings:,} misspellings of {one.words:,} words of {target}\n")
        parts.append(markdown([*HEADER, *COLUMNS], rows))
    return "\n".join(parts)


def _cells(score: SetScore) -> list[Cell]:
    shown: list[Cell] = [score.covered]
    for measured in (score.top1, score.top10):
        shown += [measured.mean, f"{measured.low:.1f}–{measured.high:.1f}"]
    return [*shown, f"{score.cosine.mean:.3f}"]
