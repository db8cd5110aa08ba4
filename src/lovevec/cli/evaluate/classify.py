"""`lovevec evaluate classify`: text classification on frozen vectors, clean and damaged text."""

from __future__ import annotations

import argparse
from dataclasses import replace

from lovevec.cli.evaluate.downstream import DETAILS, add_downstream, rates_of, run_downstream, seeds_of
from lovevec.cli.shell import describe

ABOUT = """How well are texts told apart by a CNN that reads your vectors, and how well when words are damaged?
Accuracy on the test set."""
EXAMPLES = """examples:
  lovevec evaluate classify sst2 --vectors my.vec --impute my-model --noise 0,10,30,50,70,90 -o results
  lovevec evaluate classify sst2 --vectors my.vec --impute my-model --rivals unk,symspell --char-cnn
  lovevec evaluate classify mr --vectors my.vec --impute my-model --typos-per-sentence 0,1,2,3
  lovevec evaluate classify my-folder --impute my-model --quick"""
SETS = "sst2, mr, or a folder with train.tsv, dev.tsv and test.tsv (sentence, label; docs/data.md)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the task."""
    describe(parser, ABOUT, f"{DETAILS}\n\n{EXAMPLES}")
    add_downstream(parser, SETS)


def run(given: argparse.Namespace) -> None:
    """Train and test a CNN on each method's vectors."""
    from lovevec.evaluate.classify import ClassifySettings, classify
    from lovevec.evaluate.datasets import data_folder, texts

    settings = ClassifySettings(seeds=seeds_of(given), noise_seed=given.seed, device=given.device)
    settings = settings.quick() if given.quick else settings
    settings = replace(settings, rates=rates_of(given) or settings.rates)
    if given.epochs:
        settings = replace(settings, cnn=replace(settings.cnn, epochs=given.epochs))
    split = texts(given.set, data_folder(given.data))
    run_downstream(
        given,
        f"classify-{split.name}",
        "accuracy",
        settings,
        lambda method, noises, cells, progress: classify(method, split, noises, settings, cells, progress),
    )
