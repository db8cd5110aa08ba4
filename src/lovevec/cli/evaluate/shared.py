"""What the tasks of `lovevec evaluate` share: which methods, where results go, how they are shown."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.cli.streams import put
from lovevec.errors import LovevecError
from lovevec.methods.open_method import OURS, RIVALS, is_there, split_name
from lovevec.progress import Progress

if TYPE_CHECKING:
    from lovevec.evaluate.result_cache import ResultCache
    from lovevec.evaluate.results import Pictures
    from lovevec.methods.method import Method
    from lovevec.methods.table import Table

LARGEST = 2**62
METHODS_HELP = "a model (folder, shipped name, hub id), a vector file, or a fastText .bin; NAME=… gives it a name"


def add_common(parser: argparse.ArgumentParser) -> None:
    """Flags that every task has."""
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="keep the results there: JSON, table, pictures; goes on where it was"
    )
    parser.add_argument("--data", metavar="FOLDER", help="where the datasets are (default: $LOVEVEC_DATA, else ./data)")
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="decides every random draw (default 0)")
    parser.add_argument(
        "--quick", action="store_true", help="less of everything: to see whether it works, not how well"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def count(text: str) -> int:
    """A whole number from 0 up, as numpy and torch take it for a seed (with room for further ones behind it)."""
    if not text.isdecimal() or int(text) > LARGEST:
        raise argparse.ArgumentTypeError(f"a whole number from 0 to {LARGEST} expected, not {text!r:.40}")
    return int(text)


def add_rivals(parser: argparse.ArgumentParser) -> None:
    """Flags for the rivals that are made, and where necessary trained, on the spot."""
    names = ", ".join([*RIVALS, *OURS])
    parser.add_argument("--rivals", default="", metavar="NAMES", help=f"compare with these: all, or some of {names}")
    parser.add_argument(
        "--target", metavar="FILE", help="the vectors that rivals learn from (default: the first vector file named)"
    )
    parser.add_argument(
        "--device", default="auto", metavar="NAME", help="where to train: auto, cpu, cuda … (default auto)"
    )


def methods_of(given: argparse.Namespace, named: Sequence[str], progress: Progress) -> list[Method]:
    """The methods that the command line names, then its rivals; bad names are told before anything is read."""
    methods = named_methods(given, named, progress)
    if given.rivals:
        methods += rivals_from(given, target_of(given, methods, progress), progress)
    if not methods:
        raise LovevecError("nothing to evaluate: name a model or a vector file, or --rivals")
    refuse_namesakes(methods)
    return methods


def named_methods(given: argparse.Namespace, named: Sequence[str], progress: Progress) -> list[Method]:
    """The methods that the command line names; before they are read, what is wrong with the rest of it is told."""
    from lovevec.evaluate.results import refuse_bad_folder
    from lovevec.methods.open_method import listed, open_method

    listed(given.rivals)
    if given.output:
        refuse_bad_folder(given.output)
    return [open_method(name, progress) for name in named]


def rivals_from(given: argparse.Namespace, target: Table, progress: Progress) -> list[Method]:
    """The rivals that --rivals lists, made from the target."""
    from lovevec.methods.open_method import rivals_of

    return rivals_of(
        given.rivals,
        target,
        folder=Path(given.output) / "models" if given.output else None,
        device=given.device,
        seed=given.seed,
        quick=given.quick,
        progress=progress,
    )


def refuse_namesakes(methods: Sequence[Method]) -> None:
    """Two rows of one name could not be told apart."""
    names = [method.name for method in methods]
    for name in names:
        if names.count(name) > 1:
            raise LovevecError(f"two methods are called {name}: give one a name of its own in front, as in other=…")


def target_of(given: argparse.Namespace, methods: Sequence[Method], progress: Progress) -> Table:
    """The vectors that rivals learn from, and that right words are looked for in."""
    from lovevec.methods.open_method import open_table
    from lovevec.methods.table import Table

    if given.target:
        return open_table(given.target, progress)
    for method in methods:
        if isinstance(method, Table):
            return method
    raise LovevecError("no word vectors to learn from or to look in: name these with --target FILE")


def without_folders(name: str) -> str:
    """A method or a set as results tell it: of a file or a folder the last part, any other name (a shipped model, a
    hub id) as it is. mine=/home/me/my.vec -> mine=my.vec"""
    own, given = split_name(name)
    shown = Path(given).resolve().name if is_there(Path(given)) else given
    return f"{own}={shown}" if own else shown


def cells_of(given: argparse.Namespace) -> ResultCache:
    """Where finished parts of long work are kept."""
    from lovevec.evaluate.result_cache import ResultCache

    return ResultCache(Path(given.output) / "cells" if given.output else None)


def publish(
    given: argparse.Namespace,
    task: str,
    settings: Mapping[str, Any],
    scores: Any,
    table: str,
    pictures: Pictures | None = None,
) -> None:
    """With -o all of it into the folder; then the table to stdout, which may be closed by now."""
    if given.output:
        from lovevec.evaluate.results import refuse_bad_folder, write_results

        with Progress(given.quiet) as progress:
            for line in write_results(refuse_bad_folder(given.output), task, settings, scores, table, pictures):
                progress.say(line)
    put(table)
