"""`lovevec train` and `lovevec prepare`: flags from the settings' fields, so that nothing is said twice.

Standard library only until it runs. Under torchrun: `-m lovevec.cli train …`.
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from lovevec.cli.shell import describe
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.train.settings import PRESETS, PrepareSettings, Settings, TrainSettings, names

TRAIN_ABOUT = """Learn to give any word a vector, from word vectors that exist: GloVe, word2vec, fastText, …,
or the input embeddings of a BERT-like model (hf:NAME). The result is a folder that LOVE.load reads."""
TRAIN_EXAMPLES = """examples:
  lovevec train glove.txt -o my-model
  lovevec train crawl-300d-2M.vec.gz -o m --limit 200000 --epochs 20 --seed 7 --device cuda
  lovevec train hf:bert-base-uncased -o love-bert --preset typos    a transformer's input embeddings: folder or hub id
  lovevec train --resume m                     after a crash, Ctrl-C or kill -9
  lovevec prepare glove.txt -o prepared && lovevec train prepared -o m
  torchrun --nproc-per-node 2 -m lovevec.cli train prepared -o m"""
PREPARE_ABOUT = """Do the CPU-heavy part of training once, for many runs: the unit vocabulary, synonyms and
hard negatives of a target's words."""
PREPARE_EXAMPLES = """examples:
  lovevec prepare glove.txt -o prepared
  lovevec prepare glove.txt -o prepared --vocabulary bert-vocab.txt --shrink none"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `lovevec train`."""
    describe(parser, TRAIN_ABOUT, TRAIN_EXAMPLES)
    parser.usage = "%(prog)s target -o FOLDER [settings]\n       %(prog)s --resume FOLDER"
    parser.add_argument("target", nargs="?", help="a vector file of any known format, hf:NAME, or a prepared folder")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where the model goes")
    parser.add_argument("--resume", metavar="FOLDER", help="go on with the run whose output folder this is")
    parser.add_argument("--overwrite", action="store_true", help="replace what the output folder holds")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no report")
    _add_preset(parser)
    _add_settings(parser.add_argument_group("the words (fixed once they are prepared)"), PrepareSettings)
    _add_settings(parser.add_argument_group("the training"), TrainSettings)


def run(given: argparse.Namespace) -> None:
    """Train, or go on."""
    from lovevec.train import resume, train
    from lovevec.train.prepared import is_prepared, refuse_stale, settings_of

    chosen = _chosen(given, Settings)
    with Progress(given.quiet) as progress:
        if given.resume is not None:
            if given.target is not None or given.output is not None or given.preset or chosen:
                raise LovevecError("--resume takes the folder alone: target and settings are those of the run")
            resume(given.resume, progress)
            return
        if given.target is None or given.output is None:
            raise LovevecError("name the vectors and the output: lovevec train glove.txt -o my-model")
        if is_prepared(given.target):  # a flag that says the default is meant too
            fixed = {name: chosen[name] for name in names(PrepareSettings) if name in chosen}
            refuse_stale(settings_of(given.target), fixed)
        Settings(**chosen)  # what is wrong is told before a model is loaded
        chosen = _fit_case(given.target, chosen, progress)
        train(
            given.target,
            Settings(**chosen),
            output=given.output,
            overwrite=given.overwrite,
            progress=progress,
        )


def add_prepare(parser: argparse.ArgumentParser) -> None:
    """Describe `lovevec prepare`."""
    describe(parser, PREPARE_ABOUT, PREPARE_EXAMPLES)
    parser.usage = "%(prog)s target -o FOLDER [settings]"
    parser.add_argument("target", help="a vector file of any known format, or hf:NAME")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where the prepared words go")
    parser.add_argument("--overwrite", action="store_true", help="write into a folder that holds something already")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    _add_preset(parser)
    _add_settings(parser.add_argument_group("the words"), PrepareSettings)


def run_prepare(given: argparse.Namespace) -> None:
    """Prepare and save."""
    from lovevec.train import prepare

    chosen = _chosen(given, PrepareSettings)
    PrepareSettings(**chosen)  # what is wrong is told first
    output = Path(given.output)
    if output.exists() and not output.is_dir():
        raise LovevecError(f"{output}: is a file; name a folder")
    if output.is_dir() and any(output.iterdir()) and not given.overwrite:
        raise LovevecError(f"{output}: holds something already; choose another folder, or --overwrite it")
    with Progress(given.quiet) as progress:
        settings = PrepareSettings(**_fit_case(given.target, chosen, progress))
        prepared = prepare(given.target, settings, progress)
        with progress.phase("saving"):
            prepared.save(output)
        rows, dim = prepared.vocabulary.table_rows, prepared.vectors.shape[1]
        width = settings.row_width or dim
        extra = settings.row_width * dim
        progress.say(
            f"{given.output}: {len(prepared.words):,} words; {len(prepared.vocabulary):,} units in {rows:,} rows"
            f" ({rows * width + extra:,} parameters at {dim} dimensions)"
        )


def _add_preset(parser: argparse.ArgumentParser) -> None:
    """Many settings by one name."""
    help = "settings that go together; what is said beside it counts more. paper: the defaults; recipe: the shipped"
    help += " models'; typos: larger, for damaged words, as inside BERT-like models"
    parser.add_argument("--preset", choices=list(PRESETS), default=None, help=help)


def _add_settings(group: Any, kind: type) -> None:
    """A flag for each field; without the flag the field is left to its default."""
    hints = get_type_hints(kind)
    for part in fields(kind):
        hint, text = hints[part.name], part.metadata["help"]
        flag = "--" + part.name.replace("_", "-")
        help = f"{text} (default {part.default})".replace("%", "%%") if part.default != "" else text
        if hint is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
            continue
        choices = part.metadata.get("choices") or get_args(hint) or None
        kind_of = hint if hint in (int, float) else str
        metavar = (
            None if choices else {int: "N", float: "X", str: "FILE" if part.metadata.get("file") else "TEXT"}[kind_of]
        )
        group.add_argument(flag, type=kind_of, choices=choices, metavar=metavar, default=None, help=help)


def _chosen(given: argparse.Namespace, kind: type) -> dict[str, Any]:
    """What was said, by a preset or by itself."""
    preset = {name: value for name, value in PRESETS[given.preset or "paper"].items() if name in names(kind)}
    return preset | {name: getattr(given, name) for name in names(kind) if getattr(given, name) is not None}


def _fit_case(target: str, chosen: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Where nothing else is said, the words of a cased transformer keep their case: those of other targets lose it."""
    if "lowercase" in chosen or not _is_cased(target):
        return chosen
    progress.say(f"{target} is cased: words keep their case (--lowercase takes it away)")
    return {**chosen, "lowercase": False}


def _is_cased(target: str) -> bool:
    """Whether these are vectors of a transformer, its own or distilled, that tells capitals from small letters."""
    from lovevec.transformer.load import PREFIX, is_transformer, load_tokenizer
    from lovevec.transformer.whole_words import lowercases
    from lovevec.vectors.save import read_origin

    if is_transformer(target):
        return not lowercases(load_tokenizer(target.removeprefix(PREFIX)))
    return bool((read_origin(Path(target)) or {}).get("cased"))
