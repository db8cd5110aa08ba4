"""The command line. A command's module is imported only when that command is called, so that --help is instant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from lovevec import __version__
from lovevec.cli.shell import run_command
from lovevec.cli.terminal import decode_argument
from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

COMMANDS = {
    "embed": "vectors for words: any strings, any number of them",
    "encode": "vectors for whole texts, typos and all",
    "correct": "texts with their misspellings put right; a column of a table too",
    "match": "which records of two tables are the same thing",
    "dedupe": "which records of a table are the same thing",
    "bulk": "vectors for tables of any size, on all cores or a Ray cluster",
    "near": "how strings are read: known words, misspellings, parts, numbers, new words",
    "index": "an index of texts or of a table's columns, to search in",
    "search": "find texts in an index, typos and all",
    "neighbors": "the known words nearest to any word, by a model",
    "similar": "how near two words are",
    "explain": "what a word's vector is made of",
    "fill": "your own vectors, plus rows for the words they lack",
    "convert": "a file of word vectors in another format, or as float16",
    "with-words": "a model that knows words of your own: names, titles, terms",
    "lexicon": "a model that takes fewer names and terms for misspellings",
    "context": "a model that looks at the sentence, learned from running text",
    "learn": "a model that knows the words that arrive in texts",
    "info": "what a model is: size, target, scores",
    "serve": "vectors over HTTP, as OpenAI's clients ask for them; and a page",
    "ui": "the same, opened in your browser",
    "export": "make a trained model small, to ship it",
    "train": "learn a model from word vectors",
    "prepare": "do the CPU-heavy part of training once, for many runs",
    "distill": "word vectors out of a BERT-like model, to learn from",
    "completion": "complete commands, options and files in bash, zsh or fish",
}
# What the package lovevec-lab brings, by the entry-point group below: shown also where it is not installed.
LAB = {
    "evaluate": "how good vectors are, and how robust, beside their rivals (lovevec-lab)",
    "reproduce": "the paper's tables and figures (lovevec-lab)",
}
FILES = ("output", "onnx", "web", "input", "model")  # options that name one
GROUP = "lovevec.commands"
EXAMPLES = """examples:
  lovevec embed < words.txt > vectors.vec
  lovevec encode -i queries.txt -o queries.npy
  lovevec correct -i notes.csv --column note -o corrected.csv
  lovevec match customers.csv leads.csv --column company -o matched.csv
  lovevec dedupe customers.csv --column company -o grouped.csv
  lovevec bulk words/ -o vectors --column word
  lovevec near recieve bl00d
  lovevec index products.csv --column title -o shop
  lovevec search shop wireles hedphones
  lovevec neighbors mispelling
  lovevec similar colour color
  lovevec explain bec0me --plot bec0me.png
  lovevec fill my.vec --words corpus.txt -o filled.vec
  lovevec convert crawl.vec crawl.safetensors --dtype float16
  lovevec with-words names.txt -o my-model
  lovevec lexicon terms.txt -o my-model
  lovevec context corpus.txt -o my-model
  lovevec learn news.txt -o my-model
  lovevec info
  lovevec serve
  lovevec export my-model -o my-small-model
  lovevec evaluate similarity my-model glove.txt
  lovevec reproduce intrinsic --target glove.txt
  lovevec train glove.txt -o my-model
  lovevec prepare glove.txt -o prepared
  lovevec distill bert-base-uncased --corpus text.txt -o distilled.npz
  source <(lovevec completion bash)

`lovevec COMMAND --help` says more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `lovevec …`; returns the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    return run_command(lambda: _run(arguments))


def command_module(name: str) -> ModuleType:
    """The module of a command: `add_arguments(parser)` describes it, `run(options)` does it. Ours are modules of this
    package, those of other packages are found by the entry-point group `lovevec.commands`."""
    if name in COMMANDS:
        return import_module(f"lovevec.cli.{name.replace('-', '_')}")
    for entry in _entry_points():
        if entry.name == name:
            return import_module(entry.value)
    raise LovevecError(f"{name} is a command of another package: pip install lovevec-lab")


def commands_of_others() -> dict[str, str]:
    """The commands that other packages bring, with a line about each. Costs a look at all installed packages."""
    others = {entry.name: f"from the package {entry.dist.name}" for entry in _entry_points() if entry.dist}
    return others | LAB


def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points  # here, because most commands do without

    return entry_points(group=GROUP)


def _meant(typed: str, names: Iterable[str]) -> str:
    """`; did you mean near?`: those of the names that are nearly what was typed, if any."""
    from difflib import get_close_matches  # here, because most calls do without

    alike = get_close_matches(typed, names, n=2, cutoff=0.7)
    return f"; did you mean {' or '.join(alike)}?" if alike else ""


def _run(arguments: Sequence[str]) -> int | None:
    name = arguments[0] if arguments else None
    parser = argparse.ArgumentParser(
        "lovevec",
        description="A good vector for any word: rare, new, misspelled or damaged.",
        epilog=EXAMPLES,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=16),
    )
    parser.add_argument("--version", action="version", version=f"lovevec {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True, title="commands")
    listed = COMMANDS if name in COMMANDS else COMMANDS | commands_of_others()
    if name is not None and not name.startswith("-") and name not in listed:
        parser.error(f"there is no command {name!r}{_meant(name, listed) or '; lovevec --help lists all'}")
    subparsers = {command: commands.add_parser(command, help=about) for command, about in listed.items()}
    if name in subparsers:
        command_module(name).add_arguments(subparsers[name])
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        own = subparsers[options.command]
        meant = _meant(unknown[0].partition("=")[0], own._option_string_actions)
        own.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
    for file in FILES:
        if getattr(options, file, None) == "":  # it would be the working directory
            raise LovevecError(f"--{file} is empty: name a file or a folder")
    for positional in ("words", "texts", "query"):  # names of files stay as the system has them
        if isinstance(strings := getattr(options, positional, None), list):
            setattr(options, positional, [decode_argument(word) for word in strings])
    code: int | None = command_module(options.command).run(options)
    return code
