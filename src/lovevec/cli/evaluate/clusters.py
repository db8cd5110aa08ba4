"""`lovevec evaluate clusters`: K-means purity on classes of words."""

from __future__ import annotations

import argparse

from lovevec.cli.evaluate.intrinsic import add_flags, refuse_less_than_one, settings_of
from lovevec.cli.evaluate.shared import methods_of, publish
from lovevec.cli.shell import describe
from lovevec.errors import LovevecError
from lovevec.progress import Progress

ABOUT = """Do words of a class come together? K-means on unit-length vectors; purity: the share of words that are of
their cluster's most frequent class. The mean over several seeds, since K-means depends on where it starts."""
EXAMPLES = """examples:
  lovevec evaluate clusters my-model
  lovevec evaluate clusters my-model other.vec --rivals bos,kvq-fh -o results
  lovevec evaluate clusters my-model --set AP my-classes.tsv -k 30

An own set is a file of two columns, a tab between: word, class."""
QUICK_SEEDS, QUICK_RESTARTS = 2, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the task."""
    describe(parser, ABOUT, EXAMPLES)
    add_flags(parser, "AP, BLESS")
    parser.add_argument("-k", "--k", type=int, metavar="N", help="clusters (default: as many as classes)")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many are averaged (default 10; --quick: 2)")
    parser.add_argument(
        "--restarts", type=int, metavar="N", help="starts of each seed, the best counts (default 10; --quick: 3)"
    )


def run(given: argparse.Namespace) -> None:
    """Score all methods on all sets."""
    from lovevec.evaluate.clusters import SEEDS, clusters
    from lovevec.evaluate.datasets import data_folder, names_of, read_several, word_classes
    from lovevec.evaluate.kmeans import RESTARTS
    from lovevec.evaluate.reports.clusters import clusters_report, draw_purities
    from lovevec.evaluate.speed import words_per_second

    refuse_less_than_one(given, "k", "seeds", "restarts")
    seeds = given.seeds or (QUICK_SEEDS if given.quick else SEEDS)
    restarts = given.restarts or (QUICK_RESTARTS if given.quick else RESTARTS)
    sets = read_several(word_classes, given.sets or names_of("clusters"), data_folder(given.data))
    for one in sets:
        if given.k and given.k > len(one.words):
            raise LovevecError(f"-k {given.k}: {one.name} has only {len(one.words)} words")
    words = list(dict.fromkeys(word for one in sets for word in one.words))
    results, speeds = [], []
    with Progress(given.quiet) as progress:
        methods = methods_of(given, given.methods, progress)
        with progress.phase("clustering", total=len(methods), unit="methods") as phase:
            for method in methods:
                results.append(clusters(method, sets, given.k, seeds, restarts, given.seed))
                speeds.append(words_per_second(method, words))
                phase.advance(note=method.name)
    publish(
        given,
        "clusters",
        settings_of(given, sets, k=given.k, seeds=seeds, restarts=restarts),
        [{**result.plain(), "words_per_second": speed} for result, speed in zip(results, speeds, strict=True)],
        clusters_report(results, speeds, seeds, restarts),
        {"clusters.png": lambda path: draw_purities(results, path)},
    )
