"""`lovevec with-words`: a model that knows words of your own."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from lovevec.cli.lexicon import refuse_model, size_of
from lovevec.cli.shell import MODEL_HELP, as_path, describe, refuse_terminal
from lovevec.cli.terminal import say
from lovevec.errors import FormatError

ABOUT = """A model that knows the words of your names, titles or texts: from now on what is misspelled from them is read
as them. What the model knew already stays as it was, and counts as much."""
EXAMPLES = """\
The texts are lines of a file or of standard input, or a column of a .csv, .tsv, .jsonl or .parquet. Weights are
lines of word, tab, number: how much a word counts in a text (the rare ones of a model about 1, `the` near 0).

examples:
  lovevec with-words names.txt -o my-model
  lovevec with-words customers.csv --column name --fit -o my-model
  lovevec near -m my-model vestergard"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add = parser.add_argument
    add("texts", nargs="?", metavar="FILE", help="names, titles or texts (default: standard input)")
    add("--column", metavar="NAME", help="where the texts of a table stand")
    add("--fit", action="store_true", help="words that many of these texts have count less from now on (idf)")
    add("--weights", metavar="FILE", help="how much words count, where you know better")
    add("-o", "--output", metavar="FOLDER", required=True, help="the new model folder")
    add("-m", "--model", help=MODEL_HELP)
    add("--overwrite", action="store_true", help="replace the model that is there")
    add("-q", "--quiet", action="store_true", help="no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.texts.read import open_texts

    if options.texts is None:
        refuse_terminal("some texts")
    output = Path(options.output)
    refuse_model(output, options.overwrite)
    weights = read_weights(Path(options.weights)) if options.weights else None
    with open_texts(as_path(options.texts), options.column) as stream:
        texts = list(chain.from_iterable(stream.batches))
    love = LOVE.load(options.model)
    more = love.with_words(texts, weights)
    if options.fit:
        more = more.fitted(texts)
    more.save(output)
    known = len(more) - len(love)
    fitted = "; the weights of these texts" if options.fit else ""
    say(options.quiet, [f"{len(more):,} known words, {known:,} of them new{fitted}; {output}: {size_of(output)}"])


def read_weights(path: Path) -> dict[str, float]:
    """The weights of words out of a file, word, tab, number in each line."""
    from lovevec.files.lines import filled_lines

    weights = {}
    for number, line in filled_lines(path):
        word, tab, value = line.rpartition("\t")
        try:
            weights[word.strip()] = float(value if tab else "")
        except ValueError:
            raise FormatError(path, f"must be word, tab, number: {line!r:.60}", number) from None
    return weights
