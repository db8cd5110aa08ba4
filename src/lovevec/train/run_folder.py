"""How a stopped run is resumed after Ctrl-C, a crash or kill -9: what its output folder keeps until the model is there.

    FOLDER/.unfinished/run.json                  the plan: the target and the settings
    FOLDER/.unfinished/prepared/                 the prepared words (prepared.py)
    FOLDER/.unfinished/checkpoint.safetensors    the weights, the optimiser's state and the step (loop.py)
    FOLDER/.unfinished/seconds.safetensors       what the run took until it was stopped

Every batch and every draw of dropout is a function of the seed and the step, so a run that goes on from a checkpoint
ends, on a CPU, with the same bits as one that was never stopped.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError, Parameter
from lovevec.files import Lock
from lovevec.files.checkpoints import OVERWRITE, PLAN, UNFINISHED, CheckpointFolder
from lovevec.files.together import NEW
from lovevec.model.folder import CARD, CONFIG, OPTIONAL, TOKENIZER, WEIGHTS, WORDS, holds_model
from lovevec.progress import Progress
from lovevec.train.settings import Settings, with_files
from lovevec.transformer.load import absolute_source, is_transformer

PREPARED, SECONDS, REPORT = "prepared", "seconds", "report.json"
MODEL_FILES = (CONFIG, WEIGHTS, TOKENIZER, WORDS, *OPTIONAL, CARD, REPORT)


class RunFolder:
    """The output folder of a run and what it keeps there; without a `path` nothing is kept. Of several processes that
    train together only the first writes."""

    def __init__(self, path: Path | None, writes: bool = True) -> None:
        self.path, self.writes = path, writes and path is not None
        self.scratch = None if path is None else path / UNFINISHED
        self.prepared = None if path is None else path / UNFINISHED / PREPARED

    def unfinished(self, seconds: float = 0.0) -> CheckpointFolder:
        """The folder of what is unfinished, with a checkpoint due each time these `seconds` have passed."""
        return CheckpointFolder(self.scratch, seconds)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of the folder; a new one that stays empty goes again."""
        path = self.path if self.writes else None
        lock, new = Lock(path) if path else None, path is not None and not path.exists()
        try:
            if lock is not None:
                lock.take()
            yield
        except OSError as error:
            raise LovevecError(f"{error.filename or self.path}: cannot be written ({error.strerror})") from None
        finally:
            if lock is not None:
                lock.release()
            if path is not None and new and path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def begin(self, target: Any, settings: Settings, overwrite: bool) -> None:
        """Write the plan, with absolute paths. A folder with a model or another run is refused unless `overwrite`."""
        if self.path is None or not self.writes:
            return
        if self.unfinished().exists and not overwrite:
            raise LovevecError(
                f"{self.path}: holds an unfinished run; go on with {Parameter('resume', self.path)}, or {OVERWRITE}"
            )
        there = [name for name in MODEL_FILES if (self.path / name).exists()]
        if there and not overwrite:
            what = "a model already" if CONFIG in there else f"{there[0]}, which a model would replace"
            raise LovevecError(f"{self.path}: holds {what}; choose another folder, or {OVERWRITE}")
        place = None
        if is_transformer(target):
            place = absolute_source(target)
        elif isinstance(target, (str, os.PathLike)):
            if not Path(target).exists():
                raise LovevecError(f"{target}: no such file or prepared folder")
            place = str(Path(target).resolve())
        settings = with_files(settings, lambda name: str(Path(name).resolve()))
        try:
            self.clean()
            self.unfinished().begin({"target": place, "settings": settings.as_dict()})
        except OSError as error:
            raise LovevecError(f"{self.path}: cannot be written ({error.strerror})") from None

    def plan(self) -> tuple[str | None, Settings]:
        """The target (None for vectors that were in memory) and the settings of the run that was stopped here."""
        if self.path is not None and holds_model(self.path) and not self.unfinished().exists:
            self.clean()
            raise LovevecError(f"{self.path}: this run is complete, the model is there; nothing to resume")
        try:
            plan = self.unfinished().plan()
            return plan["target"], Settings.from_dict(plan["settings"])
        except (LovevecError, ValueError, KeyError, TypeError, AttributeError):
            raise LovevecError(
                f"{self.path}: no run to resume here ({UNFINISHED}/{PLAN} is missing or damaged)"
            ) from None

    def clean(self) -> None:
        """Remove what only an unfinished run needs, and what a write that kill -9 cut short left behind."""
        if self.path is None or not self.writes:
            return
        self.unfinished().remove()
        for name in MODEL_FILES:
            for leftover in self.path.glob(f".{name}.*.tmp"):
                leftover.unlink(missing_ok=True)
        for leftover in self.path.glob(f"{NEW}.*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)


class RunClock:
    """The seconds that a run took, over all the stretches between its stops: each phase but training, and the total."""

    def __init__(self, folder: RunFolder, progress: Progress) -> None:
        self.folder, self.progress = folder, progress
        self.start = time.perf_counter()
        self.at_start = dict(progress.seconds)  # a display may have served other runs
        self.before: dict[str, float] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Begin with what earlier stretches took; whatever ends this one, the next will know what it took."""
        if (state := self.folder.unfinished().load(SECONDS)) is not None:
            self.before = state.values
        try:
            yield
        finally:
            with suppress(OSError):  # on a full disk; another error is on its way
                self.save()

    def seconds(self) -> dict[str, float]:
        spent = {name: value - self.at_start.get(name, 0.0) for name, value in self.progress.seconds.items()}
        now = {name: value for name, value in spent.items() if value > 0} | {"total": time.perf_counter() - self.start}
        return {name: self.before.get(name, 0.0) + now.get(name, 0.0) for name in [*self.before, *now]}

    def save(self) -> None:
        """Write the seconds down for the next stretch, as long as there is a run to go on with."""
        unfinished = self.folder.unfinished()
        if self.folder.writes and unfinished.exists:
            unfinished.save(SECONDS, {}, **self.seconds())
