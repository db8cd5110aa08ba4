"""How well entities are found by a BiLSTM-CRF that reads a method's vectors, in clean text and in damaged text.

Trained on clean text, learning rate and epoch chosen on clean dev text, tested on the test text under each noise.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from lovevec.damage.noise import Noise, damaged
from lovevec.device import choose_device
from lovevec.evaluate.datasets import Tagged, TagSplit
from lovevec.evaluate.fingerprint import downstream_key
from lovevec.evaluate.grid import RATES, run_grid
from lovevec.evaluate.nets.char_cnn import input_layer
from lovevec.evaluate.nets.entities import Counts, Tags, count_entities, overall
from lovevec.evaluate.nets.lookup import look_up
from lovevec.evaluate.nets.tagger import Sentences, Tagger, TaggerSettings, trained
from lovevec.evaluate.result_cache import ResultCache, Score
from lovevec.evaluate.subsample import subsample
from lovevec.methods.method import Method
from lovevec.progress import Progress

TASK = "tag 1"  # the number rises when other scores come out: kept ones are computed again then


@dataclass(frozen=True)
class TagSettings:
    """What is trained, how often, where. `sentences` cuts the training text, `noise_seed` decides the damage."""

    rates: tuple[float, ...] = RATES
    seeds: tuple[int, ...] = (0,)
    noise_seed: int = 0
    sentences: int | None = None
    device: str = "auto"
    tagger: TaggerSettings = field(default_factory=TaggerSettings)

    def quick(self) -> TagSettings:
        """To see whether it works: two rates, one seed, little text, few epochs."""
        few = replace(self.tagger, epochs=min(self.tagger.epochs, 5))
        return replace(self, rates=(5e-3, 3e-3), seeds=self.seeds[:1], sentences=2000, tagger=few)


def tag(
    method: Method,
    split: TagSplit,
    noises: Sequence[Noise],
    settings: TagSettings,
    cells: ResultCache,
    progress: Progress,
) -> Score:
    """The method's score (see `lovevec.evaluate.grid.best_of`): F1 in per cent, by the labels of `noises`. Each run
    has precision, recall and the F1 of each type of entity too."""
    device = choose_device(settings.device)
    part = subsample(len(split.train.tags), settings.sentences)
    train = Tagged([split.train.sentences[row] for row in part], [split.train.tags[row] for row in part])
    tests = {noise.label: damaged(split.test.sentences, noise, settings.noise_seed) for noise in noises}
    lookup = look_up(method, train.sentences, split.dev.sentences, *tests.values())
    lookup = replace(lookup, vectors=lookup.vectors * np.float32(method.dim**0.5))  # entries of about 1 suit an LSTM
    names = sorted({tag for tags in train.tags for tag in tags})
    number = {name: place for place, name in enumerate(names)}

    numbered = [np.array([number[tag] for tag in tags], dtype=np.int64) for tags in train.tags]
    learn = Sentences(lookup(train.sentences), numbered, device)
    choose = Sentences(lookup(split.dev.sentences), None, device)
    check = {label: Sentences(lookup(sentences), None, device) for label, sentences in tests.items()}

    def found(model: Tagger, sentences: Sentences, gold: Sequence[Tags]) -> dict[str, Counts]:
        return count_entities(gold, [[names[tag] for tag in tags] for tags in model.tag(sentences)])

    def train_one(rate: float, seed: int) -> Score:
        start = time.perf_counter()
        with torch.random.fork_rng(devices=[]):  # torch's layers would draw from the global generator
            model = Tagger(input_layer(method, lookup), len(names), settings.tagger)
        dev = trained(
            model, learn, lambda: overall(found(model, choose, split.dev.tags)).f1, rate, seed, settings.tagger
        )
        counts = {label: found(model, sentences, split.test.tags) for label, sentences in check.items()}
        return {
            "dev": dev,
            "test": {label: overall(by_type).f1 for label, by_type in counts.items()},
            "entities": {label: details(by_type) for label, by_type in counts.items()},
            "seconds": time.perf_counter() - start,
            "device": device.type,
        }

    key = downstream_key(TASK, method, lookup, split, noises, settings)
    return run_grid(train_one, settings.rates, settings.seeds, cells, key, progress, name=method.name)


def details(counts: dict[str, Counts]) -> Score:
    """Precision and recall of all entities, and the F1 of each type."""
    total = overall(counts)
    types = {type: some.f1 for type, some in counts.items()}
    return {"precision": total.precision, "recall": total.recall, "types": types}
