"""`lovevec evaluate typos`: real misspellings, and whether the right word is near."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.cli.evaluate.shared import (
    METHODS_HELP,
    add_common,
    add_rivals,
    publish,
    refuse_namesakes,
    target_of,
)
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.rivals.named import RIVALS
from lovevec.shell import describe

if TYPE_CHECKING:
    from lovevec.evaluate.typos import SetScore, Typos
    from lovevec.rivals.method import Method
    from lovevec.rivals.table import Table

ABOUT = """Is the right word near a real misspelling? Each misspelling's vector is compared with those of all words of
the target: how often the right word's own is the nearest (top-1) or among the ten nearest (top-10), and how near it is
(cosine). A misspelling counts when its right word is in the target and it is not itself there; a word that a method
has no vector for is never recovered. A method of another space than the target's is brought there by a map learned from
the words that both know, and marked as mapped. Intervals (95 %) are of right words drawn anew."""
EXAMPLES = """files hold $right and then its misspellings, one a line, or two columns, right<TAB>misspelling; birkbeck,
aspell and holbrook are the sets of these names in the data folder.

rivals:
""" + "\n".join(f"  {name:<15}{about}" for name, about in RIVALS.items())
EXAMPLES += """

examples:
  lovevec evaluate typos --methods my-model --target glove.txt
  lovevec evaluate typos birkbeck my-list.tsv --methods my-model default --target glove.txt --rivals symspell"""
SETS = ("birkbeck", "aspell", "holbrook")
QUICK_MISSPELLINGS, QUICK_RESAMPLES = 500, 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the task."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument(
        "sets", nargs="*", metavar="FILE", help=f"a list of misspellings, or a set (default: {' '.join(SETS)})"
    )
    parser.add_argument("--methods", nargs="+", default=[], metavar="METHOD", help=METHODS_HELP)
    add_rivals(parser)
    add_common(parser)


def run(given: argparse.Namespace) -> None:
    """Score all methods on all sets."""
    from lovevec.evaluate.bootstrap import RESAMPLES
    from lovevec.evaluate.datasets import data_folder
    from lovevec.evaluate.misspellings import misspellings
    from lovevec.evaluate.same_space import brought_into
    from lovevec.evaluate.speed import words_per_second
    from lovevec.evaluate.typos import trial, typos

    sets = [misspellings(name, data_folder(given.data)) for name in given.sets or SETS]
    resamples = QUICK_RESAMPLES if given.quick else RESAMPLES
    with Progress(given.quiet) as progress:
        target, methods = target_and_methods(given, progress)
        trials = [trial(each, target, QUICK_MISSPELLINGS if given.quick else None, given.seed) for each in sets]
        scores, speeds, mapped = [], [], []
        for place, method in enumerate(methods):
            # those that were made here live in the target's space, however little they have learned
            here = brought_into(target, method) if place < len(given.methods) else method
            with progress.phase(f"scoring {method.name}"):
                scores.append(typos(here, target, trials, resamples, given.seed))
                speeds.append(words_per_second(here, trials[0].wrong))
            mapped.append(here is not method)
    rows = [
        {**score.plain(), "words_per_second": round(speed), "mapped": far}
        for score, speed, far in zip(scores, speeds, mapped, strict=True)
    ]
    settings = {
        "target": {"name": target.name, "words": len(target.words), "dim": target.dim},
        "sets": {each.name: {"digest": each.digest} for each in sets},
        "seed": given.seed,
        "resamples": resamples,
        "quick": given.quick,
        "rivals": given.rivals,
    }
    publish(given, "typos", settings, rows, tables_of(target, scores, speeds, mapped))


def target_and_methods(given: argparse.Namespace, progress: Progress) -> tuple[Table, list[Method]]:
    """The target in lower case, as the misspellings are, and what is to be scored in its space."""
    from lovevec.evaluate.typos import lower_cased
    from lovevec.reports.results import refuse_bad_folder
    from lovevec.rivals.named import listed, open_method, rivals_of
    from lovevec.rivals.table import Table

    listed(given.rivals)
    if given.output:
        refuse_bad_folder(given.output)
    if not given.methods and not given.rivals:
        raise LovevecError("nothing to evaluate: name models or vector files with --methods, or --rivals")
    methods = [open_method(name, progress) for name in given.methods]
    if given.target is None and not any(isinstance(method, Table) for method in methods):
        raise LovevecError("the right word is looked for among the words of a target: name it with --target FILE")
    target = lower_cased(target_of(given, methods, progress))
    methods += rivals_of(
        given.rivals,
        target,
        folder=Path(given.output) / "models" if given.output else None,
        device=given.device,
        seed=given.seed,
        quick=given.quick,
        progress=progress,
    )
    refuse_namesakes([method.name for method in methods])
    return target, methods


def tables_of(target: Table, scores: Sequence[Typos], speeds: Sequence[float], mapped: Sequence[bool]) -> str:
    """One table a set."""
    from lovevec.reports.markdown import Cell, markdown, millions

    header = ["method", "embedding", "others", "words/s", "covered %", "top-1 %", "95 %", "top-10 %", "95 %", "cosine"]
    parts = []
    for place, one in enumerate(scores[0].sets):
        rows: list[list[Cell]] = []
        for score, speed, far in zip(scores, speeds, mapped, strict=True):
            parameters = score.parameters
            rows.append(
                [
                    score.method + (" (mapped)" if far else ""),
                    millions(parameters.embedding),
                    millions(parameters.others),
                    round(speed),
                    *figures(score.sets[place]),
                ]
            )
        parts.append(f"{one.name}: {one.misspellings:,} misspellings of {one.words:,} words of {target.name}\n")
        parts.append(markdown(header, rows))
    return "\n".join(parts)


def figures(score: SetScore) -> list[str | float]:
    """A method's numbers on a set."""
    shown: list[str | float] = [score.covered]
    for measured in (score.top1, score.top10):
        shown += [measured.mean, f"{measured.low:.1f}–{measured.high:.1f}"]
    return [*shown, f"{score.cosine.mean:.3f}"]
