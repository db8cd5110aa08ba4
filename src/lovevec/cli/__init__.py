"""The command line. A command's module is imported only when that command is called, so that --help is instant."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from lovevec import __version__
from lovevec.shell import run_command

COMMANDS = {
    "train": "learn a model from word vectors",
    "prepare": "do the CPU-heavy part of training once, for many runs",
    "neighbors": "the known words nearest to any word, by a model",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `lovevec …`; returns the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser("lovevec", description="A good vector for any word.")
    parser.add_argument("--version", action="version", version=f"lovevec {__version__}")
    chosen = parser.add_subparsers(dest="command", metavar="command", required=True, title="commands")
    for name, help in COMMANDS.items():
        command = chosen.add_parser(name, help=help)
        if name in arguments[:1]:
            import_module(f"lovevec.cli.{name}").add_arguments(command)
    given = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # arguments that are not UTF-8 go out as they came in
    run = import_module(f"lovevec.cli.{given.command}").run
    return run_command(lambda: run(given))
