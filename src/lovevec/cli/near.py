"""`lovevec near`: which known words strings may stand for, and how probably."""

from __future__ import annotations

import argparse
import json

from lovevec.cli.neighbors import add_word_arguments, given_words
from lovevec.cli.shell import describe, one_field, put
from lovevec.errors import LovevecError, Parameter

ABOUT = """The known words that the given strings may stand for, with their probabilities; what is missing to 1 is the
probability that a string is a new word. One line a string, tab-separated: the string (a tab inside it as \\t); known,
near, new or empty; the words; the probability of new."""
EXAMPLES = """examples:
  lovevec near recieve tommorow bl00d
  lovevec near --json < words.txt > near.jsonl
  lovevec near < words.txt | awk -F'\\t' '$2 == "near"'        # the misspellings of a list"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    add_word_arguments(parser, "words of each")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead")


def run(given: argparse.Namespace) -> None:
    """Print one line a string."""
    from lovevec.love import LOVE
    from lovevec.near.readings import WORDS_PER_READING

    if given.k < 1:
        raise LovevecError(f"{Parameter('k')} is {given.k}: must be at least 1, a whole number")
    batches = given_words(given.words, given.split)
    love = LOVE.load(given.model)
    for words in batches:
        for word, reading, near in zip(words, love.readings(words), love.near(words, WORDS_PER_READING), strict=True):
            put(line_of(word, reading, near, given.k, given.json) + "\n")


def line_of(word: str, reading: str, near: list[tuple[str, float]], k: int, as_json: bool) -> str:
    """A string and the first k of what it may stand for, for people or for programs."""
    new = max(0.0, 1 - sum(chance for _, chance in near))
    near = near[:k]
    if as_json:
        listed = [{"word": name, "probability": round(chance, 6)} for name, chance in near]
        return json.dumps({"word": word, "reading": reading, "near": listed, "new": round(new, 6)})
    shown = ", ".join(f"{one_field(name)} {chance:.2f}" for name, chance in near if chance >= 0.005)
    return f"{one_field(word)}\t{reading}\t{shown}\t{new:.2f}"
