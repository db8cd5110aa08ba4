"""`lovevec ui`: the server's page, in the browser, for one person."""

from __future__ import annotations

import argparse
import os

from lovevec.cli.serve import add_model_arguments
from lovevec.cli.shell import describe
from lovevec.cli.terminal import complain

ABOUT = """The page of `lovevec serve` in your browser: type any word or text and see how it is read, what is near, what
its vector is made of. Runs on this machine alone, until Ctrl-C. Needs the extra `serve`."""
EXAMPLES = """examples:
  lovevec ui
  lovevec ui --model default --model mine=my-model     # two models side by side
  lovevec ui --index shop                              # and the page searches in an index
  lovevec ui --no-browser --port 9000"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add_model_arguments(parser)
    parser.add_argument("--port", type=int, default=0, help="of this machine (default: any free one)")
    parser.add_argument("--no-browser", action="store_true", help="only say where it is")


def run(options: argparse.Namespace) -> None:
    from lovevec.serve.processes import KEY, ServerSettings, serve

    def show(address: str) -> None:
        complain(f"the page is at {address} until Ctrl-C")
        if not options.no_browser:
            import webbrowser

            webbrowser.open(address)

    key = os.environ.get(KEY)
    places = {"indexes": options.index, "port": options.port, "key": key}
    serve(ServerSettings(options.model, options.vectors, **places, quiet=True, on_start=show))
