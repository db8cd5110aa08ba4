"""Sentences. For downstream tasks, split into train, dev and test:

    texts    a sentence, its label; a tab between. Words are what white space separates
    tagged   one token a line, token first, tag last; a blank line between sentences

Movie Reviews come as two files without a split; they get a fixed one. For vectors of whole texts:

    sentence_pairs   sentence1, sentence2, how alike people find them: .csv, or tabs between
    queries          one text a line, to be found again
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import filled_lines, lines_of
from lovevec_lab.evaluate.data.word_sets import Pairs, scored_pairs
from lovevec_lab.evaluate.datasets import digest_of, find_or_own
from lovevec_lab.evaluate.entities import EXPECTED, OUTSIDE, is_tag

PARTS = ("train", "dev", "test")
DOCUMENT = "-DOCSTART-"
TAGGED_PARTS = (("train",), ("dev", "valid", "devel"), ("test",))
ENDS = (".txt", ".tsv")
SHARES = (0.8, 0.1)  # train, dev; the rest is test


@dataclass(frozen=True)
class Texts:
    """`labels[i]` is the label of `sentences[i]`, a list of words."""

    sentences: list[list[str]]
    labels: list[str]


@dataclass(frozen=True)
class TextSplit:
    """A dataset for text classification. `digest` names the content of its files and the split."""

    name: str
    train: Texts
    dev: Texts
    test: Texts
    digest: str = ""


def texts(name_or_folder: str, data: Path | None = None, seed: int = 0) -> TextSplit:
    """SST2, MR, or an own folder with train.tsv, dev.tsv and test.tsv; `seed` decides the split of MR, nothing else."""
    listed, files = find_or_own(name_or_folder, "texts", data)
    if listed and listed.name == "MR":
        negative, positive = (_plain(file, listed.encoding) for file in files)
        parts = _split({"neg": negative, "pos": positive}, seed)
        return TextSplit("MR", *parts, digest=f"{digest_of(files)}-{seed}")
    files = files if listed else _own_files(files[0])
    train, dev, test = (_labelled(file) for file in files)
    if len(set(train.labels)) < 2:
        raise FormatError(files[0], "all sentences have one label; nothing to tell apart")
    for part, file in ((dev, files[1]), (test, files[2])):
        if unseen := set(part.labels) - set(train.labels):
            raise FormatError(file, f"has labels that {files[0].name} has not: {', '.join(sorted(unseen)):.60}")
    return TextSplit(listed.name if listed else Path(name_or_folder).resolve().name, train, dev, test, digest_of(files))


def _own_files(folder: Path) -> list[Path]:
    files = [folder / f"{part}.tsv" for part in PARTS]
    for file in files:
        if not file.is_file():
            raise LovevecError(f"{folder}: own texts are a folder with train.tsv, dev.tsv and test.tsv; no {file.name}")
    return files


def _labelled(path: Path) -> Texts:
    found = Texts([], [])
    for number, line in filled_lines(path):
        sentence, tab, label = line.rpartition("\t")
        if not (words := sentence.split()) or not (label := label.strip()):
            missing = "the label" if words else "the sentence" if tab else "the tab between sentence and label"
            raise FormatError(path, f"{missing} is missing", number)
        found.sentences.append(words)
        found.labels.append(label)
    return found


def _plain(path: Path, encoding: str) -> list[list[str]]:
    return [line.split() for _, line in filled_lines(path, encoding)]


def _split(by_label: dict[str, list[list[str]]], seed: int) -> tuple[Texts, Texts, Texts]:
    """Each label is shuffled and cut 80/10/10 by itself, then the labels are shuffled into one another."""
    rng = np.random.default_rng([seed, 80, 10, 10])
    parts: tuple[list[tuple[str, list[str]]], ...] = ([], [], [])
    for label, sentences in by_label.items():
        order = rng.permutation(len(sentences))
        first = round(SHARES[0] * len(sentences))
        second = first + round(SHARES[1] * len(sentences))
        for part, rows in zip(parts, np.split(order, [first, second]), strict=True):
            part += [(label, sentences[row]) for row in rows.tolist()]
    train, dev, test = (_shuffled(part, rng) for part in parts)
    return train, dev, test


def _shuffled(part: list[tuple[str, list[str]]], rng: np.random.Generator) -> Texts:
    order = rng.permutation(len(part)).tolist()
    return Texts([part[row][1] for row in order], [part[row][0] for row in order])


@dataclass(frozen=True)
class Tagged:
    """`tags[i][j]` is the tag of the token `sentences[i][j]`."""

    sentences: list[list[str]]
    tags: list[list[str]]


@dataclass(frozen=True)
class TagSplit:
    """A dataset for tagging. `digest` names the content of its files."""

    name: str
    train: Tagged
    dev: Tagged
    test: Tagged
    digest: str = ""


def tagged(name_or_folder: str, data: Path | None = None) -> TagSplit:
    """CoNLL03, BC2GM, or an own folder with train, dev (or valid, devel) and test, each .txt or .tsv."""
    listed, files = find_or_own(name_or_folder, "tagged", data)
    files = files if listed else [_own_file(files[0], names) for names in TAGGED_PARTS]
    train, dev, test = (_read(file) for file in files)
    return TagSplit(listed.name if listed else Path(name_or_folder).resolve().name, train, dev, test, digest_of(files))


def _own_file(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        for end in ENDS:
            if (file := folder / f"{name}{end}").is_file():
                return file
    raise LovevecError(f"{folder}: own tagged text needs a file {' or '.join(names)} there, {' or '.join(ENDS)}")


def _read(path: Path) -> Tagged:
    found, tokens, tags = Tagged([], []), list[str](), list[str]()
    for number, line in enumerate([*lines_of(path), ""], 1):
        if line.strip():
            cells = _cells(line)
            if len(cells) < 2 or not cells[0] or not cells[-1]:
                raise FormatError(path, f"a token and its tag expected, not {line[:60]!r}", number)
            if cells[0] == DOCUMENT:
                continue
            if not is_tag(cells[-1]):
                raise FormatError(path, f"tag {cells[-1]!r:.40}: {EXPECTED}", number)
            tokens.append(cells[0])
            tags.append(cells[-1])
        elif tokens:
            found.sentences.append(tokens)
            found.tags.append(tags)
            tokens, tags = [], []
    if not found.sentences:
        raise FormatError(path, "holds no sentences")
    if all(tag == OUTSIDE for tags in found.tags for tag in tags):
        raise FormatError(path, f"all tags are {OUTSIDE}; no entity to find")
    return found


def _cells(line: str) -> list[str]:
    """Columns are separated by tabs, or where there is none by spaces: a token of a tabbed file may hold a space."""
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    return [cell for cell in line.split(" ") if cell]


def sentence_pairs(name_or_path: str, data: Path | None = None) -> Pairs:
    """stsb (its dev part), stsb-train, or an own file: .csv, or with any other ending tabs between."""
    listed, (path,) = find_or_own(name_or_path, "sts", data)
    name = listed.name if listed else path.stem
    if path.suffix.lower() == ".csv":
        return scored_pairs(name, path, _csv_rows(path), item="sentence", between="commas")
    rows = ((number, line.split("\t")) for number, line in filled_lines(path))
    return scored_pairs(name, path, rows, item="sentence")


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(number of its last line, cells) of each row that holds something."""
    rows = csv.reader((f"{line}\n" for line in lines_of(path)), strict=True)
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield rows.line_num, cells
    except csv.Error as error:
        raise FormatError(path, f"is no CSV ({error})", rows.line_num) from None


