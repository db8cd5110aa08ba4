"""A whole run, from vectors to a saved model: prepare, train, score, report. How it is resumed: run_folder.py."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from lovevec import __version__
from lovevec.damage.languages import Language, guess, language_of
from lovevec.damage.sounds import sounds_of
from lovevec.device import choose_device, device_name
from lovevec.errors import LovevecError, Parameter
from lovevec.files import write_json
from lovevec.files.lines import read_word_list
from lovevec.files.misspellings import read_misspellings
from lovevec.love import LOVE
from lovevec.model.folder import ModelParts
from lovevec.model.known_rows import KnownRows
from lovevec.near.forms import MAX_LISTED, read_listed
from lovevec.progress import Progress
from lovevec.train.calibration import calibrate
from lovevec.train.channel import fit_reader
from lovevec.train.group import Group
from lovevec.train.letters import letters_alike, transliterated
from lovevec.train.loop import Trainer
from lovevec.train.prepared import SCRATCH_VECTORS, TENSORS, Prepared, is_prepared, prepare, refuse_stale
from lovevec.train.report import model_card, peak_memory_mb, report_lines
from lovevec.train.run_folder import REPORT, RunClock, RunFolder
from lovevec.train.score import score, typo_neighbors
from lovevec.train.settings import PrepareSettings, Settings
from lovevec.vectors import is_large

SAMPLED_WORDS = 1_000  # known words that tell whether anything was learned


def train(
    target: Any,
    settings: Settings | Mapping[str, Any] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> LOVE:
    """Train a model that mimics word vectors.

    `target` is a vector file, `hf:NAME` for a transformer's input embeddings, a prepared folder, or vectors in memory
    (see `load_target`). `settings` may be a dict of those that are not the default. With `output` the model is saved in
    that folder, with its card and report, and a run that stops can be resumed; `overwrite` replaces what is there.
    Returns the model.

        love = train("glove.txt", {"epochs": 40, "seed": 7}, output="my-model")
    """
    settings = settings if isinstance(settings, Settings) else Settings.from_dict(settings or {})
    run = _Run(None if output is None else Path(output), settings, progress)
    with run.folder.lock():
        run.folder.begin(target, settings, overwrite)
        try:
            with run.clock.running(), _explain_lack_of_memory():
                return run.finish(run.prepare(target))
        except LovevecError:
            run.folder.clean()  # bad input cannot be resumed: the output folder is left as it was
            raise


def resume(output: str | os.PathLike[str], progress: Progress | None = None) -> LOVE:
    """Go on with the run whose output folder this is, from its last checkpoint, and return the model.

    love = resume("my-model")
    """
    target, settings = RunFolder(Path(output)).plan()
    run = _Run(Path(output), settings, progress)
    with run.folder.lock(), run.clock.running(), _explain_lack_of_memory():
        if (prepared := run.folder.prepared) is not None and is_prepared(prepared):
            return run.finish(Prepared.load(prepared))
        if target is None:
            raise LovevecError(f"{output}: its target was in memory and was not saved before the stop; train again")
        return run.finish(run.prepare(target))


@contextmanager
def _explain_lack_of_memory() -> Iterator[None]:
    """Turn numpy's and torch's errors about memory into one that says what would need less."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "allocate" not in str(error) and "out of memory" not in str(error):
            raise
        message = str(error).splitlines()[0] if str(error) else "MemoryError"
        smaller = ", ".join(f"{Parameter(name)}" for name in ("key_width", "head", "ngrams", "vocabulary_size"))
        raise LovevecError(
            f"not enough memory for this run: fewer words ({Parameter('limit')}), or smaller {smaller} or "
            f"{Parameter('batch')} ({message})"
        ) from None


