"""`lovevec explain`: what a word's vector is made of."""

from __future__ import annotations

import argparse
import json

from lovevec.cli.neighbors import add_word_arguments, word_batches
from lovevec.cli.shell import describe
from lovevec.cli.terminal import put
from lovevec.errors import LovevecError

ABOUT = """What a word's vector is made of: its units, with the weight of each in the sum and its share of the final
vector; its reading (known; near, with the words that it may stand for; new); the probability that the vector is right;
the nearest known words."""
EXAMPLES = """examples:
  lovevec explain bec0me
  lovevec explain bec0me --plot bec0me.png
  lovevec explain --json < words.txt > explained.jsonl"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add_word_arguments(parser, "neighbors, and words that it may stand for")
    parser.add_argument("--plot", metavar="FILE", help="also draw the word's attention maps (.png, .svg, .pdf)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead, attention maps included")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE

    count = len(" ".join(options.words).split() if options.split else options.words)
    if options.plot and count != 1:
        raise LovevecError(f"--plot draws one word; {count or 'none'} on the command line")
    batches = word_batches(options.words, options.split)
    love = LOVE.load(options.model)
    between = ""
    for words in batches:
        for word in words:
            found = love.explain(word, options.k)
            if options.plot:
                found.plot(options.plot)
            if options.json:
                put(json.dumps(found.as_dict()) + "\n")
            else:
                put(f"{between}{found}\n")
                between = "\n"
