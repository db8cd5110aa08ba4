"""`lovevec evaluate speed`: words a second."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lovevec.cli.evaluate.shared import METHODS_HELP, add_common, add_rivals, methods_of, publish, target_of
from lovevec.cli.shell import describe
from lovevec.errors import LovevecError
from lovevec.progress import Progress

ABOUT = """How many words a second a method has vectors for, on all cores. The words are damaged copies of the target's
own (or of those that the first method knows), so that they have to be imputed; with --words FILE running text
is measured too. After a warm-up the median of five passes counts."""
EXAMPLES = """examples:
  lovevec evaluate speed my-model my.bin
  lovevec evaluate speed default --target glove.txt --rivals edit-distance,symspell --words book.txt"""
COUNT, QUICK_COUNT = 200_000, 2_000
REPEATS, QUICK_REPEATS = 5, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the task."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=METHODS_HELP)
    parser.add_argument("--words", metavar="FILE", help="a text file: measure its words too, as they come")
    parser.add_argument("--count", type=int, metavar="N", help=f"at most so many words (default {COUNT:,})")
    add_rivals(parser)
    add_common(parser)


def run(given: argparse.Namespace) -> None:
    """Time all methods."""
    from lovevec.evaluate.markdown import Cell, markdown
    from lovevec.evaluate.reports.rows import HEADER, about
    from lovevec.evaluate.speed import damaged_copies, known_words, running_text, words_per_second
    from lovevec.methods.method import Parameters

    count = given.count if given.count is not None else QUICK_COUNT if given.quick else COUNT
    if count < 1:
        raise LovevecError(f"--count is {count}: must be at least 1")
    repeats = QUICK_REPEATS if given.quick else REPEATS
    text = running_text(given.words, count) if given.words else []
    with Progress(given.quiet) as progress:
        methods = methods_of(given, given.methods, progress)
        if given.target and not given.rivals:
            known: Sequence[str] = target_of(given, methods, progress).words
        else:  # rivals hold their target already
            known = known_words(methods[len(given.methods) :] if given.rivals else methods)
        damaged = damaged_copies(known, count, given.seed)
        scores: list[dict[str, Any]] = []
        for method in methods:
            with progress.phase(f"timing {method.name}"):
                score: dict[str, Any] = {"method": method.name, "parameters": method.parameters._asdict()}
                score["damaged"] = round(words_per_second(method, damaged, repeats))
                score["text"] = round(words_per_second(method, text, repeats)) if text else None
                scores.append(score)
    rows: list[list[Cell]] = [
        [
            *about(score["method"], Parameters(**score["parameters"]), score["damaged"]),
            *([score["text"]] if text else []),
        ]
        for score in scores
    ]
    settings = {
        "words": count,
        "text": Path(given.words).name if given.words else None,
        "repeats": repeats,
        "seed": given.seed,
        "quick": given.quick,
    }
    header = [*HEADER[:-1], "damaged words/s", *(["text words/s"] if text else [])]
    publish(given, "speed", settings, scores, markdown(header, rows))
