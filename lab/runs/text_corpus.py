"""Sentences for lab/runs/shipped_target.py: one a line, each once, of 2 to 40 words.

    python lab/runs/text_corpus.py DATA DEBIAN > corpus.txt

DATA is the folder of the evaluation data (its corpora/: news, web text, film reviews, books, speeches of NLTK's data).
DEBIAN is a folder with what lab/runs/shipped.sh downloads: the unpacked packages wordnet-base (definitions, examples,
synonyms), dict-foldoc and fortunes, and Translation-en.xz, the descriptions of Debian's packages. No set that anything
is evaluated on is among them.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import re
from collections.abc import Iterator
from pathlib import Path

END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?[A-Z0-9])")
WORDS, LONGEST = range(2, 41), 300
LINES = ("abc", "webtext", "movie_reviews")  # a line is a paragraph, or a sentence
BOOKS = ("gutenberg", "inaugural", "state_union")


def sentences(text: str) -> Iterator[str]:
    """Of paragraphs with an empty line between them."""
    for paragraph in re.split(r"\n\s*\n", text):
        yield from END.split(" ".join(paragraph.split()))


def nltk(folder: Path) -> Iterator[str]:
    """NLTK's corpora, as plain text."""
    for name in LINES:
        for line in (folder / f"nltk_{name}.txt").read_text("utf-8", "replace").splitlines():
            yield from END.split(line.replace(" ,", ",").replace(" .", "."))
    for name in BOOKS:
        yield from sentences((folder / f"nltk_{name}.txt").read_text("utf-8", "replace"))


def wordnet(folder: Path) -> Iterator[str]:
    """Of each synset: its definition, alone and behind its first word; its examples; its words."""
    for file in sorted(folder.glob("data.*")):
        for line in file.read_text("utf-8", "replace").splitlines():
            if line.startswith(" ") or "|" not in line:
                continue
            head, gloss = line.split("|", 1)
            fields = head.split()
            words = [re.sub(r"\(.*\)", "", fields[4 + 2 * number]) for number in range(int(fields[3], 16))]
            words = [word.replace("_", " ") for word in words]
            parts = [part.strip() for part in gloss.split(";")]
            definition = "; ".join(part for part in parts if not part.startswith('"'))
            yield definition
            yield f"{words[0]}: {definition}"
            yield from (part.strip('"') for part in parts if part.startswith('"'))
            yield ", ".join(words)


def descriptions(file: Path) -> Iterator[str]:
    """Of Debian's packages: the line that says what each is, and what follows."""
    with lzma.open(file, "rt", encoding="utf-8") as text:
        entries = text.read().split("\n\n")
    for entry in entries:
        if "Description-en: " in entry:
            first, _, rest = entry.split("Description-en: ", 1)[1].partition("\n")
            yield first
            for paragraph in re.split(r"\n \.\n", rest):
                yield from END.split(" ".join(line.strip() for line in paragraph.split("\n") if line[:2] != "  "))


def others(folder: Path) -> Iterator[str]:
    """Fortunes, and the computing dictionary FOLDOC."""
    for file in sorted((folder / "games" / "fortunes").iterdir()):
        if file.suffix not in (".dat", ".u8"):
            for fortune in file.read_text("utf-8", "replace").split("\n%\n"):
                yield from sentences(fortune)
    with gzip.open(folder / "dictd" / "foldoc.dict.dz", "rt", encoding="utf-8", errors="replace") as file:
        yield from sentences(re.sub(r"[{}]", "", file.read()))


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("debian", type=Path)
    given = parser.parse_args()
    share, seen = given.debian / "usr" / "share", set()
    sources = nltk(given.data / "corpora"), wordnet(share / "wordnet"), descriptions(given.debian / "Translation-en.xz")
    for source in (*sources, others(share)):
        for found in source:
            text = " ".join(found.split())
            letters = sum(map(str.isalpha, text))
            if (
                len(text.split()) in WORDS
                and len(text) < LONGEST
                and letters > 0.6 * len(text)
                and text.lower() not in seen
            ):
                seen.add(text.lower())
                print(text)


if __name__ == "__main__":
    main()
