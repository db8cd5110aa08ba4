"""How well texts are told apart by a CNN that reads a method's vectors, when the texts are clean and when they are not.

Trained on clean text, learning rate and epoch chosen on clean dev text, tested on the test text under each noise.

>>> classify("sst2", vectors="glove.txt", impute=["default"], noise=[0, 30, 70]).markdown()
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lovevec.damage.noise import Noise, damaged
from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import filled_lines
from lovevec.progress import Progress
from lovevec_lab.evaluate.datasets import digest_of, find_or_own
from lovevec_lab.evaluate.downstream import Downstream, DownstreamSettings, downstream_key, subsample
from lovevec_lab.evaluate.grid import Run, Tell, run_grid
from lovevec_lab.evaluate.nets import CNNSettings
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.evaluate.result_cache import ResultCache, Score
from lovevec_lab.methods.method import Method

PARTS = ("train", "dev", "test")
SHARES = (0.8, 0.1)  # train, dev; the rest is test
TASK = "classify 1"  # the number rises when other scores come out: kept ones are computed again then


@dataclass(frozen=True)
class TextPart:
    """`labels[i]` is the label of `sentences[i]`, a list of words."""

    sentences: list[list[str]]
    labels: list[str]


@dataclass(frozen=True)
class TextSplit:
    """A dataset for text classification. `digest` names the content of its files and the split."""

    name: str
    train: TextPart
    dev: TextPart
    test: TextPart
    digest: str = ""


def text_split(name_or_folder: str, data: Path | None = None, seed: int = 0) -> TextSplit:
    """SST2, MR, or an own folder with train.tsv, dev.tsv and test.tsv; `seed` decides the split of MR, nothing else."""
    listed, files = find_or_own(name_or_folder, "texts", data)
    if listed and listed.name == "MR":
        negative, positive = (_plain(file, listed.encoding) for file in files)
        parts = _split({"neg": negative, "pos": positive}, seed)
        return TextSplit("MR", *parts, digest=f"{digest_of(files)}-{seed}")
    files = files if listed else _own_files(files[0])
    train, dev, test = (_read_part(file) for file in files)
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


def _read_part(path: Path) -> TextPart:
    found = TextPart([], [])
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


def _split(by_label: dict[str, list[list[str]]], seed: int) -> tuple[TextPart, TextPart, TextPart]:
    """Each label is shuffled and cut 80/10/10 by itself, then the labels are shuffled into one another."""
    rng = np.random.default_rng([seed, 80, 10, 10])
    parts: tuple[list[tuple[str, list[str]]], ...] = ([], [], [])
    for label, sentences in by_label.items():
        order = rng.permutation(len(sentences))
        first = round(SHARES[0] * len(sentences))
        second = first + round(SHARES[1] * len(sentences))
        for part, rows in zip(parts, np.split(order, [first, second]), strict=True):
            part += [(label, sentences[row]) for row in rows.tolist()]
    train, dev, test = (_shuffle(part, rng) for part in parts)
    return train, dev, test


def _shuffle(part: list[tuple[str, list[str]]], rng: np.random.Generator) -> TextPart:
    order = rng.permutation(len(part)).tolist()
    return TextPart([part[row][1] for row in order], [part[row][0] for row in order])


@dataclass(frozen=True)
class ClassifySettings(DownstreamSettings):
    """Those of every downstream task, and the network's."""

    cnn: CNNSettings = field(default_factory=CNNSettings)

    def quick(self) -> ClassifySettings:
        """To see whether it works: two rates, one seed, little text."""
        return replace(self, rates=(3e-3, 1e-3), seeds=self.seeds[:1], sentences=600)

    def with_epochs(self, epochs: int) -> ClassifySettings:
        """Of the CNN."""
        return replace(self, cnn=replace(self.cnn, epochs=epochs))


def score_texts(
    method: Method,
    split: TextSplit,
    noises: Sequence[Noise],
    settings: ClassifySettings,
    cache: ResultCache,
    progress: Progress,
) -> Score:
    """One method's score (see grid.best_by_seed): accuracies in per cent, by the noises' labels."""
    import torch

    from lovevec.device import choose_device
    from lovevec_lab.evaluate.nets.char_cnn import input_layer
    from lovevec_lab.evaluate.nets.text_cnn import TextCNN, TextRows, accuracy, train_cnn

    device = choose_device(settings.device)
    subset = subsample(len(split.train.labels), settings.sentences)
    train = TextPart([split.train.sentences[row] for row in subset], [split.train.labels[row] for row in subset])
    tests = {noise.label: damaged(split.test.sentences, noise, settings.noise_seed) for noise in noises}
    lookup = look_up(method, train.sentences, split.dev.sentences, *tests.values())
    number = {label: place for place, label in enumerate(sorted(set(train.labels)))}

    def rows(sentences: Sequence[Sequence[str]], labels: Sequence[str]) -> TextRows:
        return TextRows(lookup(sentences), [number.get(label, -1) for label in labels], device)

    train_rows, dev_rows = rows(train.sentences, train.labels), rows(split.dev.sentences, split.dev.labels)
    test_rows = {label: rows(sentences, split.test.labels) for label, sentences in tests.items()}

    def train_run(runs: Sequence[Run], tell: Tell) -> list[Score]:
        ((rate, seed),) = runs
        start = time.perf_counter()
        with torch.random.fork_rng(devices=[]):  # torch's layers would draw from the global generator
            model = TextCNN(input_layer(method, lookup), len(number), settings.cnn)
        dev = train_cnn(model, train_rows, dev_rows, rate, seed, settings.cnn)
        test = {label: accuracy(model, texts) for label, texts in test_rows.items()}
        return [{"dev": dev, "test": test, "seconds": time.perf_counter() - start, "device": device.type}]

    key = downstream_key(TASK, method, lookup, split, noises, settings)
    return run_grid(train_run, settings.rates, settings.seeds, cache, key, progress, method.name)


classify = Downstream("classify", "accuracy", text_split, ClassifySettings, score_texts)
