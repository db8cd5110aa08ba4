"""`lovevec learn`: a model that knows the words that arrive in texts."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.cli.lexicon import refuse_model, size_of
from lovevec.cli.shell import MODEL_HELP, as_path, describe, refuse_terminal
from lovevec.cli.terminal import harmless, put, say
from lovevec.errors import LovevecError, Parameter

if TYPE_CHECKING:
    from lovevec.love import LOVE

ABOUT = """Gives the words that arrive in texts rows of their own, from their spelling and from the sentences that they
come in. New words are found by themselves: strings of letters that are no misspellings, numbers or parts of others.
What the model knew already stays as it was. More texts go on from where the model is: give it with -m, and words that
were learned before get better."""
EXAMPLES = """\
A text is a line of a file or of standard input, or a field of a column of a .csv, .tsv, .jsonl or .parquet. A file may
have any size. The model needs a model of context, which `lovevec context` learns.

examples:
  lovevec learn news.txt -o mine
  lovevec learn tickets.csv --column text --words products.txt --min-count 1 -o mine
  lovevec learn more-news.txt -m mine -o mine --overwrite
  lovevec learn --list -m mine"""
SHOWN = 5  # known words beside a learned one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add = parser.add_argument
    add("texts", nargs="?", metavar="FILE", help="texts (default: standard input)")
    add("--column", metavar="NAME", help="where the texts of a table stand")
    add("--words", metavar="FILE", help="learn these words, one a line, and no others")
    add("--min-count", type=int, metavar="N", help="how often a word has to come (default 5)")
    add("-o", "--output", metavar="FOLDER", help="the new model folder")
    add("-m", "--model", help=MODEL_HELP)
    add("--overwrite", action="store_true", help="replace the model that is there")
    add("--list", action="store_true", help="show what a model has learned: word, count, what its sentences are near")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.files.lines import read_word_list
    from lovevec.learn import MIN_COUNT
    from lovevec.love import LOVE
    from lovevec.progress import Progress
    from lovevec.texts.read import open_texts

    if options.list:
        if options.texts or options.output:
            raise LovevecError("--list shows what a model has learned: it takes no texts and no -o")
        show(LOVE.load(options.model))
        return
    if not options.output:
        raise LovevecError(f"name the folder of the new model with {Parameter('output')}")
    if options.texts is None:
        refuse_terminal("some texts")
    output = Path(options.output)
    refuse_model(output, options.overwrite)
    words = read_word_list(Path(options.words)) if options.words else None
    min_count = MIN_COUNT if options.min_count is None else options.min_count
    love = LOVE.load(options.model)
    with open_texts(as_path(options.texts), options.column) as stream, Progress(options.quiet) as progress:
        more = love.learn(chain.from_iterable(stream.batches), words, min_count, progress=progress)
    more.save(output)
    learned = more.learned
    new = sum(word not in love.learned for word in learned)
    notes = [f"{len(learned):,} words learned, {new:,} of them new; {output}: {size_of(output)}"]
    if learned.counts:
        notes.append("most frequent: " + ", ".join(f"{word} {count}" for word, count in learned.counts[:10]))
    say(options.quiet, notes)


def show(love: LOVE) -> None:
    """A line for each word that was learned: the word, how often it came, known words near to its sentences."""
    learned = love.learned
    for word in learned:
        one = learned[word]
        near = ", ".join(f"{harmless(name)} {cosine:.2f}" for name, cosine in one.sentences[:SHOWN])
        put(f"{harmless(word)}\t{one.count}\t{near}\n")
