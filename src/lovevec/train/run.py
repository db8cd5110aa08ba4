"""A whole run, from vectors to a saved model: prepare, train, score, report. And how one goes on after a stop.

While a run is under way its output folder holds a folder `.unfinished` (see files/unfinished.py): the plan, the
prepared words and a checkpoint. It goes when the model is there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from lovevec import __version__
from lovevec.device import choose_device, device_name
from lovevec.errors import LovevecError, Parameter
from lovevec.files import write_json
from lovevec.files.lock import Lock
from lovevec.files.misspellings import read_misspellings
from lovevec.files.unfinished import OVERWRITE, PLAN, UNFINISHED, Unfinished
from lovevec.love import LOVE
from lovevec.model.folder import CARD, CONFIG, ROWS, TOKENIZER, WEIGHTS, WORDS, ModelParts
from lovevec.model.known_rows import KnownRows
from lovevec.progress import Progress
from lovevec.train.calibration import calibrate
from lovevec.train.channel import fit_channel
from lovevec.train.group import Group
from lovevec.train.loop import Trainer
from lovevec.train.prepared import SPILLED, TENSORS, Prepared, is_prepared, prepare, refuse_stale
from lovevec.train.report import model_card, peak_memory_mb, report_lines
from lovevec.train.score import score, typo_neighbors
from lovevec.train.settings import PrepareSettings, Settings, with_files
from lovevec.transformer.load import absolute_source, is_transformer
from lovevec.vectors import is_large

PREPARED, SECONDS, REPORT = "prepared", "seconds", "report.json"
OURS = (CONFIG, WEIGHTS, TOKENIZER, WORDS, ROWS, CARD, REPORT)
SAMPLE = 1_000  # known words that tell whether anything was learned


def train(
    target: Any,
    settings: Settings | Mapping[str, Any] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> LOVE:
    """Train a model on `target`: a vector file, a prepared folder, or vectors in memory (see `load_target`).

    With `output` the model is saved there, with its card and report, and a run that stops can be resumed. Settings may
    be a dict of those that are not the default.
    """
    settings = settings if isinstance(settings, Settings) else Settings.from_dict(settings or {})
    run = _Run(None if output is None else Path(output), settings, progress)
    with run.claimed():
        run.begin(target, overwrite)
        try:
            with run.counted(), memory_told():
                return run.finish(run.prepare(target))
        except LovevecError:
            run.abandon()
            raise


def resume(output: str | os.PathLike[str], progress: Progress | None = None) -> LOVE:
    """Go on with the run whose output folder this is, from its last checkpoint."""
    folder = Path(output)
    unfinished = Unfinished(folder / UNFINISHED)
    if (folder / CONFIG).is_file() and not unfinished.exists:
        clean(folder)
        raise LovevecError(f"{folder}: this run is complete, the model is there; nothing to resume")
    try:
        plan = unfinished.plan()
        target, settings = plan["target"], Settings.from_dict(plan["settings"])
    except (LovevecError, ValueError, KeyError, TypeError, AttributeError):
        raise LovevecError(f"{folder}: no run to resume here ({UNFINISHED}/{PLAN} is missing or damaged)") from None
    run = _Run(folder, settings, progress)
    prepared = folder / UNFINISHED / PREPARED
    with run.claimed(), run.counted(), memory_told():
        if is_prepared(prepared):
            return run.finish(Prepared.load(prepared))
        if target is None:
            raise LovevecError(f"{folder}: its target was in memory and was not saved before the stop; train again")
        return run.finish(run.prepare(target))


@contextmanager
def memory_told() -> Iterator[None]:
    """What memory has no room for is said in words, numpy's and torch's errors alike."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "allocate" not in str(error) and "out of memory" not in str(error):
            raise
        said = str(error).splitlines()[0] if str(error) else "MemoryError"
        smaller = ", ".join(f"{Parameter(name)}" for name in ("key_width", "head", "ngrams", "vocabulary_size"))
        raise LovevecError(
            f"not enough memory for this run: fewer words ({Parameter('limit')}), or smaller {smaller} or "
            f"{Parameter('batch')} ({said})"
        ) from None


