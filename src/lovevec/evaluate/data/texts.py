"""Sentences with a label each, split into train, dev and test: sentence, label, a tab between.

Words are what white space separates. Movie Reviews come as two files without a split; they get a fixed one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lovevec.errors import FormatError, LovevecError
from lovevec.evaluate.data.lines import digest_of, filled_lines
from lovevec.evaluate.data.sets import find_or_own

PARTS = ("train", "dev", "test")
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
