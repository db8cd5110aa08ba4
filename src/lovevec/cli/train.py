"""`lovevec train`: word vectors in, a model folder out. Standard library only until it runs.

Several processes train together under torchrun: `torchrun --nproc-per-node 2 -m lovevec.cli train …`.
"""

from __future__ import annotations

import argparse

from lovevec.cli.settings import HelpAll, add_settings, chosen_settings
from lovevec.cli.shell import as_flag, describe
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.train.settings import PrepareSettings, Settings, TrainSettings, names

ABOUT = """Learn to give any word a vector, from word vectors that exist: GloVe, word2vec, fastText, …,
or the input embeddings of a BERT-like model (hf:NAME). The result is a folder that LOVE.load reads."""
EXAMPLES = """examples:
  lovevec train glove.txt -o my-model
  lovevec train crawl-300d-2M.vec.gz -o m --limit 200000 --epochs 20 --seed 7 --device cuda
  lovevec train hf:bert-base-uncased -o love-bert --preset typos  # a transformer's input embeddings: folder or hub id
  lovevec train --resume m  # after a crash, Ctrl-C or kill -9
  lovevec prepare glove.txt -o prepared && lovevec train prepared -o m
  torchrun --nproc-per-node 2 -m lovevec.cli train prepared -o m"""


def add_arguments(parser: argparse.ArgumentParser, everything: bool = False) -> None:
    describe(parser, ABOUT, EXAMPLES)
    parser.usage = "%(prog)s target -o FOLDER [settings]\n       %(prog)s --resume FOLDER"
    parser.add_argument("target", nargs="?", help="a vector file of any known format, hf:NAME, or a prepared folder")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where the model goes")
    parser.add_argument("--resume", metavar="FOLDER", help="go on with the run whose output folder this is")
    parser.add_argument("--overwrite", action="store_true", help="replace what the output folder holds")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no report")
    parser.add_argument("--help-all", action=HelpAll, fill=add_arguments, help="explain every setting, and exit")
    add_settings(parser, PrepareSettings, TrainSettings, everything=everything)


def run(options: argparse.Namespace) -> None:
    from lovevec.train import resume, train
    from lovevec.train.prepared import is_prepared, refuse_stale, settings_of

    chosen = chosen_settings(options, Settings)
    with Progress(options.quiet, spelling=as_flag) as progress:
        if options.resume is not None:
            if options.target is not None or options.output is not None or options.preset or chosen:
                raise LovevecError("--resume takes the folder alone: target and settings are those of the run")
            resume(options.resume, progress)
            return
        if options.target is None or options.output is None:
            raise LovevecError("name the vectors and the output: lovevec train glove.txt -o my-model")
        if is_prepared(options.target):  # a flag that says the default is meant too
            fixed = {name: chosen[name] for name in names(PrepareSettings) if name in chosen}
            refuse_stale(settings_of(options.target), fixed)
        train(options.target, Settings(**chosen), output=options.output, overwrite=options.overwrite, progress=progress)