class _Run:
    def __init__(self, output: Path | None, settings: Settings, progress: Progress | None) -> None:
        self.settings = settings
        # read before hours of training, since it may be wrong
        self.misspellings = read_misspellings(Path(settings.misspellings)) if settings.misspellings else []
        self.others = read_word_list(Path(settings.lexicon)) if settings.lexicon else []
        self.listed = read_listed(Path(settings.forms)) if settings.forms else {}
        self.device = choose_device(settings.device)
        self.group = Group.from_environment(self.device)
        self.progress = progress if progress is not None and self.group.first else Progress(quiet=True)
        self.folder = RunFolder(output, writes=self.group.first)
        self.clock = RunClock(self.folder, self.progress)

    def prepare(self, target: Any) -> Prepared:
        """Load what was prepared, or prepare now: under torchrun once, by the first process."""
        if is_prepared(target):
            return self._with_same_settings(Prepared.load(target))
        folder = self.folder.prepared
        if folder is not None and not self.group.first:
            self.group.wait()
            return Prepared.load(folder)
        part, scratch = self.settings.prepare_part(), self.folder.scratch
        is_ready = isinstance(target, Prepared)
        prepared = self._with_same_settings(target) if is_ready else prepare(target, part, self.progress, scratch)
        if folder is None:
            return prepared
        with self.progress.phase("saving"):
            self.clock.save()  # before: a run that goes on from these words knows what they took
            prepared.save(folder)
        (folder.parent / SCRATCH_VECTORS).unlink(missing_ok=True)
        self.group.wait()
        if is_large(folder / TENSORS):
            del prepared  # the memory is wanted: it is read from its file
            return Prepared.load(folder)
        return prepared

    def _with_same_settings(self, prepared: Prepared) -> Prepared:
        """Refuse settings of the run that differ from those that the target was prepared with."""
        defaults, chosen = asdict(PrepareSettings()), asdict(self.settings.prepare_part())
        refuse_stale(prepared.settings, {name: value for name, value in chosen.items() if value != defaults[name]})
        return prepared

    def finish(self, prepared: Prepared) -> LOVE:
        """Train, score, save; the run's own files go last."""
        settings = replace(self.settings, **asdict(prepared.settings))
        language = self._language(prepared)
        trainer = Trainer(prepared, settings, self.device, self.group, language)
        self._train(trainer)
        trainer.tidy()
        prepared = trainer.prepared
        counts = trainer.network.parameter_counts()
        origin = {"lovevec": __version__, "target": prepared.target}
        metadata = {**origin, "parameters": counts, "settings": settings.as_dict()}
        rows = None
        if settings.rows != "none":
            rows = KnownRows.of_target(prepared.vectors, settings.rows, settings.weights)
        parts = ModelParts(trainer.spec, trainer.weights(), trainer.units, prepared.words, metadata, None, rows)
        love = LOVE(parts)
        refuse_nothing_learned(love)
        if self.group.first:
            with self.progress.phase("learning how words get damaged"):
                seed, lowercase = self.settings.seed, parts.units.lowercase
                listed = self.listed
                if self.settings.transliterated:
                    listed = transliterated(parts.words, language, MAX_LISTED - len(listed)) | dict(listed)
                lists = self.misspellings, self.others, listed
                orthography, report = fit_reader(parts.words, lowercase, seed, *lists, language=language)
            parts = replace(parts, orthography=orthography, metadata=metadata | {"channel_report": report})
            measures = self._measure(LOVE(parts, low_memory=True), trainer)
            parts = replace(parts, metadata=parts.metadata | measures)
            name = self.folder.path.name if self.folder.path else prepared.target["name"]
            love = LOVE(parts, model_card(name, parts.metadata | {"language": language.as_dict()}))
            self._save(love)
        self.group.leave()  # the others wait here until the first has scored and saved
        return love

    def _language(self, prepared: Prepared) -> Language:
        """The language that is set, or what the words look like; with their letters."""
        chosen = self.settings.language
        language = language_of(chosen) if chosen else guess(prepared.words)
        said = "" if chosen else f", guessed from its words ({Parameter('language')} says another)"
        self.progress.say(f"language: {language.name}{said}")
        if not sounds_of(language.code):
            language = replace(language, alike=letters_alike(prepared.words, prepared.synonyms))
        return language.with_words(prepared.words)

    def _train(self, trainer: Trainer) -> None:
        try:
            unfinished = self.folder.unfinished(60 * self.settings.checkpoint_minutes)
            trainer.run(unfinished, self.progress, self.clock.save)
        except (KeyboardInterrupt, SystemExit):
            if self.folder.path:
                self.progress.say(f"go on with: {Parameter('resume', self.folder.path)}")
            raise

    def _measure(self, love: LOVE, trainer: Trainer) -> dict[str, Any]:
        """How good the model is, and what it took: `confidence` and `report` of its metadata."""
        seed, prepared = self.settings.seed, trainer.prepared
        with self.progress.phase("scoring"):
            holdout = prepared.words, prepared.vectors, trainer.holdout, seed
            scores = score(love.copy(spelling_only=True), *holdout)
            typos = typo_neighbors(love, seed)
            confidence = calibrate(love, *holdout)
        seconds = self.clock.seconds() | {"training": trainer.seconds}
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

    def _save(self, love: LOVE) -> None:
        metadata = love.parts.metadata
        if self.folder.path:
            love.save(self.folder.path)
            report = {key: metadata[key] for key in ("parameters", "target", "report", "settings")}
            write_json(self.folder.path / REPORT, report)
            self.folder.clean()
        for line in report_lines(self.folder.path, metadata):
            self.progress.say(line)


def refuse_nothing_learned(love: LOVE) -> None:
    """Raise where a sample of the known words has vectors that are all zeros, or no numbers: that is no model."""
    vectors = love.impute(love.words[:: len(love.words) // SAMPLED_WORDS + 1])
    if not np.isfinite(vectors).all():
        raise LovevecError("training ended with vectors that are not numbers (NaN or Inf); lower the learning rate")
    if not vectors.any():
        raise LovevecError(
            f"training ended with vectors that are all zeros: nothing was learned from {len(love.words):,} words of"
            f" {love.dim} numbers; give it more words"
        )
