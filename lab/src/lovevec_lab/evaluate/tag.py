"""How well entities are found by a BiLSTM-CRF that reads a method's vectors, in clean text and in damaged text.

Trained on clean text, learning rate and epoch chosen on clean dev text, tested on the test text under each noise.

>>> tag("conll03", vectors="glove.txt", impute=["default"]).markdown()
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lovevec.damage.noise import Noise, damaged
from lovevec.progress import Progress
from lovevec_lab.evaluate.data import Tagged, TagSplit, tagged
from lovevec_lab.evaluate.downstream import Downstream, DownstreamSettings, downstream_key, subsample
from lovevec_lab.evaluate.entities import Counts, Tags, count_entities, overall
from lovevec_lab.evaluate.grid import Run, Tell, run_grid
from lovevec_lab.evaluate.nets import TaggerSettings
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.evaluate.result_cache import ResultCache, Score
from lovevec_lab.methods.method import Method

TASK = "tag 2"  # the number rises when other scores come out: kept ones are computed again then
TOGETHER = 15  # runs side by side: the paper's five rates with three seeds


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
    from lovevec_lab.evaluate.nets.tagger import Sentences, Taggers, trained

    device = choose_device(settings.device)
    subset = subsample(len(split.train.tags), settings.sentences)
    train = Tagged([split.train.sentences[row] for row in subset], [split.train.tags[row] for row in subset])
    tests = {noise.label: damaged(split.test.sentences, noise, settings.noise_seed) for noise in noises}
    lookup = look_up(method, train.sentences, split.dev.sentences, *tests.values())
    lookup = replace(lookup, vectors=lookup.vectors * np.float32(method.dim**0.5))  # entries of about 1 suit an LSTM
    names = sorted({name for tags in train.tags for name in tags})
    number = {name: place for place, name in enumerate(names)}
    numbered = [np.array([number[name] for name in tags], dtype=np.int64) for tags in train.tags]
    train_rows = Sentences(lookup(train.sentences), numbered, device)
    dev_rows = Sentences(lookup(split.dev.sentences), None, device)
    test_rows = {label: Sentences(lookup(sentences), None, device) for label, sentences in tests.items()}

    def counts_of(model: Taggers, sentences: Sentences, gold: Sequence[Tags]) -> list[dict[str, Counts]]:
        named = ([[names[tag] for tag in tags] for tags in of_run] for of_run in model.tag(sentences))
        return [count_entities(gold, tags) for tags in named]

    def train_runs(runs: Sequence[Run], tell: Tell) -> list[Score]:
        start = time.perf_counter()
        model = Taggers(input_layers(method, lookup, len(runs)), len(names), settings.tagger, runs)

        def dev_f1(epoch: int) -> list[float]:
            f1 = [overall(counts).f1 for counts in counts_of(model, dev_rows, split.dev.tags)]
            tell(f"epoch {epoch + 1} of {settings.tagger.epochs} of {len(runs)} side by side, dev {max(f1):.1f}")
            return f1

        dev = trained(model, train_rows, dev_f1, settings.tagger)
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
    return run_grid(train_runs, settings.rates, settings.seeds, cache, key, progress, method.name, TOGETHER)


def details(counts: dict[str, Counts]) -> Score:
    """Precision and recall of all entities, and the F1 of each type."""
    total = overall(counts)
    types = {type: some.f1 for type, some in counts.items()}
    return {"precision": total.precision, "recall": total.recall, "types": types}


tag = Downstream("tag", "entity F1", tagged, TagSettings, score_tags)
