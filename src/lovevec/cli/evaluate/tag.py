"""`lovevec evaluate tag`: entity recognition on frozen vectors, in clean and in damaged text."""

from __future__ import annotations

import argparse
from dataclasses import replace

from lovevec.cli.evaluate.downstream import DETAILS, add_downstream, rates_of, run_downstream, seeds_of
from lovevec.cli.shell import describe

ABOUT = """How well are names found in text by a BiLSTM-CRF that reads your vectors, and how well when words are
damaged? Entity F1 (conlleval) on the test set."""
EXAMPLES = """examples:
  lovevec evaluate tag conll03 --vectors my.vec --impute my-model --noise 0,10,30,50,70,90 -o results
  lovevec evaluate tag bc2gm --vectors my.vec --impute my-model --rivals unk,edit-distance --char-cnn
  lovevec evaluate tag my-folder --impute my-model --quick"""
SETS = "conll03, bc2gm, or a folder with train, dev and test (.txt or .tsv; docs/data.md)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the task."""
    describe(parser, ABOUT, f"{DETAILS}\n\n{EXAMPLES}")
    add_downstream(parser, SETS)


def run(given: argparse.Namespace) -> None:
    """Train and test a tagger on each method's vectors."""
    from lovevec.evaluate.datasets import data_folder, tagged
    from lovevec.evaluate.tag import TagSettings, tag

    settings = TagSettings(seeds=seeds_of(given), noise_seed=given.seed, device=given.device)
    settings = settings.quick() if given.quick else settings
    settings = replace(settings, rates=rates_of(given) or settings.rates)
    if given.epochs:
        settings = replace(settings, tagger=replace(settings.tagger, epochs=given.epochs))
    split = tagged(given.set, data_folder(given.data))
    run_downstream(
        given,
        f"tag-{split.name}",
        "entity F1",
        settings,
        lambda method, noises, cells, progress: tag(method, split, noises, settings, cells, progress),
    )
