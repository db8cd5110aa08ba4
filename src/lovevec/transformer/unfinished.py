"""What a long run keeps beside its output so that the same command can go on: a plan, and states that replace each
other atomically. Without a folder nothing is kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.files import atomic_write, write_json

PLAN = "plan.json"
SAMPLE = 1 << 20
PATIENCE = 20  # saving may take a twentieth of the time


class Unfinished:
    """The folder of an unfinished run; `every` so many seconds a state is due."""

    def __init__(self, folder: Path | None, plan: dict[str, Any], every: float) -> None:
        self.folder, self.every = folder, every
        self.due = time.monotonic() + every
        if folder is None:
            return
        if folder.exists():
            self._refuse_other(folder, plan)
        else:
            folder.mkdir()
            write_json(folder / PLAN, plan)

    def _refuse_other(self, folder: Path, plan: dict[str, Any]) -> None:
        try:
            before = json.loads((folder / PLAN).read_text("utf-8"))
        except FileNotFoundError:
            if not any(folder.iterdir()):
                write_json(folder / PLAN, plan)  # killed before there was anything to keep
                return
            before = None
        except (OSError, ValueError):
            before = None
        if not isinstance(before, dict):
            raise LovevecError(f"{folder}: no unfinished run, or damaged; delete it, or --overwrite it")
        other = [name for name, value in plan.items() if before.get(name) != value]
        if other:
            raise LovevecError(
                f"{folder}: an unfinished run with other {', '.join(other)}; give its command again to go on, "
                "or --overwrite to begin anew"
            )

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """The state of this name, or None."""
        if self.folder is None or not (self.folder / f"{name}.npz").exists():
            return None
        try:
            with np.load(self.folder / f"{name}.npz", allow_pickle=False) as arrays:
                return {key: arrays[key] for key in arrays.files}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise LovevecError(f"{self.folder}: damaged ({error}); delete it, or --overwrite it") from None

    def save(self, name: str, **arrays: Any) -> None:
        """Write a state in the place of the last one."""
        if self.folder is None:
            return
        start = time.monotonic()
        with atomic_write(self.folder / f"{name}.npz") as file:
            np.savez(file, **arrays)
        now = time.monotonic()
        self.due = now + max(self.every, PATIENCE * (now - start) if self.every else 0)

    @property
    def is_due(self) -> bool:
        """Whether a state should be saved now."""
        return self.folder is not None and time.monotonic() >= self.due

    def remove(self) -> None:
        """The run is finished."""
        if self.folder is not None:
            self.discard(self.folder)
            self.folder = None

    def tidy(self) -> None:
        """The run is over, or failed: a folder in which nothing was kept goes."""
        if self.folder is not None and [file.name for file in self.folder.iterdir()] == [PLAN]:
            self.discard(self.folder)

    @staticmethod
    def discard(folder: Path) -> None:
        """Remove what a run left; a folder that is none of ours stays, and is refused later."""
        if (folder / PLAN).is_file():
            shutil.rmtree(folder, ignore_errors=True)


def fingerprint(path: Path) -> dict[str, Any]:
    """What tells a file from another one without reading all of it: name, size, and the hash of its two ends."""
    size = os.path.getsize(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        digest.update(file.read(SAMPLE))
        file.seek(max(size - SAMPLE, 0))
        digest.update(file.read(SAMPLE))
    return {"file": path.name, "size": size, "sha256_of_ends": digest.hexdigest()}
