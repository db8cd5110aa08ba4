"""`lovevec near`: how strings are read."""

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
    from lovevec.word_vectors import Lookup

ABOUT = """How strings are read, one line a string, tab-separated: the string (a tab inside it as \\t); its reading; the
words; the probability that it is a new word. The readings:
  known  a word of the model, or a form of one
  near   probably a known word, misspelled: the words that it may stand for, with their probabilities
  parts  several words, or a number with its unit: the parts, with + between them, as each is read
  new    a word that the model does not know, a name, a number or code
  empty  nothing"""
EXAMPLES = """examples:
  lovevec near recieve tommorow bl00d
  lovevec near neural-netwrok alot '#blacklivesmatter' 500mg
  lovevec near --json < words.txt > near.jsonl
  lovevec near < words.txt | awk -F'\\t' '$2 == "near"'        # the misspellings of a list"""
LEAST = 0.005  # probability of a word that is shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add_word_arguments(parser, "words of each")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead, with more in it")


def run(options: argparse.Namespace) -> None:
    if options.k < 1:
        raise LovevecError(f"{Parameter('k')} is {options.k}: must be at least 1, a whole number")
    print_lines(options, lambda love, words: lines(love, words, options.k, options.json))


def lines(love: LOVE, words: Sequence[str], k: int, as_json: bool) -> Iterator[str]:
    """The answer for each of the words."""
    lookup = love.lookup(words)
    return _as_json(lookup, k) if as_json else _for_people(lookup, k)


def _as_json(lookup: Lookup, k: int) -> Iterator[str]:
    from lovevec.explain import part_facts

    read = zip(lookup.words, lookup.readings, lookup.kinds, strict=True)
    for (word, reading, kind), near, new, parts in zip(
        read, lookup.near(k), lookup.new.tolist(), lookup.parts, strict=True
    ):
        candidates = [{"word": name, "probability": round(probability, 6)} for name, probability in near]
        facts = {"word": word, "reading": reading, "kind": kind, "near": candidates, "new": round(new, 6)}
        yield json.dumps(facts | {"parts": [part_facts(part) for part in parts]})


def _for_people(lookup: Lookup, k: int) -> Iterator[str]:
    from lovevec.explain import part_shown

    for word, reading, near, new, parts in zip(
        lookup.words, lookup.readings, lookup.near(k), lookup.new.tolist(), lookup.parts, strict=True
    ):
        likely = [f"{harmless(name)} {probability:.2f}" for name, probability in near if probability >= LEAST]
        shown = " + ".join(map(part_shown, parts)) or ", ".join(likely)
        yield f"{harmless(word)}\t{reading}\t{shown}\t{new:.2f}"
