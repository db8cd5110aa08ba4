"""The result of a task: tables in Markdown, and a folder with one JSON of everything (settings, seeds, versions, every
score), the tables to read, pictures."""

from __future__ import annotations

import math
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lovevec import __version__
from lovevec.engine.threads import usable_cores
from lovevec.errors import LovevecError
from lovevec.files import write_json, write_text
from lovevec_lab.methods.method import Parameters

Cell = str | float | int | None
HEADER = ("method", "embedding", "others", "words/s")  # what every table says of a method
Pictures = Mapping[str, Callable[[Path], None]]
PACKAGES = (
    "numpy",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "rapidfuzz",
    "scikit-learn",
    "snowballstemmer",
    "symspellpy",
    "matplotlib",
)


def method_cells(name: str, parameters: Parameters, speed: float | None) -> list[Cell]:
    """The cells under HEADER: name, size as the paper counts it, speed if there is one."""
    shown = None if speed is None else round(speed)
    return [name, millions(parameters.embedding), millions(parameters.others), shown]


def markdown(header: Sequence[str], rows: Sequence[Sequence[Cell]], digits: int = 1) -> str:
    """Words to the left, numbers to the right; None is a dash, a float has so many digits."""
    head, *shown = ([_cell_text(cell, digits) for cell in row] for row in (header, *rows))
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


def _cell_text(cell: Cell, digits: int) -> str:
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


@dataclass(frozen=True)
class MethodScores:
    """What a task has measured of one method; each task adds its scores."""

    method: str
    parameters: Parameters
    words_per_second: float | None = field(default=None, kw_only=True)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "parameters": self.parameters._asdict()}


@dataclass(frozen=True, eq=False)
class Result:
    """What a task has measured, called `name` in files: `settings` that the numbers depend on, `scores` (plain values),
    the `table` to read, and what to draw (name.png -> a function that draws it there)."""

    name: str
    settings: Mapping[str, Any]
    scores: Any
    table: str
    drawings: Pictures = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it: also versions and machine."""
        about = {"task": self.name, "settings": plain(self.settings), "versions": versions(), "machine": machine()}
        return {**about, "scores": plain(self.scores)}

    def markdown(self) -> str:
        """The table."""
        return self.table

    def pictures(self) -> Pictures:
        """File names, and the functions that draw them."""
        return self.drawings

    def write(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write `name`.json, `name`.md and the pictures; returns what to tell people."""
        folder = refuse_bad_folder(folder)
        file = folder / f"{self.name}.json"
        write_json(file, self.as_dict())
        return [f"written: {file}", *write_page(folder, self.name, self.table, self.drawings)]


def versions() -> dict[str, str]:
    """What ran: Python, this package, and those that bear on numbers."""
    installed = {"python": platform.python_version(), "lovevec": __version__}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


def machine() -> dict[str, Any]:
    """What it ran on, as far as speed depends on it."""
    return {"system": platform.system(), "machine": platform.machine(), "cores": usable_cores()}


def refuse_bad_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder for results, made if it is not there; an error before any work is done where that cannot be."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise LovevecError(f"{folder}: cannot hold results ({error.strerror}); name a folder with -o") from None
    return folder


def write_page(folder: Path, name: str, table: str, pictures: Pictures) -> list[str]:
    """Write `name`.md and the pictures; returns what to tell people. Where a picture cannot be drawn for some reason,
    that is told and nothing else is lost."""
    page = folder / f"{name}.md"
    write_text(page, table)
    messages = [f"written: {page}"]
    for file, draw in pictures.items():
        try:
            draw(folder / file)
            messages.append(f"written: {folder / file}")
        except LovevecError as error:
            messages.append(f"not drawn: {folder / file}: {error}")
    return messages


def plain(value: Any) -> Any:
    """The same as JSON can hold it: numpy's numbers as Python's, NaN as null, a path as its last part (no folders of
    this machine in what people publish)."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, os.PathLike):
        return Path(value).name
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
