"""A folder of results: one JSON with everything (settings, seeds, versions, every score), a table to read, pictures."""

from __future__ import annotations

import math
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lovevec import __version__
from lovevec.errors import LovevecError
from lovevec.files import write_json, write_text

Pictures = Mapping[str, Callable[[Path], None]]
PACKAGES = (
    "numpy",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "rapidfuzz",
    "snowballstemmer",
    "symspellpy",
    "numba",
    "matplotlib",
)


def versions() -> dict[str, str]:
    """What ran: Python, this package, and those that bear on numbers."""
    found = {"python": platform.python_version(), "lovevec": __version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """What it ran on, as far as speed depends on it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"system": platform.system(), "machine": platform.machine(), "cores": cores}


def refuse_bad_folder(folder: str | Path) -> Path:
    """The folder for results, made if it is not there; an error before any work is done where that cannot be."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise LovevecError(f"{folder}: cannot hold results ({error.strerror}); name a folder with -o") from None
    return folder


def write_results(
    folder: Path,
    name: str,
    settings: Mapping[str, Any],
    scores: Any,
    table: str,
    pictures: Pictures | None = None,
) -> list[str]:
    """Write `name`.json, then what `write_page` does; returns what to tell people."""
    file = folder / f"{name}.json"
    about = {"task": name, "settings": plain(settings), "versions": versions(), "machine": machine()}
    write_json(file, {**about, "scores": plain(scores)})
    return [f"written: {file}", *write_page(folder, name, table, pictures)]


def write_page(folder: Path, name: str, table: str, pictures: Pictures | None = None) -> list[str]:
    """Write `name`.md and the pictures (name.png -> a function that draws it there). Where they cannot be drawn for
    some reason, that is told and nothing else is lost."""
    write_text(folder / f"{name}.md", table)
    told = [f"written: {folder / f'{name}.md'}"]
    for file, draw in (pictures or {}).items():
        try:
            draw(folder / file)
            told.append(f"written: {folder / file}")
        except LovevecError as error:
            told.append(f"not drawn: {folder / file}: {error}")
    return told


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