class _Run:
    def __init__(self, folder: Path | None, settings: Settings, progress: Progress | None) -> None:
        self.folder, self.settings = folder, settings
        # read before hours of training, since it may be wrong
        self.misspellings = read_misspellings(Path(settings.misspellings)) if settings.misspellings else []
        self.own = folder / UNFINISHED if folder else None
        self.device = choose_device(settings.device)
        self.group = Group.from_environment(self.device)
        self.progress = progress if progress is not None and self.group.first else Progress(quiet=True)
        self.start = time.perf_counter()
        self.at_start = dict(self.progress.seconds)  # a display may have served other runs
        self.before: dict[str, float] = {}  # what this run took until it was stopped

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """While this run is at work in its output folder no other may be."""
        lock = Lock(self.folder) if self.folder is not None and self.group.first else None
        new = self.folder is not None and not self.folder.exists()
        try:
            if lock is not None:
                lock.take()
            yield
        except OSError as error:
            raise LovevecError(f"{error.filename or self.folder}: cannot be written ({error.strerror})") from None
        finally:
            if lock is not None:
                lock.release()
                if new and self.folder is not None and self.folder.is_dir() and not any(self.folder.iterdir()):
                    self.folder.rmdir()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Whatever ends this stretch of a run, the next one knows how long it took."""
        kept = Unfinished(self.own).load(SECONDS)
        self.before = {} if kept is None else kept.values
        try:
            yield
        finally:
            with suppress(OSError):  # on a full disk; another error is on its way
                self.keep_seconds()

    def seconds(self) -> dict[str, float]:
        """What this run took so far, all its stretches together: each phase but training, and the total."""
        spent = {name: value - self.at_start.get(name, 0.0) for name, value in self.progress.seconds.items()}
        now = {name: value for name, value in spent.items() if value > 0} | {"total": time.perf_counter() - self.start}
        return {name: self.before.get(name, 0.0) + now.get(name, 0.0) for name in [*self.before, *now]}

    def keep_seconds(self) -> None:
        """Write them down, while there is something to go on with."""
        unfinished = Unfinished(self.own)
        if self.group.first and unfinished.exists:
            unfinished.save(SECONDS, {}, **self.seconds())

    def begin(self, target: Any, overwrite: bool) -> None:
        """Write down what is to be done in the output folder."""
        if self.folder is None or self.own is None or not self.group.first:
            return
        unfinished = Unfinished(self.own)
        if unfinished.exists and not overwrite:
            raise LovevecError(
                f"{self.folder}: holds an unfinished run; go on with {Parameter('resume', self.folder)}, or {OVERWRITE}"
            )
        there = [name for name in OURS if (self.folder / name).exists()]
        if there and not overwrite:
            what = "a model already" if CONFIG in there else f"{there[0]}, which a model would replace"
            raise LovevecError(f"{self.folder}: holds {what}; choose another folder, or {OVERWRITE}")
        named = isinstance(target, (str, os.PathLike))
        if named and not is_transformer(target) and not Path(target).exists():
            raise LovevecError(f"{target}: no such file or prepared folder")
        place = None
        if named:
            place = absolute_source(target) if is_transformer(target) else str(Path(target).resolve())
        settings = with_files(self.settings, lambda name: str(Path(name).resolve()))
        try:
            clean(self.folder)
            unfinished.begin({"target": place, "settings": settings.as_dict()})
        except OSError as error:
            raise LovevecError(f"{self.folder}: cannot be written ({error.strerror})") from None

    def abandon(self) -> None:
        """Bad input cannot be resumed: leave the output folder as it was."""
        if self.folder and self.group.first:
            clean(self.folder)

    def prepare(self, target: Any) -> Prepared:
        """Load what was prepared, or prepare now: under torchrun once, by the first process."""
        if is_prepared(target):
            return self._with_same_settings(Prepared.load(target))
        if self.own is None:
            return self._prepare_now(target)
        folder = self.own / PREPARED
        prepared = self._prepare_and_save(target, folder) if self.group.first else None
        self.group.wait()
        return prepared or Prepared.load(folder)

    def _prepare_and_save(self, target: Any, folder: Path) -> Prepared | None:
        """None where it is so large that it is read from its file."""
        prepared = self._prepare_now(target)
        with self.progress.phase("saving"):
            self.keep_seconds()  # before: a run that goes on from these words knows what they took
            prepared.save(folder)
        (folder.parent / SPILLED).unlink(missing_ok=True)
        return None if is_large(folder / TENSORS) else prepared

    def _prepare_now(self, target: Any) -> Prepared:
        if isinstance(target, Prepared):
            return self._with_same_settings(target)
        return prepare(target, self.settings.prepare_part(), self.progress, self.own)

    def _with_same_settings(self, prepared: Prepared) -> Prepared:
        """The same, unless the run's settings say otherwise than those that it was prepared with."""
        defaults, chosen = asdict(PrepareSettings()), asdict(self.settings.prepare_part())
        refuse_stale(prepared.settings, {name: value for name, value in chosen.items() if value != defaults[name]})
        return prepared

    def finish(self, prepared: Prepared) -> LOVE:
        """Train, score, save; the run's own files go last."""
        self.settings = replace(self.settings, **asdict(prepared.settings))
        trainer = Trainer(prepared, self.settings, self.device, self.group)
        self._train(trainer)
        trainer.tidy()
        prepared = trainer.prepared
        metadata = {
            "lovevec": __version__,
            "target": prepared.target,
            "parameters": trainer.network.parameter_counts(),
            "settings": self.settings.as_dict(),
        }
        rows = (
            None
            if self.settings.rows == "none"
            else KnownRows.of_target(prepared.vectors, self.settings.rows, self.settings.weights)
        )
        parts = ModelParts(trainer.spec, trainer.weights(), trainer.units, prepared.words, metadata, None, rows)
        love = LOVE(parts)
        refuse_nothing_learned(love)
        if self.group.first:
            parts = self._with_channel(parts)
            metadata |= self._measure(LOVE(parts, low_memory=True), trainer)
            love = LOVE(parts, model_card(self.folder.name if self.folder else prepared.target["name"], metadata))
            self._save(love, metadata)
        self.group.leave()  # the others wait here until the first has scored and saved
        return love

    def _with_channel(self, parts: ModelParts) -> ModelParts:
        """The model with what it learned of how words get damaged."""
        with self.progress.phase("learning how words get damaged"):
            channel, report = fit_channel(parts.words, parts.units.lowercase, self.settings.seed, self.misspellings)
        parts.metadata["channel_report"] = report
        return replace(parts, channel=channel)

    def _train(self, trainer: Trainer) -> None:
        try:
            unfinished = Unfinished(self.own, 60 * self.settings.checkpoint_minutes)
            trainer.run(unfinished, self.progress, self.keep_seconds)
        except (KeyboardInterrupt, SystemExit):
            if self.folder:
                self.progress.say(f"go on with: {Parameter('resume', self.folder)}")
            raise

    def _measure(self, love: LOVE, trainer: Trainer) -> dict[str, Any]:
        """How good the model is, and what it took: `confidence` and `report` of its metadata."""
        seed, prepared = self.settings.seed, trainer.prepared
        with self.progress.phase("scoring"):
            held_back = prepared.words, prepared.vectors, trainer.held_back, seed
            scores = score(love.copy(spelling_only=True), *held_back)
            typos = typo_neighbors(love, seed)
            confidence = calibrate(love, *held_back)
        seconds = self.seconds() | {"training": trainer.seconds}
        report = {
            "seconds": {name: round(value, 2) for name, value in seconds.items()},
            "steps": trainer.steps,
            "losses": trainer.losses,
            "peak_memory_mb": peak_memory_mb(),
            "device": device_name(self.device),
            "processes": self.group.size,
            "score": scores,
            "typos": typos,
        }
        return {"confidence": confidence, "report": report}

    def _save(self, love: LOVE, metadata: dict[str, Any]) -> None:
        if self.folder:
            love.save(self.folder)
            report = {key: metadata[key] for key in ("parameters", "target", "report", "settings")}
            write_json(self.folder / REPORT, report)
            clean(self.folder)
        for line in report_lines(self.folder, metadata):
            self.progress.say(line)


def refuse_nothing_learned(love: LOVE) -> None:
    """A model whose vectors are all zeros, or no numbers, must not look like one: some of its known words tell."""
    vectors = love.impute(love.words[:: len(love.words) // SAMPLE + 1])
    if not np.isfinite(vectors).all():
        raise LovevecError("training ended with vectors that are not numbers (NaN or Inf); lower the learning rate")
    if not vectors.any():
        raise LovevecError(
            f"training ended with vectors that are all zeros: nothing was learned from {len(love.words):,} words of"
            f" {love.dim} numbers; give it more words"
        )


def clean(folder: Path) -> None:
    """Remove what only an unfinished run needs."""
    Unfinished(folder / UNFINISHED).remove()
    for name in OURS:
        for leftover in folder.glob(f".{name}.*.tmp"):  # of a write that kill -9 cut short
            leftover.unlink(missing_ok=True)
