"""What all experiments stand on: the target, models learned from it, the tasks, and what was measured already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lovevec.damage.noise import Noise
from lovevec.evaluate import datasets
from lovevec.evaluate.datasets import Classes, Pairs, TagSplit, TextSplit
from lovevec.evaluate.grid import RATES
from lovevec.evaluate.result_cache import ResultCache, Score
from lovevec.evaluate.speed import damaged_copies, words_per_second
from lovevec.methods.learned.learn import TITLES, fingerprint
from lovevec.methods.method import Method
from lovevec.methods.model import Model
from lovevec.methods.plugged import Plugged
from lovevec.methods.table import Table
from lovevec.progress import Progress
from lovevec.reproduce.published import CLUSTERS, NOISES, SIMILARITY
from lovevec.reproduce.select import select
from lovevec.train import Settings

RECIPE = TITLES["love-recipe"]
TARGET, CHAR_CNN = "Target", "CharCNN"
PLUGGED = {f"{TARGET} + {love}": love for love in (TITLES["love"], RECIPE)}
WITH_LOVE, WITH_RECIPE = PLUGGED
# What named.py calls them.
RIVALS = {title: name for name, title in TITLES.items()} | {
    "Edit Distance": "edit-distance",
    "SymSpell": "symspell",
    "UNK": "unk",
    "Random": "random",
}
TEXTS, TAGS = ("sst2", "mr"), ("conll03", "bc2gm")
QUICK_EPOCHS, QUICK_RESAMPLES = 3, 50
MISTYPED = 10_000


@dataclass
class Bench:
    """One folder of results for one target. `alone` is the target as a method: a table, or fastText with its n-grams;
    `tasks` and `methods`, where not empty, are all that is to be measured."""

    target: Table
    alone: Method
    folder: Path
    data: Path
    device: str = "auto"
    seed: int = 0
    seeds: int = 1
    rates: Sequence[float] = RATES
    quick: bool = False
    tasks: Sequence[str] = ()
    methods: Sequence[str] = ()
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    _kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def cells(self) -> ResultCache:
        """Finished parts, from this run or an earlier one."""
        return ResultCache(self.folder / "cells")

    def describe_target(self) -> dict[str, Any]:
        """What pages say of the target."""
        about = {"name": self.target.name, "words": len(self.target.words), "dim": self.target.dim}
        return {**about, "quick": self.quick}

    def settings(self) -> dict[str, Any]:
        """What the numbers depend on, for the JSON."""
        return {
            "target": self.describe_target(),
            "fingerprint": self._fingerprint,
            "seed": self.seed,
            "seeds": self.seeds,
            "learning_rates": list(self.rates),
            "quick": self.quick,
            "device": self.device,
        }

    def select(self, names: Sequence[str], kind: str) -> list[str]:
        """Those of `names` that the user did not leave out; `kind` is tasks or methods."""
        chosen: Sequence[str] = getattr(self, kind)
        return select(names, chosen, kind)

    def need(self, *names: str) -> None:
        """Say which dataset is missing before anything is trained."""
        for name in names:
            datasets.find(name, self.data)

    def method(self, name: str) -> Method:
        """A method by its name in tables: learned, made or read, once a run."""
        if name not in self._kept:
            self._kept[name] = self._method(name)
        found: Method = self._kept[name]
        return found

    def _method(self, name: str) -> Method:
        from lovevec.methods.open_method import rivals_of

        if name == TARGET:
            return self.alone
        if name in PLUGGED:
            return Plugged(self.target, self.model(PLUGGED[name]))
        if name == CHAR_CNN:
            from lovevec.evaluate.nets.char_cnn import WithCharCNN

            return WithCharCNN(self.target)
        (made,) = rivals_of(
            RIVALS[name],
            self.target,
            folder=self.folder / "models",
            device=self.device,
            seed=self.seed,
            quick=self.quick,
            progress=self.progress,
        )
        return made

    def model(self, name: str) -> Model:
        """A learned method."""
        found = self.method(name)
        assert isinstance(found, Model)
        return found

    def variant(self, **changes: Any) -> Model:
        """LOVE with some settings changed, trained in memory; what preparation makes is shared between variants."""
        from lovevec.train import prepare, train

        if self.quick:
            changes = {"epochs": QUICK_EPOCHS, **changes}
        settings = Settings(seed=self.seed, device=self.device, **changes)
        how = settings.prepare_part()
        known = f"prepared {sorted(asdict(how).items())}"
        if known not in self._kept:
            self._kept[known] = prepare((self.target.words, self.target.vectors), how, self.progress)
        return Model(train(self._kept[known], settings, progress=self.progress), "LOVE")

    def variant_scores(self, changes: Mapping[str, Any]) -> Score:
        """What the small tables report of a variant: parameters, similarity, SST2 clean and damaged. Kept."""
        key = {"variant": dict(changes), **self.settings(), "sst2": self.wants("sst2")}
        return self.cells(key, lambda: self._variant_scores(self.variant(**changes)))

    def _variant_scores(self, model: Model) -> Score:
        scores: Score = {**self.about(model), "similarity": self.similarity(model)}
        if self.wants("sst2"):
            scores["sst2"] = original_and_typo(self.downstream(model, "sst2"))
        return scores

    def wants(self, task: str) -> bool:
        """Whether the user did not leave the task out."""
        return not self.tasks or task in [name.lower() for name in self.tasks]

    def similarity(self, method: Method) -> dict[str, Any]:
        """Spearman on the six sets: of all pairs with its interval, and of those that the method covers."""
        from lovevec.evaluate.bootstrap import RESAMPLES
        from lovevec.evaluate.similarity import similarity

        found = similarity(method, self._pairs, QUICK_RESAMPLES if self.quick else RESAMPLES, self.seed)
        return {
            "mean": found.mean,
            "all": {score.name: score.spearman for score in found.sets},
            "interval": {score.name: [score.low, score.high] for score in found.sets},
            "pairs": {score.name: score.pairs for score in found.sets},
            "covered": {score.name: score.covered for score in found.sets},
            "on_covered": {score.name: score.spearman_covered for score in found.sets},
        }

    def clusters(self, method: Method) -> dict[str, float]:
        """Purity on AP and BLESS, the mean over seeds of K-means."""
        from lovevec.evaluate.clusters import SEEDS, clusters

        found = clusters(method, self._classes, seeds=2 if self.quick else SEEDS, seed=self.seed)
        return {score.name: score.purity for score in found.sets}

    def about(self, method: Method) -> Score:
        """What every table says of a method: parameters, and how fast it makes vectors of words that it never saw (the
        target's own, mistyped); no speed for a CharCNN, which runs inside another model."""
        from lovevec.evaluate.nets.char_cnn import WithCharCNN

        fast = None if isinstance(method, WithCharCNN) else words_per_second(method, self._mistyped)
        return {"parameters": method.parameters._asdict(), "words_per_second": fast}

    def downstream(self, method: Method, task: str) -> Score:
        """Test scores of a downstream model with OCR confusions in more and more of the words: always all of the
        paper's shares, so that each model is trained once for all tables."""
        from lovevec.evaluate.classify import ClassifySettings, classify
        from lovevec.evaluate.tag import TagSettings, tag

        noises = [Noise("ocr", share / 100) for share in NOISES]
        seeds, rates = tuple(range(self.seed, self.seed + self.seeds)), tuple(self.rates)
        if task in TEXTS:
            how = ClassifySettings(rates=rates, seeds=seeds, noise_seed=self.seed, device=self.device)
            how = how.quick() if self.quick else how
            return classify(method, self._texts(task), noises, how, self.cells, self.progress)
        more = TagSettings(rates=rates, seeds=seeds, noise_seed=self.seed, device=self.device)
        more = more.quick() if self.quick else more
        return tag(method, self._tagged(task), noises, more, self.cells, self.progress)

    def _texts(self, task: str) -> TextSplit:
        if task not in self._kept:
            self._kept[task] = datasets.texts(task, self.data)
        split: TextSplit = self._kept[task]
        return split

    def _tagged(self, task: str) -> TagSplit:
        if task not in self._kept:
            self._kept[task] = datasets.tagged(task, self.data)
        split: TagSplit = self._kept[task]
        return split

    @cached_property
    def _pairs(self) -> list[Pairs]:
        return [datasets.similarity_set(name, self.data) for name in SIMILARITY]

    @cached_property
    def _classes(self) -> list[Classes]:
        return [datasets.word_classes(name, self.data) for name in CLUSTERS]

    @cached_property
    def _mistyped(self) -> list[str]:
        return damaged_copies(self.target.words, MISTYPED, self.seed)

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.target)


def original_and_typo(score: Score) -> list[float]:
    """The scores on original text and with 70 % of the words damaged, as most of the paper's tables have them."""
    test = score["test"]
    return [float(test[Noise("ocr", share / 100).label]) for share in (0, 70)]
