"""`lovevec near`: which known words strings may stand for, and how probably."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lovevec.cli.neighbors import add_word_arguments, print_lines
from lovevec.cli.shell import describe
from lovevec.cli.terminal import harmless
from lovevec.errors import LovevecError, Parameter

if TYPE_CHECKING:
    from lovevec.love import LOVE

ABOUT = """The known words that the given strings may stand for, with their probabilities; the rest up to 1 is the
probability that a string is a new word. One line a string, tab-separated: the string (a tab inside it as \\t); known,
near, new or empty; the words; the probability of new."""
EXAMPLES = """examples:
  lovevec near recieve tommorow bl00d
  lovevec near --json < words.txt > near.jsonl
  lovevec near < words.txt | awk -F'\\t' '$2 == "near"'        # the misspellings of a list"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add_word_arguments(parser, "words of each")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead")


def run(options: argparse.Namespace) -> None:
    if options.k < 1:
        raise LovevecError(f"{Parameter('k')} is {options.k}: must be at least 1, a whole number")
    print_lines(options, lambda love, words: lines(love, words, options.k, options.json))


def lines(love: LOVE, words: Sequence[str], k: int, as_json: bool) -> Iterator[str]:
    """The answer for each of the words."""
    from lovevec.near.readings import WORDS_PER_READING

    lookup = love.lookup(words)
    for word, reading, near in zip(words, lookup.readings, lookup.near(WORDS_PER_READING), strict=True):
        new = max(0.0, 1 - sum(probability for _, probability in near))
        if as_json:
            candidates = [{"word": name, "probability": round(probability, 6)} for name, probability in near[:k]]
            yield json.dumps({"word": word, "reading": reading, "near": candidates, "new": round(new, 6)})
        else:
            shown = [f"{harmless(name)} {probability:.2f}" for name, probability in near[:k] if probability >= 0.005]
            yield f"{harmless(word)}\t{reading}\t{', '.join(shown)}\t{new:.2f}"
