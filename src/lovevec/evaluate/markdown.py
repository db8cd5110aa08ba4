"""A table in Markdown, aligned so that it can be read as it is; and what every table says of a method."""

from __future__ import annotations

from collections.abc import Sequence

from lovevec.methods.method import Parameters

Cell = str | float | int | None
HEADER = ("method", "embedding", "others", "words/s")


def method_cells(name: str, parameters: Parameters, speed: float | None) -> list[Cell]:
    """The cells under HEADER: name, size as the paper counts it, speed if there is one."""
    shown = None if speed is None else round(speed)
    return [name, millions(parameters.embedding), millions(parameters.others), shown]


def markdown(header: Sequence[str], rows: Sequence[Sequence[Cell]], digits: int = 1) -> str:
    """Words to the left, numbers to the right; None is a dash, a float has so many digits."""
    head, *shown = ([_shown(cell, digits) for cell in row] for row in (header, *rows))
    numeric = [all(not isinstance(row[i], str) for row in rows) for i in range(len(header))]
    wide = [max(3, *(len(line[i]) for line in (head, *shown))) for i in range(len(header))]
    rule = ["-" * (width - 1) + ":" if number else "-" * width for width, number in zip(wide, numeric, strict=True)]
    lines = [_line(head, wide, numeric), _line(rule, wide, numeric)]
    return "\n".join([*lines, *(_line(row, wide, numeric) for row in shown)]) + "\n"


def millions(count: int) -> str:
    """As the paper writes parameter counts: 969M, 6.3M, 200K, -."""
    if count >= 999_500:
        return f"{count / 1e6:.1f}".removesuffix(".0") + "M" if count < 99_950_000 else f"{count / 1e6:.0f}M"
    return f"{count / 1e3:.0f}K" if count >= 1000 else str(count) if count else "-"


def _shown(cell: Cell, digits: int) -> str:
    if cell is None or cell != cell:  # nan
        return "-"
    if isinstance(cell, str):
        return " ".join(cell.splitlines()).replace("|", "\\|")
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.{digits}f}"


def _line(cells: Sequence[str], wide: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if number else cell.ljust(width)
        for cell, width, number in zip(cells, wide, numeric, strict=True)
    ]
    return "| " + " | ".join(padded) + " |"
