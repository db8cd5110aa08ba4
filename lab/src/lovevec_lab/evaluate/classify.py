"""How well texts are told apart by a CNN that reads a method's vectors, when the texts are clean and when they are not.

Trained on clean text, learning rate and epoch chosen on clean dev text, tested on the test text under each noise.

>>> classify("sst2", vectors="glove.txt", impute=["default"], noise=[0, 30, 70]).markdown()
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lovevec.damage.noise import Noise, damaged
from lovevec.progress import Progress
from lovevec_lab.evaluate.data import Texts, TextSplit, texts
from lovevec_lab.evaluate.downstream import Downstream, DownstreamSettings, downstream_key, subsample
from lovevec_lab.evaluate.grid import Run, Tell, run_grid
from lovevec_lab.evaluate.nets import CNNSettings
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.evaluate.result_cache import ResultCache, Score
from lovevec_lab.methods.method import Method

TASK = "classify 1"  # the number rises when other scores come out: kept ones are computed again then


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
    from lovevec_lab.evaluate.nets.text_cnn import Rows, TextCNN, accuracy, trained

    device = choose_device(settings.device)
    subset = subsample(len(split.train.labels), settings.sentences)
    train = Texts([split.train.sentences[row] for row in subset], [split.train.labels[row] for row in subset])
    tests = {noise.label: damaged(split.test.sentences, noise, settings.noise_seed) for noise in noises}
    lookup = look_up(method, train.sentences, split.dev.sentences, *tests.values())
    number = {label: place for place, label in enumerate(sorted(set(train.labels)))}

    def rows(sentences: Sequence[Sequence[str]], labels: Sequence[str]) -> Rows:
        return Rows(lookup(sentences), [number.get(label, -1) for label in labels], device)

    train_rows, dev_rows = rows(train.sentences, train.labels), rows(split.dev.sentences, split.dev.labels)
    test_rows = {label: rows(sentences, split.test.labels) for label, sentences in tests.items()}

    def train_run(runs: Sequence[Run], tell: Tell) -> list[Score]:
        ((rate, seed),) = runs
        start = time.perf_counter()
        with torch.random.fork_rng(devices=[]):  # torch's layers would draw from the global generator
            model = TextCNN(input_layer(method, lookup), len(number), settings.cnn)
        dev = trained(model, train_rows, dev_rows, rate, seed, settings.cnn)
        test = {label: accuracy(model, texts) for label, texts in test_rows.items()}
        return [{"dev": dev, "test": test, "seconds": time.perf_counter() - start, "device": device.type}]

    key = downstream_key(TASK, method, lookup, split, noises, settings)
    return run_grid(train_run, settings.rates, settings.seeds, cache, key, progress, method.name)


classify = Downstream("classify", "accuracy", texts, ClassifySettings, score_texts)
