"""`lovevec evaluate similarity`: Spearman's ρ on word pairs."""

from __future__ import annotations

import argparse

from lovevec.cli.evaluate.intrinsic import add_flags, refuse_less_than_one, settings_of
from lovevec.cli.evaluate.shared import methods_of, publish
from lovevec.cli.shell import describe
from lovevec.progress import Progress

ABOUT = """Do pairs of words that people find alike have near vectors? Spearman's ρ of cosine and human score, with
bootstrap intervals, on all pairs, and on the covered ones where a method lacks words."""
EXAMPLES = """examples:
  lovevec evaluate similarity my-model
  lovevec evaluate similarity my-model other.vec --rivals all -o results
  lovevec evaluate similarity my-model glove=glove.txt --set RareWord my-pairs.tsv

An own set is a file of three columns, tabs between: word1, word2, score."""
QUICK = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the task."""
    describe(parser, ABOUT, EXAMPLES)
    add_flags(parser, "RareWord, SimLex, MTurk, MEN, WordSim, SimVerb")
    parser.add_argument("--resamples", type=int, metavar="N", help="of the bootstrap (default 1000; --quick: 100)")


def run(given: argparse.Namespace) -> None:
    """Score all methods on all sets."""
    from lovevec.evaluate.bootstrap import RESAMPLES
    from lovevec.evaluate.datasets import data_folder, names_of, read_several, similarity_set
    from lovevec.evaluate.reports.similarity import draw_similarity, similarity_report
    from lovevec.evaluate.similarity import similarity
    from lovevec.evaluate.speed import words_per_second

    refuse_less_than_one(given, "resamples")
    resamples = given.resamples or (QUICK if given.quick else RESAMPLES)
    sets = read_several(similarity_set, given.sets or names_of("similarity"), data_folder(given.data))
    words = list(dict.fromkeys(word for pairs in sets for word in (*pairs.left, *pairs.right)))
    results, speeds = [], []
    with Progress(given.quiet) as progress:
        methods = methods_of(given, given.methods, progress)
        with progress.phase("scoring", total=len(methods), unit="methods") as phase:
            for method in methods:
                results.append(similarity(method, sets, resamples, given.seed))
                speeds.append(words_per_second(method, words))
                phase.advance(note=method.name)
    publish(
        given,
        "similarity",
        settings_of(given, sets, resamples=resamples),
        [{**result.plain(), "words_per_second": speed} for result, speed in zip(results, speeds, strict=True)],
        similarity_report(results, speeds, resamples),
        {"similarity.png": lambda path: draw_similarity(results, path)},
    )
