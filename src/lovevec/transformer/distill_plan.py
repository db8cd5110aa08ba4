"""Static vectors out of a contextual model: a word's states in many sentences, pooled to one vector.

The paper calls mimicking these *mimicking distilled embeddings*. In one sentence a word's vector is the mean of the
states of its pieces; over sentences the mean or the maximum is taken. Here are the settings, the function that people
call, and what decides whether a stopped run can go on; distill_run.py does the work.

    distill("bert-base-uncased", "text.txt", words=["misspelling", "cat"])
    distill("all-mpnet-base-v2", words=words, settings=DistillSettings(single=True))    # each word by itself
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lovevec import __version__
from lovevec.errors import LovevecError, Parameter
from lovevec.files.unfinished import OVERWRITE, Unfinished
from lovevec.progress import Progress
from lovevec.transformer.corpus import Corpus
from lovevec.transformer.load import PREFIX, public_name, require_transformers, weights_file
from lovevec.units.words import check_words
from lovevec.vectors.table import VectorTable
from lovevec.vectors.write import SUFFIXES, save_table

__all__ = ["DistillSettings", "distill"]

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


def distill(
    model: Any,
    corpus: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    *,
    words: Iterable[str] | None = None,
    settings: DistillSettings | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> VectorTable:
    """Pool the states of words over a corpus to one vector each.

    `model` is a folder, a hub id, or a pair (model, tokenizer) of transformers, which is moved to the settings' device
    and precision. `corpus` names text files, one text a line ("-" is standard input). `words` are those to have;
    without them, those of the corpus that occur `min_count` times. With `output` the vectors are saved there, and a
    run that stops goes on when it is called again.

        table = distill("bert-base-uncased", "text.txt", words=["cat"], output="bert.npz")
        table.vectors.shape     # (1, 768)
    """
    settings, progress = settings or DistillSettings(), progress or Progress(quiet=True)
    if isinstance(model, (str, os.PathLike)):
        model = os.fspath(model).removeprefix(PREFIX)
    files = [corpus] if isinstance(corpus, (str, os.PathLike)) else corpus
    texts = Corpus([None if os.fspath(path) == "-" else Path(path) for path in files])
    vocabulary = None if words is None else _distinct_words(words)
    _refuse_contradictions(settings, texts, vocabulary)
    require_transformers()
    goal = None if output is None else Path(output)
    plan = _plan(model, texts, vocabulary, settings)
    unfinished = _begin(goal, overwrite, plan, settings, resumable=None not in texts.paths)
    from lovevec.transformer.distill_run import DistillRun

    try:
        table = DistillRun(model, settings, unfinished, progress).table(texts, vocabulary)
    finally:
        unfinished.tidy()
    if goal is not None:
        with progress.phase("saving"):
            notes = save_table(table, goal)
        for note in notes:
            progress.say(note)
        unfinished.remove()
    return table


def _distinct_words(words: Iterable[str]) -> list[str]:
    """Distinct words in their order; blank ones and those that are not UTF-8 are no words."""
    usable = (word for word in check_words(words) if word.strip() and word == word.encode(errors="ignore").decode())
    return list(dict.fromkeys(usable))


def _refuse_contradictions(settings: DistillSettings, corpus: Corpus, words: list[str] | None) -> None:
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


def _plan(model: Any, corpus: Corpus, words: list[str] | None, settings: DistillSettings) -> dict[str, Any]:
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


def _begin(
    goal: Path | None, overwrite: bool, plan: dict[str, Any], settings: DistillSettings, resumable: bool
) -> Unfinished:
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
        if overwrite and (left := Unfinished(folder)).exists:  # a folder that is none of ours is refused below
            left.remove()
    unfinished = Unfinished(folder if resumable else None, settings.checkpoint_minutes * 60)
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
