"""`lovevec neighbors`: what a model makes of any word, in words."""

from __future__ import annotations

import argparse
import sys

from lovevec.love import LOVE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = "The known words whose vectors are nearest to those of the given words, with their cosine."
    parser.add_argument("words", nargs="+", help="any strings: misspelled, rare, new")
    parser.add_argument("-m", "--model", required=True, metavar="FOLDER", help="a folder that lovevec train wrote")
    parser.add_argument("-k", type=int, default=5, help="how many neighbours (default 5)")


def run(given: argparse.Namespace) -> None:
    """Print one line a word: the word, `known` or `imputed`, its neighbours; tab-separated."""
    love = LOVE.load(given.model)
    for word in given.words:
        near = ", ".join(f"{name} {cosine:.2f}" for name, cosine in love.neighbors(word, given.k))
        sys.stdout.write(f"{word}\t{'known' if word in love else 'imputed'}\t{near}\n")
