"""`lovevec serve`: vectors over HTTP, and a page for people."""

from __future__ import annotations

import argparse
import os

from lovevec.cli.shell import describe
from lovevec.cli.terminal import put

ABOUT = """Vectors over HTTP: POST /v1/embeddings as OpenAI's clients ask for them; /v1/near, /v1/neighbors,
/v1/explain, /v1/similar, /v1/tokens, /v1/correct; with --index /v1/search; /docs says more. A page for people at /.
Needs the extra `serve`.

Listens on this machine only, unless --host says otherwise. If LOVEVEC_API_KEY is set, clients have to show that key.
SIGTERM or Ctrl-C: what runs is answered, then the server ends. The log is on stderr (--log json: an object a line)."""
EXAMPLES = """examples:
  lovevec serve
  lovevec serve --model default --model mine=my-model --vectors my.vec
  lovevec serve --index shop                                # a folder that `lovevec index` made
  LOVEVEC_API_KEY=$(openssl rand -hex 16) lovevec serve --host 0.0.0.0 --workers 4
  curl -s localhost:8765/v1/near -H 'Content-Type: application/json' -d '{"input": "recieve"}'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add = parser.add_argument
    add_model_arguments(parser)
    add("--host", default="127.0.0.1", help="the address to listen at (default 127.0.0.1)")
    add("--port", type=int, default=8765, help="its port (default 8765; 0: any free one)")
    add("--workers", type=int, default=1, metavar="N", help="processes, which share memory (default 1)")
    add("--cors", action="append", default=[], metavar="ORIGIN", help="pages from there may ask too; repeat for more")
    add("-q", "--quiet", action="store_true", help="log warnings and errors only; with --port 0 the address is printed")
    add("--log", choices=("text", "json"), default="text", help="lines for people, or for programs (default text)")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--max-body", type=int, metavar="BYTES", help="of a request (default 4 MB)")
    limits.add_argument("--max-inputs", type=int, metavar="N", help="strings of a request (default 2048)")
    limits.add_argument("--max-words", type=int, metavar="N", help="of a request's texts (default 65536)")
    limits.add_argument("--max-length", type=int, metavar="N", help="characters of a word (default 1024)")
    limits.add_argument("--max-waiting", type=int, metavar="N", help="words that wait (default 131072)")
    limits.add_argument(
        "--max-room", type=int, metavar="BYTES", help="of requests and answers under way together (default 256 MB)"
    )


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which models and tables."""
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="[NAME=]MODEL",
        help="a model folder, a shipped or installed model's name, or a hub id, and what clients call it; repeat for"
        " more, the first is the default (default: the shipped model, English)",
    )
    parser.add_argument(
        "--vectors",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="a vector file, attached to the first model; repeat for more",
    )
    parser.add_argument(
        "--index",
        action="append",
        default=[],
        metavar="[NAME=]FOLDER",
        help="an index to search in, made by `lovevec index`; repeat for more, the first is the default",
    )


def run(options: argparse.Namespace) -> None:
    from lovevec.serve.batches import Limits
    from lovevec.serve.processes import KEY, ServerSettings, serve

    names = ("body", "inputs", "words", "length", "waiting", "room")
    limits = {name: value for name in names if (value := getattr(options, f"max_{name}")) is not None}
    serve(
        ServerSettings(
            models=options.model,
            tables=options.vectors,
            indexes=options.index,
            host=options.host,
            port=options.port,
            workers=options.workers,
            origins=options.cors,
            limits=Limits(**limits),
            key=os.environ.get(KEY),
            quiet=options.quiet,
            log=options.log,
            on_start=_tell if options.quiet and options.port == 0 else None,
        )
    )


def _tell(address: str) -> None:
    """Nobody else says which port the system chose."""
    put(f"{address}\n")
