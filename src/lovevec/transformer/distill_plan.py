"""What a run of `distill` is to do: its settings, and whether it can begin, or go on where it stopped."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lovevec import __version__
from lovevec.errors import LovevecError, Parameter
from lovevec.files.checkpoints import OVERWRITE, CheckpointFolder
from lovevec.transformer.corpus import Corpus
from lovevec.transformer.load import public_name, weights_file
from lovevec.vectors.write import SUFFIXES

POOLINGS = ("mean", "max")
PRECISIONS = ("float32", "bfloat16", "float16")
MINIMA = {"most": 0, "min_count": 1, "limit": 0, "batch": 1, "length": 0, "checkpoint_minutes": 0}
MAY_CHANGE = ("device", "batch", "checkpoint_minutes")  # settings that may differ when a stopped run goes on
FINGERPRINT_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class DistillSettings:
    """Settings of `distill`; `lovevec distill --help` says the same in more words.

    `layer`: -1 the last one's states, 0 the first one's input. `most`: occurrences of a word that count, 0 all of them.
    `length`: pieces of a passage, 0 as many as the model takes. `batch`: pieces that are computed at a time.
    `specials`: a single word's vector is the mean over all positions, those of special tokens too.

        DistillSettings(pooling="max", layer=6, most=20)
    """

    pooling: str = "mean"
    layer: int = -1
    most: int = 100
    min_count: int = 5
    limit: int = 0
    length: int = 0
    single: bool = False
    specials: bool = False
    fill_missing: bool = False
    batch: int = 8192
    device: str = "auto"
    precision: str = "float32"
    checkpoint_minutes: float = 2.0

    def __post_init__(self) -> None:
        for name, choices in (("pooling", POOLINGS), ("precision", PRECISIONS)):
            if getattr(self, name) not in choices:
                raise LovevecError(f"{name} is {getattr(self, name)!r}: choose one of {', '.join(choices)}")
        for name, minimum in MINIMA.items():
            if not getattr(self, name) >= minimum:
                raise LovevecError(f"{name} is {getattr(self, name)}: must be at least {minimum}")
        if self.specials and not self.single:
            raise LovevecError("specials is for single words: in a sentence the special tokens are not the word's")


def refuse_contradictions(settings: DistillSettings, corpus: Corpus, words: list[str] | None) -> None:
    """An error, before anything is read, where words or texts are missing, or of no use together."""
    if words is not None and not words:
        raise LovevecError("there are no words in the list of words")
    if settings.single and words is None:
        raise LovevecError(f"single words come from a list: name it with {Parameter('words', 'FILE')}")
    if settings.single and corpus.paths:
        raise LovevecError(
            f"{Parameter('single', True)} takes each word alone; a corpus is of no use to it: name one of the two"
        )
    if not settings.single and not corpus.paths:
        raise LovevecError(
            f"name the text to read with {Parameter('corpus', 'FILE')}, or take each word alone with "
            f"{Parameter('single', True)}"
        )
    if words is None and None in corpus.paths:
        raise LovevecError(
            "standard input can be read only once, but its words must be counted first: name them with "
            f"{Parameter('words', 'FILE')}, or write the text to a file"
        )


def run_plan(model: Any, corpus: Corpus, words: list[str] | None, settings: DistillSettings) -> dict[str, Any]:
    """All that must be the same for a stopped run to go on: the model, the texts, the words, and most settings."""
    weights = weights_file(model) if isinstance(model, str) else None
    digest = None if words is None else hashlib.sha256("\n".join(words).encode()).hexdigest()
    return {
        "lovevec": __version__,
        "model": public_name(model) if isinstance(model, str) else type(model[0]).__name__,
        "weights": _fingerprint(weights) if weights else None,
        "corpus": [None if path is None else _fingerprint(path) for path in corpus.paths],
        "words": digest,
        **{name: value for name, value in asdict(settings).items() if name not in MAY_CHANGE},
    }


def begin_run(
    goal: Path | None, overwrite: bool, plan: dict[str, Any], settings: DistillSettings, resumable: bool
) -> CheckpointFolder:
    """Check that the output can be written, and begin a run for it or open the one that was stopped."""
    folder = None
    if goal is not None:
        if goal.is_dir():
            raise LovevecError(f"{goal}: is a folder; name a file to write the vectors to")
        if goal.suffix.lower() not in SUFFIXES:
            raise LovevecError(f"{goal}: its name does not say the format; end it in {', '.join(SUFFIXES)}")
        if not goal.parent.is_dir():
            raise LovevecError(f"{goal}: cannot be written: there is no folder {goal.parent}")
        if goal.exists() and not overwrite:
            raise LovevecError(f"{goal}: is there already; choose another name, or {OVERWRITE}")
        folder = goal.with_name(goal.name + ".parts")
        if overwrite and (left := CheckpointFolder(folder)).exists:  # a folder that is none of ours is refused below
            left.remove()
    unfinished = CheckpointFolder(folder if resumable else None, settings.checkpoint_minutes * 60)
    unfinished.begin_or_go_on(plan)
    return unfinished


def _fingerprint(path: Path) -> dict[str, Any]:
    """What tells a file from another one without reading all of it: name, size, and the hash of its two ends."""
    size = os.path.getsize(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        digest.update(file.read(FINGERPRINT_BYTES))
        file.seek(max(size - FINGERPRINT_BYTES, 0))
        digest.update(file.read(FINGERPRINT_BYTES))
    return {"file": path.name, "size": size, "sha256_of_ends": digest.hexdigest()}
