"""`lovevec similar`: the cosine of pairs of words."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import ExitStack
from math import isnan

from lovevec.cli.shell import MODEL_HELP, as_path, describe, one_field, put, refuse_terminal
from lovevec.errors import FormatError, LovevecError

ABOUT = """How near two words are: the cosine of their vectors. One line a pair, tab-separated: the two words, the
cosine, and for each of them known, near (probably a known word, misspelled), new, or empty (then the cosine is nan)."""
EXAMPLES = """examples:
  lovevec similar colour color
  lovevec similar oxgen oxygen archiitect architect
  lovevec similar -i pairs.tsv > scores.tsv
  lovevec similar --json < pairs.tsv > scores.jsonl"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    parser.usage = "%(prog)s [options] [word word ...]"
    parser.add_argument(
        "words", nargs="*", metavar="word", help="one pair or more; without them: -i, or standard input"
    )
    parser.add_argument("-m", "--model", help=MODEL_HELP)
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead; null for nan")
    parser.add_argument("-i", "--input", metavar="FILE", help="two words a line, a tab between (- for standard input)")


def run(given: argparse.Namespace) -> None:
    """Print one line a pair."""
    from lovevec.love import LOVE

    if given.words and given.input:
        raise LovevecError("words on the command line and -i: name one of the two")
    if len(given.words) % 2:
        raise LovevecError(f"words come in pairs: {len(given.words)} is an odd number")
    if not given.words and given.input is None:
        refuse_terminal("two")
    with ExitStack() as stack:
        pairs = batches_of_pairs(given, stack)
        love = LOVE.load(given.model)
        for left, right in pairs:
            words, readings = zip(left, right, strict=True), zip(love.readings(left), love.readings(right), strict=True)
            rows = zip(words, love.similar(left, right).tolist(), readings, strict=True)
            put("".join(line_of(*row, given.json) + "\n" for row in rows))


def line_of(words: tuple[str, str], cosine: float, readings: tuple[str, str], as_json: bool) -> str:
    """A pair and its cosine, for people or for programs."""
    if as_json:
        number = None if isnan(cosine) else round(cosine, 6)
        return json.dumps({"words": words, "cosine": number, "readings": readings})
    return "\t".join([*map(one_field, words), f"{cosine:.4f}", *readings])


def batches_of_pairs(given: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[list[str], list[str]]]:
    """(left words, right words), from the command line or the stream; a bad file is told before the model is read."""
    if given.words:
        return iter([(given.words[::2], given.words[1::2])])
    from lovevec.vectors.read.words import WordStream, open_words

    stream = stack.enter_context(open_words(as_path(given.input)))

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
