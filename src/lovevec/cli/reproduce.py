"""`lovevec reproduce`: the paper's tables and figures, each one command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.cli.evaluate.downstream import rates_of
from lovevec.cli.evaluate.shared import count
from lovevec.cli.streams import put
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.shell import describe

if TYPE_CHECKING:
    from lovevec.reproduce.bench import Bench

ABOUT = """Reproduce a table or figure of the paper, on vectors of your choice: everything is trained, measured and
written to a folder: NAME.json (settings, versions, every score), NAME.md (our numbers beside the paper's) and pictures.
A run that was stopped goes on where it was."""
EXAMPLES = """examples:
  lovevec reproduce intrinsic --target glove.txt -o results
  lovevec reproduce robustness --target glove.txt -o results --tasks sst2 --device cuda
  lovevec reproduce all --quick                      to see that everything works, in minutes
  lovevec reproduce robustness --redraw -o results   page and pictures again, from the scores in the folder"""
NAMES = (
    "intrinsic",
    "extrinsic",
    "robustness",
    "ablation",
    "shrink",
    "temperature",
    "augmentation",
    "clusters-figure",
    "attention-figure",
    "all",
)
TARGET = "targets/glove840b-300d-34k.npz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("name", choices=NAMES, metavar="name", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--target", metavar="FILE", help=f"the vectors to mimic (default: {TARGET} in the data folder)")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", default="results", help="where results go (default results)"
    )
    parser.add_argument("--data", metavar="FOLDER", help="where the datasets are (default: $LOVEVEC_DATA, else ./data)")
    parser.add_argument(
        "--device", default="auto", metavar="NAME", help="where to train: auto, cpu, cuda … (default auto)"
    )
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="decides every random draw (default 0)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="downstream models a setting (default 1)")
    parser.add_argument(
        "--learning-rates", metavar="RATES", help="of downstream models, by commas (default: the paper's five)"
    )
    parser.add_argument("--tasks", metavar="NAMES", help="of the datasets only these: sst2,mr,conll03,bc2gm, or none")
    parser.add_argument("--methods", metavar="NAMES", help="of the methods only these, by their names in the table")
    parser.add_argument(
        "--quick", action="store_true", help="less of everything: to see whether it works, not how well"
    )
    parser.add_argument("--redraw", action="store_true", help="only page and pictures, from the scores in the folder")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run(given: argparse.Namespace) -> None:
    """Run one experiment, or all; each page goes to stdout."""
    from lovevec.reproduce.experiments import EXPERIMENTS, redraw, reproduce

    names = list(EXPERIMENTS) if given.name == "all" else [given.name]
    with Progress(given.quiet) as progress:
        if given.redraw:
            for name in names:
                put(redraw(name, Path(given.output), progress) + "\n")
            return
        bench = bench_of(given, progress)
        for name in names:
            progress.say(f"{name}: {EXPERIMENTS[name]}")
            put(reproduce(name, bench) + "\n")


def bench_of(given: argparse.Namespace, progress: Progress) -> Bench:
    """What the experiments need, from the command line; what is missing is told before anything is trained."""
    from lovevec.evaluate.datasets import data_folder
    from lovevec.evaluate.grid import RATES
    from lovevec.reproduce.bench import TAGS, TEXTS, Bench
    from lovevec.rivals.fasttext import FastText
    from lovevec.rivals.named import open_method, open_table
    from lovevec.rivals.table import Table

    if given.seeds < 1:
        raise LovevecError(f"--seeds {given.seeds}: at least 1")
    for task in _names(given.tasks):
        if task.lower() not in (*TEXTS, *TAGS, "none"):
            raise LovevecError(f"--tasks {task}: no such dataset; there are {', '.join((*TEXTS, *TAGS))}, and none")
    data = data_folder(given.data)
    target = given.target or data / TARGET
    alone = open_method(str(target), progress)
    table = open_table(target, progress) if isinstance(alone, FastText) else alone
    if not isinstance(table, Table):
        raise LovevecError(f"--target {target}: is a model; name the vectors to mimic, a file")
    return Bench(
        table,
        alone,
        Path(given.output),
        data,
        given.device,
        given.seed,
        given.seeds,
        rates_of(given) or RATES,
        given.quick,
        _names(given.tasks),
        _names(given.methods),
        progress,
    )


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
