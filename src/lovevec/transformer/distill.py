"""Static vectors out of a contextual model: a word's states in many sentences, pooled to one vector.

The paper calls mimicking these *mimicking distilled embeddings*. In one sentence a word's vector is the mean of the
states of its pieces; over sentences the mean or the maximum is taken.

    distill("bert-base-uncased", "text.txt", words=["misspelling", "cat"])
    distill("all-mpnet-base-v2", words=words, settings=DistillSettings(single=True))    # each word by itself
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lovevec import __version__
from lovevec.errors import LovevecError
from lovevec.files.unfinished import OVERWRITE, Unfinished
from lovevec.progress import Progress
from lovevec.transformer.corpus import Texts
from lovevec.transformer.distill_settings import DistillSettings
from lovevec.transformer.load import PREFIX, public_name, require_transformers, weights_file
from lovevec.units.words import checked_words
from lovevec.vectors.table import VectorTable
from lovevec.vectors.write import SUFFIXES, save_table

__all__ = ["DistillSettings", "distill"]

ENDS = 1 << 20
FREE = ("device", "batch", "checkpoint_minutes")  # what may be different when a run goes on


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
    """
    settings, progress = settings or DistillSettings(), progress or Progress(quiet=True)
    if isinstance(model, (str, os.PathLike)):
        model = os.fspath(model).removeprefix(PREFIX)
    named = [corpus] if isinstance(corpus, (str, os.PathLike)) else list(corpus)
    texts = Texts([None if os.fspath(path) == "-" else Path(path) for path in named])
    listed = None if words is None else given_words(words)
    refuse_contradictions(settings, texts, listed)
    require_transformers()
    goal = None if output is None else Path(output)
    plan = plan_of(model, texts, listed, settings)
    unfinished = begin(goal, overwrite, plan, settings, resumable=None not in texts.paths)
    from lovevec.transformer.distill_run import Distilling

    try:
        target = Distilling(model, settings, unfinished, progress).target(texts, listed)
    finally:
        unfinished.tidy()
    if goal is not None:
        with progress.phase("saving"):
            notes = save_table(target, goal)
        for note in notes:
            progress.say(note)
        unfinished.remove()
    return target


def given_words(words: Iterable[str]) -> list[str]:
    """Distinct words in their order; blank ones and those that are not UTF-8 are no words."""
    usable = (word for word in checked_words(words) if word.strip() and word == word.encode(errors="ignore").decode())
    return list(dict.fromkeys(usable))


def refuse_contradictions(settings: DistillSettings, texts: Texts, words: list[str] | None) -> None:
    """Say what is missing or too much before anything is read."""
    if words is not None and not words:
        raise LovevecError("there are no words in the list of words")
    if settings.single and words is None:
        raise LovevecError("single words come from a list: name it with --words FILE")
    if settings.single and texts.paths:
        raise LovevecError("--single takes each word alone; a corpus is of no use to it: name one of the two")
    if not settings.single and not texts.paths:
        raise LovevecError("name the text to read with --corpus FILE, or take each word alone with --single")
    if words is None and None in texts.paths:
        raise LovevecError(
            "standard input can be read only once, but its words must be counted first: name them with --words FILE, "
            "or write the text to a file"
        )


def plan_of(model: Any, texts: Texts, words: list[str] | None, settings: DistillSettings) -> dict[str, Any]:
    """What must be the same for a run to go on."""
    weights = weights_file(model) if isinstance(model, str) else None
    digest = None if words is None else hashlib.sha256("\n".join(words).encode()).hexdigest()
    fixed = {name: value for name, value in asdict(settings).items() if name not in FREE}
    return {
        "lovevec": __version__,
        "model": public_name(model) if isinstance(model, str) else type(model[0]).__name__,
        "weights": fingerprint(weights) if weights else None,
        "corpus": [None if path is None else fingerprint(path) for path in texts.paths],
        "words": digest,
        **fixed,
    }


def begin(
    goal: Path | None, overwrite: bool, plan: dict[str, Any], settings: DistillSettings, resumable: bool
) -> Unfinished:
    """Claim the output, or find the run that goes on."""
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


def fingerprint(path: Path) -> dict[str, Any]:
    """What tells a file from another one without reading all of it: name, size, and the hash of its two ends."""
    size = os.path.getsize(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        digest.update(file.read(ENDS))
        file.seek(max(size - ENDS, 0))
        digest.update(file.read(ENDS))
    return {"file": path.name, "size": size, "sha256_of_ends": digest.hexdigest()}
