"""What all experiments stand on: the target, models learned from it, the tasks, and what was measured already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from lovevec.damage.noise import Noise
from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec.train import Settings
from lovevec_lab.evaluate.classify import classify
from lovevec_lab.evaluate.clusters import SEEDS, WordClasses, score_clusters, word_classes
from lovevec_lab.evaluate.datasets import find
from lovevec_lab.evaluate.downstream import CACHE, Downstream, few
from lovevec_lab.evaluate.grid import RATES
from lovevec_lab.evaluate.result_cache import ResultCache, Score
from lovevec_lab.evaluate.similarity import GoldPairs, score_similarity, similarity_set
from lovevec_lab.evaluate.speed import typo_copies, words_per_second
from lovevec_lab.evaluate.statistics import RESAMPLES
from lovevec_lab.evaluate.tag import tag
from lovevec_lab.evaluate.typos import TypoTrial, lowercase_table, misspellings, score_typos, trial
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.learned.learn import TITLES, fingerprint
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.method import Method
from lovevec_lab.methods.open_method import open_method, rivals_of
from lovevec_lab.methods.table import Table, table_of
from lovevec_lab.reproduce.published import CLUSTERS, NOISES, SIMILARITY

DEFAULT_TARGET = "targets/glove840b-300d-34k.npz"  # in the data folder
RECIPE = TITLES["love-recipe"]
TARGET, CHAR_CNN = "Target", "CharCNN"
ATTACHED = {f"{TARGET} + {love}": love for love in (TITLES["love"], RECIPE)}
WITH_LOVE, WITH_RECIPE = ATTACHED
NEAR = "LOVE + near"  # the recipe's model, which reads misspellings as known words
# What open_method.py calls them.
RIVALS = {title: name for name, title in TITLES.items()} | {
    "Edit Distance": "edit-distance",
    "SymSpell": "symspell",
    "GNU Aspell": "aspell",
    "UNK": "unk",
    "Random": "random",
}
TASKS: dict[str, Downstream] = {"sst2": classify, "mr": classify, "conll03": tag, "bc2gm": tag}
SWEEP = tuple(Noise("ocr", share / 100) for share in NOISES)
COUNTED = tuple(Noise("typo", per_sentence=count) for count in (1, 2, 3))
QUICK_EPOCHS, QUICK_RESAMPLES, QUICK_SEEDS, QUICK_WORDS = 3, 50, 2, 3000
MISTYPED = 10_000
MISSPELLED = 5_000  # of Birkbeck, for the small tables
NOT_SHOWN = ("entities", "seconds", "device")  # what pages do not need of a run


@dataclass(kw_only=True)
class Workspace:
    """One folder of results: the datasets, what is to be measured of all there is (`tasks` and `methods`, where not
    empty), and what was measured already."""

    folder: Path
    data: Path
    quick: bool = False
    tasks: Sequence[str] = ()
    methods: Sequence[str] = ()
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    _splits: dict[str, Any] = field(default_factory=dict)
    cuts: ClassVar[bool] = False  # whether quick means fewer sentences to test on; fine-tuning has a setting for it

    @cached_property
    def cache(self) -> ResultCache:
        """Finished runs, of this process or another."""
        return ResultCache(self.folder / CACHE)

    def need(self, *names: str) -> None:
        """Say which dataset is missing before anything is trained."""
        for name in names:
            find(name, self.data)

    def split(self, task: str) -> Any:
        """The dataset of a task, read once."""
        if task not in self._splits:
            split = TASKS[task].read(task, self.data)
            self._splits[task] = few(split) if self.quick and self.cuts else split
        return self._splits[task]


@dataclass(kw_only=True)
class Bench(Workspace):
    """One folder of results for one target; `alone` is the target as a method: a table, or fastText with n-grams."""

    target: Table
    alone: Method
    device: str = "auto"
    seed: int = 0
    seeds: int = 1
    rates: Sequence[float] = RATES
    cuts: ClassVar[bool] = True
    _methods: dict[str, Method] = field(default_factory=dict)
    _prepared: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls, target: str | None, *, data: Path, tasks: Sequence[str], quick: bool, **settings: Any) -> Bench:
        """The bench for a vector file, by default TARGET in the data folder. What is wrong with target or tasks is an
        error before anything is trained; `quick` takes the first QUICK_WORDS words."""
        for task in tasks:
            if task.lower() not in (*TASKS, "none"):
                raise LovevecError(
                    f"{Parameter('tasks', task)}: no such dataset; there are {', '.join(TASKS)}, and none"
                )
        source = target or str(data / DEFAULT_TARGET)
        alone = open_method(source, settings["progress"])
        table = table_of(alone)
        if table is None:
            raise LovevecError(f"{Parameter('target', source)}: is a model; name the vectors to mimic, a file")
        if quick and len(table.words) > QUICK_WORDS:
            table = table.first(QUICK_WORDS)
            alone = table if isinstance(alone, Table) else alone
        return cls(target=table, alone=alone, data=data, tasks=tasks, quick=quick, **settings)

    def describe_target(self) -> dict[str, Any]:
        """What pages say of the target."""
        size = {"words": len(self.target.words), "dim": self.target.dim}
        return {"name": self.target.name, **size, "quick": self.quick}

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

    def method(self, name: str) -> Method:
        """A method by its name in tables: learned, made or read, once a run."""
        if name not in self._methods:
            self._methods[name] = self._make(name)
        return self._methods[name]

    def _make(self, name: str) -> Method:
        if name == TARGET:
            return self.alone
        if name in ATTACHED:
            return AttachedMethod(self.target, self.method(ATTACHED[name]))
        if name == NEAR:
            model = self.method(RECIPE)
            assert isinstance(model, LoveMethod)
            return AttachedMethod(self.target, LoveMethod(model.love, model.name, near=True), NEAR)
        if name == CHAR_CNN:
            from lovevec_lab.evaluate.nets.char_cnn import WithCharCNN

            return WithCharCNN(self.target)
        (rival,) = rivals_of(
            RIVALS[name],
            self.target,
            folder=self.folder / "models",
            device=self.device,
            seed=self.seed,
            quick=self.quick,
            progress=self.progress,
        )
        return rival

    def variant(self, seed: int, **changes: Any) -> LoveMethod:
        """LOVE with some settings changed, trained in memory; what preparation makes is shared between variants."""
        from lovevec.train import prepare, train

        if self.quick:
            changes = {"epochs": QUICK_EPOCHS, **changes}
        settings = Settings(seed=seed, device=self.device, **changes)
        preparation = settings.prepare_part()
        key = str(sorted(asdict(preparation).items()))
        if key not in self._prepared:
            self._prepared[key] = prepare((self.target.words, self.target.vectors), preparation, self.progress)
        return LoveMethod(train(self._prepared[key], settings, progress=self.progress), "LOVE")

    def variant_scores(self, changes: Mapping[str, Any]) -> list[Score]:
        """What the small tables report of a variant, trained with each seed: parameters, similarity, Birkbeck's
        misspellings, SST2 clean and damaged by a CNN of the same seed. Kept."""
        scores = []
        for seed in self._all_seeds:
            key = {"variant": dict(changes), **self.settings(), "seed": seed, "seeds": 1, "sst2": self.wants("sst2")}
            scores.append(self.cache(key, partial(self._variant_scores, changes, seed)))
        return scores

    def _variant_scores(self, changes: Mapping[str, Any], seed: int) -> Score:
        model = self.variant(seed, **changes)
        scores: Score = {
            **self.size_and_speed(model),
            "similarity": self.similarity(model),
            "misspellings": self.misspellings(model),
        }
        if self.wants("sst2"):
            scores["sst2"] = original_and_typo(self._downstream(model, "sst2", (seed,)))
        return scores

    def wants(self, task: str) -> bool:
        """Whether the user did not leave the task out."""
        return not self.tasks or task in [name.lower() for name in self.tasks]

    def similarity(self, method: Method) -> dict[str, Any]:
        """Spearman on the six sets: of all pairs with its interval, and of those that the method covers."""
        scores = score_similarity(method, self._pairs, QUICK_RESAMPLES if self.quick else RESAMPLES, self.seed)
        return {
            "mean": scores.mean,
            "all": {score.name: score.spearman for score in scores.sets},
            "interval": {score.name: [score.low, score.high] for score in scores.sets},
            "pairs": {score.name: score.pairs for score in scores.sets},
            "covered": {score.name: score.covered for score in scores.sets},
            "on_covered": {score.name: score.spearman_covered for score in scores.sets},
        }

    def misspellings(self, method: Method) -> float:
        """How many per cent of Birkbeck's misspellings (a part of them) have their right word among the ten nearest."""
        scores = score_typos(method, self._lower, [self._trial], QUICK_RESAMPLES, self.seed)
        return scores.sets[0].top10.mean

    def clusters(self, method: Method) -> dict[str, float]:
        """Purity on AP and BLESS, the mean over seeds of K-means."""
        scores = score_clusters(method, self._classes, seeds=QUICK_SEEDS if self.quick else SEEDS, seed=self.seed)
        return {score.name: score.purity for score in scores.sets}

    def size_and_speed(self, method: Method) -> Score:
        """What every table says of a method: parameters, and how fast it makes vectors of words that it never saw (the
        target's own, mistyped)."""
        speed = words_per_second(method, self._typo_words)
        return {"parameters": method.parameters._asdict(), "words_per_second": speed}

    def downstream(self, method: Method, task: str) -> Score:
        """Test scores of a downstream model with OCR confusions in more and more of the words, and with 1 to 3 typos a
        sentence: always all of these, so that each model is trained once for all tables."""
        score = self._downstream(method, task, self._all_seeds)
        runs = [{name: value for name, value in run.items() if name not in NOT_SHOWN} for run in score["runs"]]
        return {**{name: value for name, value in score.items() if name not in NOT_SHOWN}, "runs": runs}

    def _downstream(self, method: Method, task: str, seeds: tuple[int, ...]) -> Score:
        settings = TASKS[task].settings(rates=tuple(self.rates), seeds=seeds, noise_seed=self.seed, device=self.device)
        settings = settings.quick() if self.quick else settings
        return TASKS[task].score(method, self.split(task), (*SWEEP, *COUNTED), settings, self.cache, self.progress)

    @property
    def _all_seeds(self) -> tuple[int, ...]:
        return tuple(range(self.seed, self.seed + self.seeds))

    @cached_property
    def _lower(self) -> Table:
        return lowercase_table(self.target)

    @cached_property
    def _trial(self) -> TypoTrial:
        return trial(misspellings("birkbeck", self.data), self._lower, MISSPELLED, self.seed)

    @cached_property
    def _pairs(self) -> list[GoldPairs]:
        return [similarity_set(name, self.data) for name in SIMILARITY]

    @cached_property
    def _classes(self) -> list[WordClasses]:
        return [word_classes(name, self.data) for name in CLUSTERS]

    @cached_property
    def _typo_words(self) -> list[str]:
        return typo_copies(self.target.words, MISTYPED, self.seed)

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.target)


def select(names: Sequence[str], chosen: Sequence[str], kind: str) -> list[str]:
    """Those of `names` that `chosen` did not leave out, upper or lower case alike; none chosen is all. `kind` is tasks
    or methods."""
    folded = [name.lower() for name in chosen]
    selected = [name for name in names if not folded or name.lower() in folded]
    if not selected or (kind == "methods" and len(selected) < len(set(folded))):
        raise LovevecError(
            f"{Parameter(kind, ','.join(chosen))}: not all of them are here; there are {', '.join(names)}"
        )
    return selected


def original_and_typo(score: Score) -> list[float]:
    """The scores on original text and with 70 % of the words damaged, as most of the paper's tables have them."""
    test = score["test"]
    return [float(test[Noise("ocr", share / 100).label]) for share in (0, 70)]
