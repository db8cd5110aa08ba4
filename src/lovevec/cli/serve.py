"""`lovevec serve`: vectors over HTTP, and a page for people."""

from __future__ import annotations

import argparse

from lovevec.cli.shell import MODEL_HELP, describe

ABOUT = """x"""
EXAMPLES = """examples:
  lovevec serve"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("-m", "--model", action="append", default=[], metavar="[NAME=]MODEL", help=MODEL_HELP)
    parser.add_argument("--vectors", action="append", default=[], metavar="[NAME=]FILE")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)


def run(given: argparse.Namespace) -> None:
    """Serve until told to stop."""
    from lovevec.serve.processes import ServerSettings, serve

    serve(ServerSettings(models=given.model, tables=given.vectors, host=given.host, port=given.port))
