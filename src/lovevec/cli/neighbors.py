"""`lovevec neighbors`: what a model makes of any word, in words."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from lovevec.cli.shell import MODEL_HELP, describe, one_field, put, refuse_terminal

ABOUT = """The known words whose vectors are nearest to those of the given words, with their cosine. One line a word,
tab-separated: the word (a tab inside it as \\t); known, near (probably a known word, misspelled), new or empty; its
neighbors. The word itself does not count."""
EXAMPLES = """examples:
  lovevec neighbors mispelling leukamia
  lovevec neighbors -k 10 --json < words.txt > neighbors.jsonl
  lovevec neighbors -m my-model mispelling"""
BATCH = 256  # words compared together: enough to be fast, and the first lines come soon


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    add_word_arguments(parser, "neighbors")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead")


def add_word_arguments(parser: argparse.ArgumentParser, counted: str) -> None:
    """Which words, by which model, with how many of what is `counted`."""
    parser.add_argument("words", nargs="*", metavar="word", help="any strings; without them: one a line from stdin")
    parser.add_argument("-m", "--model", help=MODEL_HELP)
    parser.add_argument("-k", type=int, default=5, help=f"how many {counted} (default 5)")


def run(given: argparse.Namespace) -> None:
    """Print one line a word."""
    from lovevec.love import LOVE

    batches = given_words(given.words)
    love = LOVE.load(given.model)
    for words in batches:
        for word, reading, near in zip(words, love.readings(words), love.neighbors(words, given.k), strict=True):
            put(line_of(word, reading, near, given.json) + "\n")


def line_of(word: str, reading: str, near: list[tuple[str, float]], as_json: bool) -> str:
    """A word and its neighbors, for people or for programs."""
    if as_json:
        listed = [{"word": name, "cosine": round(cosine, 6)} for name, cosine in near]
        known, empty = reading == "known", reading == "empty"
        return json.dumps({"word": word, "reading": reading, "known": known, "empty": empty, "neighbors": listed})
    return f"{one_field(word)}\t{reading}\t{', '.join(f'{name} {cosine:.2f}' for name, cosine in near)}"


def given_words(words: list[str]) -> Iterator[list[str]]:
    """The words of the command line, or those of stdin as they come, in batches."""
    if words:
        return iter([words])
    refuse_terminal("some")
    return _from_stdin()


def _from_stdin() -> Iterator[list[str]]:
    from lovevec.vectors.read.words import open_words

    with open_words(None) as stream:
        yield from stream.batches(BATCH)