@dataclass(frozen=True)
class Queries:
    """Texts to be found again among all, and `mistyped` the same with real typos, where the set has such."""

    name: str
    clean: list[str]
    mistyped: list[str] | None = None
    digest: str = ""


def queries(name_or_path: str, data: Path | None = None) -> Queries:
    """marco (number, query), or an own file with a text a line."""
    listed, files = find_or_own(name_or_path, "queries", data)
    if listed is None:
        clean = [line.strip() for _, line in filled_lines(files[0])]
        if len(set(clean)) < 2:
            raise FormatError(files[0], "all texts are the same; nothing to tell apart")
        return Queries(files[0].stem, clean, None, digest_of(files))
    numbered, mistyped = (_numbered(file) for file in files)
    for number in numbered:
        if number not in mistyped:
            raise FormatError(files[1], f"has no query {number}, which {files[0].name} has")
    return Queries(listed.name, list(numbered.values()), [mistyped[number] for number in numbered], digest_of(files))


def _numbered(path: Path) -> dict[str, str]:
    found = {}
    for number, line in filled_lines(path):
        key, _, text = line.partition("\t")
        if not text.strip():
            raise FormatError(path, f"number and query with a tab between expected, not {line[:60]!r}", number)
        found[key.strip()] = text.strip()
    return found
