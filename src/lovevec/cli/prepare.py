"""`lovevec prepare`: what training does first, once for many runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from lovevec.cli.settings import HelpAll, add_settings, chosen_settings
from lovevec.cli.shell import describe
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.train.settings import PrepareSettings

ABOUT = """Do the CPU-heavy part of training once, for many runs: the unit vocabulary, synonyms and
hard negatives of a target's words."""
EXAMPLES = """examples:
  lovevec prepare glove.txt -o prepared
  lovevec prepare glove.txt -o prepared --vocabulary bert-vocab.txt --shrink none"""


def add_arguments(parser: argparse.ArgumentParser, everything: bool = False) -> None:
    describe(parser, ABOUT, EXAMPLES)
    parser.usage = "%(prog)s target -o FOLDER [settings]"
    parser.add_argument("target", help="a vector file of any known format, or hf:NAME")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where the prepared words go")
    parser.add_argument("--overwrite", action="store_true", help="write into a folder that holds something already")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.add_argument("--help-all", action=HelpAll, fill=add_arguments, help="explain every setting, and exit")
    add_settings(parser, PrepareSettings, everything=everything)


def run(options: argparse.Namespace) -> None:
    from lovevec.train import prepare

    settings = PrepareSettings(**chosen_settings(options, PrepareSettings))  # what is wrong is told first
    output = Path(options.output)
    if output.exists() and not output.is_dir():
        raise LovevecError(f"{output}: is a file; name a folder")
    if output.is_dir() and any(output.iterdir()) and not options.overwrite:
        raise LovevecError(f"{output}: holds something already; choose another folder, or --overwrite it")
    with Progress(options.quiet) as progress:
        prepared = prepare(options.target, settings, progress)
        with progress.phase("saving"):
            prepared.save(output)
        rows, dim = prepared.vocabulary.table_rows, prepared.vectors.shape[1]
        parameters = rows * (settings.row_width or dim) + settings.row_width * dim
        progress.say(
            f"{options.output}: {len(prepared.words):,} words; {len(prepared.vocabulary):,} units in {rows:,} rows"
            f" ({parameters:,} parameters at {dim} dimensions)"
        )
