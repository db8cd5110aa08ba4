"""`lovevec reproduce`: the paper's tables and figures, each one command."""

from __future__ import annotations

import argparse

from lovevec.cli.shell import describe
from lovevec.cli.terminal import put
from lovevec.progress import Progress
from lovevec_lab.cli.evaluate import DATA_HELP, count, numbers

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
BERT = """The transformer is fine-tuned plain, behind a speller, and with LOVE inside. Learning rates are the paper's
for BERT-base by default, 9e-5 to 1e-5; small ones such as MiniLM need larger rates."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `lovevec reproduce`."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("name", choices=NAMES, metavar="name", help=f"one of {', '.join(NAMES)}")
    parser.add_argument(
        "--target",
        metavar="FILE",
        help="the vectors to mimic (default: targets/glove840b-300d-34k.npz in the data folder)",
    )
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
    """Add the flags that only the experiment `bert` reads."""
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


def run(options: argparse.Namespace) -> None:
    """Run one experiment, or all; each page goes to stdout as soon as it is made."""
    from lovevec_lab.reproduce.experiments import run_experiments

    settings = {name: value for name, value in vars(options).items() if name not in ("command", "quiet")}
    settings["learning_rates"] = numbers("--learning-rates", options.learning_rates or "", float)
    settings |= {flag: name_list(settings[flag]) for flag in ("tasks", "methods")}
    with Progress(options.quiet) as progress:
        for page in run_experiments(**settings, progress=progress):
            put(page + "\n")


def name_list(text: str | None) -> list[str]:
    """`sst2, mr` -> [sst2, mr]"""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
