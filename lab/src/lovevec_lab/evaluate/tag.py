"""How well entities are found by a BiLSTM-CRF that reads a method's vectors, in clean text and in damaged text.

Trained on clean text, learning rate and epoch chosen on clean dev text, tested on the test text under each noise.

>>> tag("conll03", vectors="glove.txt", impute=["default"]).markdown()
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lovevec.damage.noise import Noise, damaged
from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import lines_of
from lovevec.progress import Progress
from lovevec_lab.evaluate.datasets import digest_of, find_or_own
from lovevec_lab.evaluate.downstream import Downstream, DownstreamSettings, downstream_key, subsample
from lovevec_lab.evaluate.entities import EXPECTED, OUTSIDE, EntityCounts, Tags, count_entities, is_tag, overall
from lovevec_lab.evaluate.grid import Run, Tell, run_grid
from lovevec_lab.evaluate.nets import TaggerSettings
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.evaluate.result_cache import ResultCache, Score
from lovevec_lab.methods.method import Method

DOCUMENT = "-DOCSTART-"
PARTS = (("train",), ("dev", "valid", "devel"), ("test",))  # what an own folder may call them
ENDS = (".txt", ".tsv")
TASK = "tag 2"  # the number rises when other scores come out: kept ones are computed again then
RUNS_TOGETHER = 15  # runs side by side: the paper's five rates with three seeds


@dataclass(frozen=True)
class TagPart:
    """`tags[i][j]` is the tag of the token `sentences[i][j]`."""

    sentences: list[list[str]]
    tags: list[list[str]]


@dataclass(frozen=True)
class TagSplit:
    """A dataset for tagging. `digest` names the content of its files."""

    name: str
    train: TagPart
    dev: TagPart
    test: TagPart
    digest: str = ""


def tag_split(name_or_folder: str, data: Path | None = None) -> TagSplit:
    """CoNLL03, BC2GM, or an own folder with train, dev (or valid, devel) and test, each .txt or .tsv."""
    listed, files = find_or_own(name_or_folder, "tagged", data)
    files = files if listed else [_own_file(files[0], names) for names in PARTS]
    train, dev, test = (_read_part(file) for file in files)
    return TagSplit(listed.name if listed else Path(name_or_folder).resolve().name, train, dev, test, digest_of(files))


def _own_file(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        for end in ENDS:
            if (file := folder / f"{name}{end}").is_file():
                return file
    raise LovevecError(f"{folder}: own tagged text needs a file {' or '.join(names)} there, {' or '.join(ENDS)}")


def _read_part(path: Path) -> TagPart:
    found, tokens, tags = TagPart([], []), list[str](), list[str]()
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


@dataclass(frozen=True)
class TagSettings(DownstreamSettings):
    """Those of every downstream task, and the network's."""

    tagger: TaggerSettings = field(default_factory=TaggerSettings)

    def quick(self) -> TagSettings:
        """To see whether it works: two rates, one seed, little text, few epochs."""
        few = replace(self.tagger, epochs=min(self.tagger.epochs, 5))
        return replace(self, rates=(5e-3, 3e-3), seeds=self.seeds[:1], sentences=600, tagger=few)

    def with_epochs(self, epochs: int) -> TagSettings:
        """Of the tagger."""
        return replace(self, tagger=replace(self.tagger, epochs=epochs))


def score_tags(
    method: Method,
    split: TagSplit,
    noises: Sequence[Noise],
    settings: TagSettings,
    cache: ResultCache,
    progress: Progress,
) -> Score:
    """One method's score (see grid.best_by_seed): F1 in per cent, by the noises' labels. Each run
    has precision, recall and the F1 of each type of entity too."""
    from lovevec.device import choose_device
    from lovevec_lab.evaluate.nets.char_cnn import input_layers
    from lovevec_lab.evaluate.nets.tagger import Taggers, TagSentences, train_taggers

    device = choose_device(settings.device)
    subset = subsample(len(split.train.tags), settings.sentences)
    train = TagPart([split.train.sentences[row] for row in subset], [split.train.tags[row] for row in subset])
    tests = {noise.label: damaged(split.test.sentences, noise, settings.noise_seed) for noise in noises}
    lookup = look_up(method, train.sentences, split.dev.sentences, *tests.values())
    lookup = replace(lookup, vectors=lookup.vectors * np.float32(method.dim**0.5))  # entries of about 1 suit an LSTM
    names = sorted({name for tags in train.tags for name in tags})
    number = {name: place for place, name in enumerate(names)}
    numbered = [np.array([number[name] for name in tags], dtype=np.int64) for tags in train.tags]
    train_rows = TagSentences(lookup(train.sentences), numbered, device)
    dev_rows = TagSentences(lookup(split.dev.sentences), None, device)
    test_rows = {label: TagSentences(lookup(sentences), None, device) for label, sentences in tests.items()}

    def counts_of(model: Taggers, sentences: TagSentences, gold: Sequence[Tags]) -> list[dict[str, EntityCounts]]:
        named = ([[names[tag] for tag in tags] for tags in of_run] for of_run in model.tag(sentences))
        return [count_entities(gold, tags) for tags in named]

    def train_runs(runs: Sequence[Run], tell: Tell) -> list[Score]:
        start = time.perf_counter()
        model = Taggers(input_layers(method, lookup, len(runs)), len(names), settings.tagger, runs)

        def dev_f1(epoch: int) -> list[float]:
            f1 = [overall(counts).f1 for counts in counts_of(model, dev_rows, split.dev.tags)]
            tell(f"epoch {epoch + 1} of {settings.tagger.epochs} of {len(runs)} side by side, dev {max(f1):.1f}")
            return f1

        dev = train_taggers(model, train_rows, dev_f1, settings.tagger)
        counts = {label: counts_of(model, sentences, split.test.tags) for label, sentences in test_rows.items()}
        seconds = (time.perf_counter() - start) / len(runs)
        return [
            {
                "dev": dev[run],
                "test": {label: overall(of_runs[run]).f1 for label, of_runs in counts.items()},
                "entities": {label: details(of_runs[run]) for label, of_runs in counts.items()},
                "seconds": seconds,
                "device": device.type,
            }
            for run in range(len(runs))
        ]

    key = downstream_key(TASK, method, lookup, split, noises, settings)
    return run_grid(train_runs, settings.rates, settings.seeds, cache, key, progress, method.name, RUNS_TOGETHER)


def details(counts: dict[str, EntityCounts]) -> Score:
    """Precision and recall of all entities, and the F1 of each type."""
    total = overall(counts)
    types = {type: some.f1 for type, some in counts.items()}
    return {"precision": total.precision, "recall": total.recall, "types": types}


tag = Downstream("tag", "entity F1", tag_split, TagSettings, score_tags)
