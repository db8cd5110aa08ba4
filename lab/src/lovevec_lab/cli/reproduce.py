"""`lovevec reproduce`: the paper's tables and figures, each one command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.cli.shell import describe, put
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.cli.evaluate import DATA_HELP, count, numbers

if TYPE_CHECKING:
    from lovevec_lab.reproduce.bench import Bench
    from lovevec_lab.reproduce.transformer_bench import TransformerBench

ABOUT = """Reproduce a table or figure of the paper, on vectors of your choice: everything is trained, measured and
written to a folder: NAME.json (settings, versions, every score), NAME.md (our numbers beside the paper's) and pictures.
A run that was stopped goes on where it was."""
EXAMPLES = """examples:
  lovevec reproduce intrinsic --target glove.txt -o results
  lovevec reproduce robustness --target glove.txt -o results --tasks sst2 --device cuda
  lovevec reproduce bert --transformer bert-base-uncased --love love-bert --seeds 3 --device cuda -o results
  lovevec reproduce all --quick                      # to see that everything works, in minutes
  lovevec reproduce robustness --redraw -o results   # page and pictures again, from the scores in the folder"""
NAMES = (
    "intrinsic",
    "extrinsic",
    "robustness",
    "bert",
    "ablation",
    "shrink",
    "temperature",
    "augmentation",
    "clusters-figure",
    "attention-figure",
    "all",
)
TARGET = "targets/glove840b-300d-34k.npz"
BERT = """The transformer is fine-tuned plain, behind a speller, and with LOVE inside. Learning rates are the paper's
for BERT-base by default, 9e-5 to 1e-5; small ones such as MiniLM need larger rates."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("name", choices=NAMES, metavar="name", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--target", metavar="FILE", help=f"the vectors to mimic (default: {TARGET} in the data folder)")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", default="results", help="where results go (default results)"
    )
    parser.add_argument("--data", metavar="FOLDER", help=DATA_HELP)
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
    add_bert(parser.add_argument_group("for bert", BERT))


def add_bert(group: argparse._ArgumentGroup) -> None:
    """The flags of one experiment."""
    group.add_argument(
        "--transformer", metavar="NAME", help="the model: a folder or a hub id; TITLE=… says what the pages call it"
    )
    group.add_argument("--love", metavar="MODEL", help="LOVE that mimics its input embeddings")
    group.add_argument("--distilled", metavar="MODEL", help="LOVE that mimics its distilled embeddings")
    group.add_argument(
        "--precision", default="tf32", metavar="NAME", help="matrix products on a GPU: tf32 (default), bf16 or fp32"
    )
    group.add_argument("--epochs", type=int, default=5, metavar="N", help="of fine-tuning (default 5)")
    group.add_argument("--sentences", type=int, metavar="N", help="train on so many sentences only, drawn once for all")
    group.add_argument("--tested", type=int, metavar="N", help="test on so many sentences only, of dev and of test")
    group.add_argument(
        "--share",
        metavar="K/N",
        help="only the K-th of N parts of the runs, and no page: for N processes at once. Then the same without it",
    )


def run(given: argparse.Namespace) -> None:
    """Run one experiment, or all; each page goes to stdout."""
    from lovevec_lab.reproduce.experiments import EXPERIMENTS, redraw, reproduce

    names = [given.name]
    if given.name == "all":
        names = [name for name in EXPERIMENTS if name != "bert" or given.transformer]
    with Progress(given.quiet) as progress:
        if given.redraw:
            for name in names:
                put(redraw(name, Path(given.output), progress) + "\n")
            return
        if given.seeds < 1:
            raise LovevecError(f"--seeds {given.seeds}: at least 1")
        if given.share:
            fill(given, progress)
            return
        benches = benches_of(given, names, progress)
        for name in names:
            progress.say(f"{name}: {EXPERIMENTS[name]}")
            put(reproduce(name, benches[name]) + "\n")


def fill(given: argparse.Namespace, progress: Progress) -> None:
    """A share of the runs of bert, kept in the folder."""
    from lovevec_lab.reproduce.transformer_bench import share_of

    if given.name != "bert":
        raise LovevecError(f"--share {given.share}: for bert only; share others out by --methods and --tasks")
    share = share_of(given.share)
    transformer_bench_of(given, progress).fill(share)


def benches_of(
    given: argparse.Namespace, names: Sequence[str], progress: Progress
) -> Mapping[str, Bench | TransformerBench]:
    """What each experiment stands on; what is missing is told before anything is trained."""
    others = [name for name in names if name != "bert"]
    benches: dict[str, Bench | TransformerBench] = {}
    if others:
        benches = dict.fromkeys(others, bench_of(given, progress))
    return benches | ({"bert": transformer_bench_of(given, progress)} if "bert" in names else {})


def transformer_bench_of(given: argparse.Namespace, progress: Progress) -> TransformerBench:
    """What bert needs, from the command line."""
    from lovevec.device import choose_device
    from lovevec.model.find import find_model
    from lovevec_lab.evaluate.data import data_folder
    from lovevec_lab.evaluate.finetune import FinetuneSettings
    from lovevec_lab.evaluate.finetune.loop import RATES
    from lovevec_lab.evaluate.results import refuse_bad_folder
    from lovevec_lab.methods.open_method import split_name
    from lovevec_lab.reproduce.transformer_bench import TransformerBench

    if not given.transformer:
        raise LovevecError("bert: name the model with --transformer, a folder or a hub id such as bert-base-uncased")
    title, transformer = split_name(given.transformer)
    for love in (given.love, given.distilled):
        if love:
            find_model(love)
    choose_device(given.device)
    for flag in ("epochs", "sentences", "tested"):
        if (number := getattr(given, flag)) is not None and number < 1:
            raise LovevecError(f"--{flag} {number}: at least 1")
    settings = FinetuneSettings(
        rates_of(given) or RATES,
        tuple(range(given.seed, given.seed + given.seeds)),
        given.seed,
        given.epochs,
        precision=given.precision,
        sentences=given.sentences,
        tested=given.tested,
        device=given.device,
    )
    return TransformerBench(
        transformer=transformer,
        folder=refuse_bad_folder(given.output),
        data=data_folder(given.data),
        finetune=settings.quick() if given.quick else settings,
        name=title,
        love=given.love,
        distilled=given.distilled,
        quick=given.quick,
        tasks=_names(given.tasks),
        methods=_names(given.methods),
        progress=progress,
    )


def bench_of(given: argparse.Namespace, progress: Progress) -> Bench:
    """What the experiments need, from the command line; what is missing is told before anything is trained."""
    from lovevec_lab.evaluate.data import data_folder
    from lovevec_lab.evaluate.grid import RATES
    from lovevec_lab.methods.open_method import open_method
    from lovevec_lab.methods.table import Table, table_of
    from lovevec_lab.reproduce.bench import QUICK_WORDS, TASKS, Bench

    for task in _names(given.tasks):
        if task.lower() not in (*TASKS, "none"):
            raise LovevecError(f"--tasks {task}: no such dataset; there are {', '.join(TASKS)}, and none")
    data = data_folder(given.data)
    target = given.target or data / TARGET
    alone = open_method(str(target), progress)
    table = table_of(alone)
    if table is None:
        raise LovevecError(f"--target {target}: is a model; name the vectors to mimic, a file")
    if given.quick and len(table.words) > QUICK_WORDS:
        table = table.first(QUICK_WORDS)
        alone = table if isinstance(alone, Table) else alone
    return Bench(
        target=table,
        alone=alone,
        folder=Path(given.output),
        data=data,
        device=given.device,
        seed=given.seed,
        seeds=given.seeds,
        rates=rates_of(given) or RATES,
        quick=given.quick,
        tasks=_names(given.tasks),
        methods=_names(given.methods),
        progress=progress,
    )


def rates_of(given: argparse.Namespace) -> tuple[float, ...]:
    """The learning rates, if any are named."""
    from lovevec_lab.evaluate.grid import checked_rates

    return checked_rates(numbers("--learning-rates", given.learning_rates or "", float))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
