"""`lovevec evaluate typos`: real misspellings, and whether the right word is near."""

from __future__ import annotations

import argparse

from lovevec.cli.evaluate.shared import (
    METHODS_HELP,
    add_common,
    add_rivals,
    named_methods,
    publish,
    refuse_namesakes,
    rivals_from,
    target_of,
)
from lovevec.cli.shell import describe
from lovevec.errors import LovevecError
from lovevec.methods.open_method import RIVALS
from lovevec.progress import Progress

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
    from lovevec.evaluate.data.misspellings import misspellings
    from lovevec.evaluate.datasets import data_folder, read_several
    from lovevec.evaluate.reports.typos import typos_report
    from lovevec.evaluate.speed import words_per_second
    from lovevec.evaluate.typos import lower_cased, trial, typos
    from lovevec.methods.mapped import brought_into

    if not given.methods and not given.rivals:
        raise LovevecError("nothing to evaluate: name models or vector files with --methods, or --rivals")
    sets = read_several(misspellings, given.sets or SETS, data_folder(given.data))
    resamples = QUICK_RESAMPLES if given.quick else RESAMPLES
    with Progress(given.quiet) as progress:
        methods = named_methods(given, given.methods, progress)
        target = lower_cased(target_of(given, methods, progress))  # as the misspellings are
        methods += rivals_from(given, target, progress)
        refuse_namesakes(methods)
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
    publish(given, "typos", settings, rows, typos_report(target.name, scores, speeds, mapped))
