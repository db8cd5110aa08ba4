"""`lovevec neighbors`: what a model makes of any word, in words."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lovevec.cli.shell import MODEL_HELP, describe, refuse_terminal
from lovevec.cli.terminal import complain, harmless, put

if TYPE_CHECKING:
    from lovevec.love import LOVE

ABOUT = """The known words whose vectors are nearest to those of the given words, with their cosine. One line a word,
tab-separated: the word (a tab inside it as \\t); known, near (probably a known word, misspelled), new or empty; its
neighbors. The word itself does not count."""
EXAMPLES = """examples:
  lovevec neighbors mispelling leukamia
  lovevec neighbors -k 10 --json < words.txt > neighbors.jsonl
  lovevec neighbors --words < text.txt
  lovevec neighbors -m my-model mispelling"""
WORDS_PER_BATCH = 256  # words compared together: enough to be fast, and the first lines come soon


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add_word_arguments(parser, "neighbors")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead")
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--approximate", action="store_true", default=None, help="by an index that misses few (needs lovevec[ann])"
    )
    way.add_argument("--exact", dest="approximate", action="store_false", help="compare with all known words (default)")


def add_word_arguments(parser: argparse.ArgumentParser, counted: str) -> None:
    """Which words, by which model, with how many of what is `counted`."""
    parser.add_argument("words", nargs="*", metavar="word", help="any strings; without them: one a line from stdin")
    parser.add_argument("--words", dest="split", action="store_true", help="take a line apart at white space: a text")
    parser.add_argument("-m", "--model", help=MODEL_HELP)
    parser.add_argument("-k", type=int, default=5, help=f"how many {counted} (default 5)")


def run(options: argparse.Namespace) -> None:
    print_lines(options, lambda love, words: lines(love, words, options.k, bool(options.approximate), options.json))


def print_lines(options: argparse.Namespace, lines: Callable[[LOVE, list[str]], Iterable[str]]) -> None:
    """Print what `lines` gives for the words of the command line or of stdin."""
    from lovevec.love import LOVE

    batches = word_batches(options.words, options.split)
    love = LOVE.load(options.model)
    for words in batches:
        put("".join(f"{line}\n" for line in lines(love, words)))


def lines(love: LOVE, words: Sequence[str], k: int, approximate: bool, as_json: bool) -> Iterator[str]:
    """The answer for each of the words."""
    lookup = love.lookup(words)
    for word, reading, neighbors in zip(words, lookup.readings, lookup.neighbors(k, approximate), strict=True):
        if as_json:
            nearest = [{"word": name, "cosine": round(cosine, 6)} for name, cosine in neighbors]
            known, empty = reading == "known", reading == "empty"
            yield json.dumps({"word": word, "reading": reading, "known": known, "empty": empty, "neighbors": nearest})
        else:
            names = ", ".join(f"{harmless(name)} {cosine:.2f}" for name, cosine in neighbors)
            yield f"{harmless(word)}\t{reading}\t{names}"


def word_batches(words: list[str], split: bool = False) -> Iterator[list[str]]:
    """The words of the command line, or those of stdin as they come, in batches; `split` takes them apart at white
    space."""
    if words:
        return iter([_split(words) if split else words])
    refuse_terminal("some")
    return _from_stdin(split)


def _from_stdin(split: bool) -> Iterator[list[str]]:
    from lovevec.vectors.read.words import open_words

    warned = False
    with open_words(None) as stream:
        for lines in stream.batches(WORDS_PER_BATCH):
            if split:
                words = _split(lines)
                yield from (words[low : low + WORDS_PER_BATCH] for low in range(0, len(words), WORDS_PER_BATCH))
                continue
            if not warned and (spaced := next((line for line in lines if len(line.split(maxsplit=1)) > 1), None)):
                complain(f"note: a line is one word, white space and all, as {spaced!r:.60}; --words takes it apart")
                warned = True
            yield lines


def _split(lines: list[str]) -> list[str]:
    return [word for line in lines for word in line.split()]
