"""`lovevec context`: a model that looks at the sentence."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from lovevec.cli.lexicon import refuse_model, size_of
from lovevec.cli.shell import MODEL_HELP, as_path, describe, refuse_terminal
from lovevec.cli.terminal import say
from lovevec.errors import LovevecError, MissingExtra

ABOUT = """Teaches a model what sentences say of words, from any running text: `encode`, `tokens` and `correct` then let
the sentence decide between the words that a misspelling may stand for. The shipped model has learned it already; use
this for a model of your own, or for text of another kind. Needs the extra train."""
EXAMPLES = """\
A text is a paragraph: a line of a file or of standard input, or a field of a column of a .csv, .tsv, .jsonl or
.parquet. A million words are a beginning, ten are better; each step takes about 0.15 seconds on two cores.

examples:
  lovevec context corpus.txt -m my-model -o my-model-in-context
  lovevec context reviews.csv --column text -o model --steps 4000"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add = parser.add_argument
    add("texts", nargs="?", metavar="FILE", help="running text (default: standard input)")
    add("--column", metavar="NAME", help="where the texts of a table stand")
    add("-o", "--output", metavar="FOLDER", required=True, help="the new model folder")
    add("-m", "--model", help=MODEL_HELP)
    add("--steps", type=int, default=7000, metavar="N", help="of training (default: %(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="of everything that is drawn (default: %(default)s)")
    add("--device", default="auto", help="cpu, cuda, mps, or auto (default)")
    add("--overwrite", action="store_true", help="replace the model that is there")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.progress import Progress
    from lovevec.texts.read import open_texts

    if options.texts is None:
        refuse_terminal("some texts")
    if options.steps < 1:
        raise LovevecError(f"--steps is {options.steps}: must be at least 1, a whole number")
    output = Path(options.output)
    refuse_model(output, options.overwrite)
    try:
        from lovevec.train.context import ContextSettings, train_context
    except ImportError:
        raise MissingExtra("torch", "train") from None
    settings = ContextSettings(steps=options.steps, seed=options.seed, device=options.device)
    love = LOVE.load(options.model)
    with open_texts(as_path(options.texts), options.column) as stream, Progress(options.quiet) as progress:
        lines: Iterator[str] = chain.from_iterable(stream.batches)
        context, report = train_context(love, lines, settings, progress)
    metadata = {**love.parts.metadata, "context": report}
    love.copy(parts=replace(love.parts, context=context, metadata=metadata)).save(output)
    right = report["held_back"]
    notes = [f"{report['words']:,} words of text; {output}: {size_of(output)}"]
    if right:
        notes.append(f"misspellings read right: {right['alone']} % alone, {right['in_sentence']} % in their sentences")
    say(options.quiet, notes)
