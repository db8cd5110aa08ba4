"""`lovevec similar`: the cosine of pairs of words."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from math import isnan
from typing import TYPE_CHECKING

from lovevec.cli.shell import MODEL_HELP, as_path, describe, refuse_terminal
from lovevec.cli.terminal import harmless, put
from lovevec.errors import FormatError, LovevecError

if TYPE_CHECKING:
    from lovevec.love import LOVE

ABOUT = """How near two words are: the cosine of their vectors. One line a pair, tab-separated: the two words, the
cosine, and for each of them known, near (probably a known word, misspelled), new, or empty (then the cosine is nan)."""
EXAMPLES = """examples:
  lovevec similar colour color
  lovevec similar oxgen oxygen archiitect architect
  lovevec similar -i pairs.tsv > scores.tsv
  lovevec similar --json < pairs.tsv > scores.jsonl"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add = parser.add_argument
    parser.usage = "%(prog)s [options] [word word ...]"
    add("words", nargs="*", metavar="word", help="one pair or more; without them: -i, or standard input")
    add("-m", "--model", help=MODEL_HELP)
    add("--json", action="store_true", help="one JSON object a line instead; null for nan")
    add("-i", "--input", metavar="FILE", help="two words a line, a tab between (- for standard input)")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE

    if options.words and options.input:
        raise LovevecError("words on the command line and -i: name one of the two")
    if len(options.words) % 2:
        raise LovevecError(f"words come in pairs: {len(options.words)} is an odd number")
    if not options.words and options.input is None:
        refuse_terminal("two")
    with ExitStack() as stack:
        pairs = batches_of_pairs(options, stack)
        love = LOVE.load(options.model)
        for left, right in pairs:
            put("".join(f"{line}\n" for line in lines(love, left, right, options.json)))


def lines(love: LOVE, left: Sequence[str], right: Sequence[str], as_json: bool) -> Iterator[str]:
    """The answer for each pair of words."""
    one, other = love.lookup(left), love.lookup(right)
    readings = zip(one.readings, other.readings, strict=True)
    pairs = zip(left, right, strict=True)
    for words, cosine, pair in zip(pairs, one.similar(other).tolist(), readings, strict=True):
        if as_json:
            number = None if isnan(cosine) else round(cosine, 6)
            yield json.dumps({"words": words, "cosine": number, "readings": pair})
        else:
            yield "\t".join([*map(harmless, words), f"{cosine:.4f}", *pair])


def batches_of_pairs(options: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[list[str], list[str]]]:
    """(left words, right words), from the command line or the stream; a bad file is told before the model is read."""
    if options.words:
        return iter([(options.words[::2], options.words[1::2])])
    from lovevec.vectors.read.words import WordStream, open_words

    stream = stack.enter_context(open_words(as_path(options.input)))

    def split(stream: WordStream) -> Iterator[tuple[list[str], list[str]]]:
        line = 0
        for rows in stream.batches():
            pairs = [row.split("\t") for row in rows]
            for pair in pairs:
                line += 1
                if len(pair) != 2:
                    raise FormatError(stream.name, f"two words with a tab between expected, found {len(pair)}", line)
            yield [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    return split(stream)
