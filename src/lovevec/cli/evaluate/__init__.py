"""`lovevec evaluate`: how good vectors are, one task a file. What a task needs is imported when it runs."""

from __future__ import annotations

import argparse
from importlib import import_module

from lovevec.cli.shell import describe

ABOUT = """How good are word vectors, and how robust? Models, vector files and rivals, side by side, on the paper's
tasks and on your own files. Tables go to standard output; -o FOLDER keeps them, all scores as JSON, and pictures."""
TASKS = {
    "similarity": "do pairs that people find alike have near vectors? Spearman on six sets",
    "clusters": "do words of a class come together? K-means purity on AP and BLESS",
    "typos": "is the right word near a real misspelling? Birkbeck, aspell, Holbrook, your own lists",
    "classify": "text classification by a CNN on frozen vectors, clean and damaged text",
    "tag": "entity recognition by a BiLSTM-CRF on frozen vectors, clean and damaged text",
    "speed": "words a second",
}
EXAMPLES = """examples:
  lovevec evaluate similarity my-model other.vec --rivals all --target glove.txt
  lovevec evaluate clusters my-model
  lovevec evaluate typos misspellings.txt --methods my-model --target glove.txt
  lovevec evaluate classify sst2 --vectors my.vec --impute my-model --noise 0,10,30,50,70,90
  lovevec evaluate tag conll03 --vectors my.vec --impute my-model
  lovevec evaluate speed my-model my.bin

`lovevec evaluate TASK --help` says more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command and its tasks."""
    describe(parser, ABOUT, EXAMPLES)
    chosen = parser.add_subparsers(dest="task", metavar="task", required=True, title="tasks")
    for name, help in TASKS.items():
        import_module(f"lovevec.cli.evaluate.{name}").add_arguments(chosen.add_parser(name, help=help))


def run(given: argparse.Namespace) -> int | None:
    """Run the task."""
    result: int | None = import_module(f"lovevec.cli.evaluate.{given.task}").run(given)
    return result
