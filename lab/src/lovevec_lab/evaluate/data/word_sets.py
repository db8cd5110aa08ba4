"""Sets of words, as plain files.

pairs          word1, word2, the likeness that people gave them; tabs between
classes        a word, the class that it belongs to; a tab between
misspellings   real ones with the words that they stand for (files/misspellings.py)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.files.lines import filled_lines
from lovevec.files.misspellings import read_misspellings
from lovevec_lab.evaluate.datasets import digest_of, find_or_own

OWN_COLUMNS = (0, 1, 2)


@dataclass(frozen=True)
class Classes:
    """`classes[i]` is the class of `words[i]`. `digest` names the file's content."""

    name: str
    words: list[str]
    classes: list[str]
    digest: str = ""


def word_classes(name_or_path: str, data: Path | None = None) -> Classes:
    """AP, BLESS, or an own file."""
    listed, (path,) = find_or_own(name_or_path, "clusters", data)
    words, classes = [], []
    for number, line in filled_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise FormatError(path, f"a word and its class with a tab between expected, not {line[:60]!r}", number)
        words.append(cells[0])
        classes.append(cells[1])
    if len(set(classes)) < 2:
        raise FormatError(path, "all words are of one class; nothing to tell apart")
    return Classes(listed.name if listed else path.stem, words, classes, digest_of([path]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """`gold` [pairs]: the higher, the more alike. `digest` names the file's content."""

    name: str
    left: list[str]
    right: list[str]
    gold: NDArray[np.float64]
    digest: str = ""


def similarity_set(name_or_path: str, data: Path | None = None) -> Pairs:
    """One of the paper's sets, or an own file; further columns are not looked at."""
    listed, (path,) = find_or_own(name_or_path, "similarity", data)
    columns = listed.columns if listed else OWN_COLUMNS
    rows = ((number, line.split("\t")) for number, line in filled_lines(path))
    return scored_pairs(listed.name if listed else path.stem, path, rows, columns)


def scored_pairs(
    name: str,
    path: Path,
    rows: Iterable[tuple[int, list[str]]],
    columns: tuple[int, int, int] = OWN_COLUMNS,
    item: str = "word",
    between: str = "tabs",
) -> Pairs:
    """Pairs of words (or of what an `item` is) out of numbered lines, which are parted into cells already."""
    left, right, gold = [], [], []
    for number, cells in rows:
        if len(cells) <= max(columns):
            expected = f"{item}1, {item}2, score with {between} between expected"
            raise FormatError(path, f"{expected}, found {len(cells)} columns", number)
        one, other, score = _row(path, number, cells, columns, item)
        left.append(one)
        right.append(other)
        gold.append(score)
    if len(gold) < 3:
        raise FormatError(path, f"has {len(gold)} pairs; a correlation needs at least 3")
    if len(set(gold)) == 1:
        raise FormatError(path, "all pairs have one score; nothing to put in order")
    return Pairs(name, left, right, np.array(gold), digest_of([path]))


def _row(path: Path, number: int, cells: list[str], columns: tuple[int, int, int], item: str) -> tuple[str, str, float]:
    left, right, score = (cells[column].strip() for column in columns)
    if not left or not right:
        raise FormatError(path, f"a {item} is missing", number)
    try:
        gold = float(score)
    except ValueError:
        gold = math.nan
    if not math.isfinite(gold):
        raise FormatError(path, f"the score must be a number, not {score[:40]!r} (and no header line)", number)
    return left, right, gold


@dataclass(frozen=True)
class Misspellings:
    """`wrong[i]` is a misspelling of `right[i]`. `digest` names the file's content."""

    name: str
    right: list[str]
    wrong: list[str]
    digest: str = ""


def misspellings(name_or_path: str, data: Path | None = None) -> Misspellings:
    """Birkbeck, aspell, Holbrook, or an own file."""
    listed, (path,) = find_or_own(name_or_path, "misspellings", data)
    right, wrong = (list(side) for side in zip(*read_misspellings(path), strict=True))
    return Misspellings(listed.name if listed else path.stem, right, wrong, digest_of([path]))
