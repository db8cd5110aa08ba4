"""What the experiment with BERT-like models stands on: an encoder, LOVE for it, the tasks, what was measured already.

The runs (task x row x seed x learning rate) are kept one by one, so that several processes can share them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.damage.noise import Noise
from lovevec.errors import LovevecError
from lovevec.evaluate import datasets
from lovevec.evaluate.result_cache import ResultCache, Score
from lovevec.progress import Progress
from lovevec.reproduce.bench import TAGS, TEXTS
from lovevec.reproduce.published import NOISES
from lovevec.reproduce.select import select

if TYPE_CHECKING:
    from lovevec.evaluate.finetune import FinetuneSettings, Transformer, Trials

PLAIN, SPELLED = "BERT", "BERT + SymSpell"
STRATEGIES = {"Add": "add", "Linear": "linear", "Replacement": "replace"}
INPUT, DISTILLED = "", " (distilled)"
# Only when they are named: LOVE's own table learns too; words that the shipped default knows stay in pieces.
FURTHER: dict[str, dict[str, Any]] = {
    " (LOVE trained)": {"trainable": True},
    " (known words kept)": {"keep": "default"},
}
TYPOS = (1, 2, 3)
SWEEP = tuple(Noise("ocr", share / 100) for share in NOISES)
COUNTED = tuple(Noise("typo", per_sentence=count) for count in TYPOS)
TASKS = ("sst2", "conll03")  # bc2gm on request


@dataclass
class TransformerBench:
    """One folder of results for one encoder, which tables call `name`. `love` mimics its input embeddings, `distilled`
    its distilled ones."""

    encoder: str
    folder: Path
    data: Path
    finetune: FinetuneSettings
    name: str = ""
    love: str | None = None
    distilled: str | None = None
    quick: bool = False
    tasks: Sequence[str] = ()
    methods: Sequence[str] = ()
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))

    @cached_property
    def cells(self) -> ResultCache:
        """Finished runs, of this process or another."""
        return ResultCache(self.folder / "cells")

    def settings(self) -> dict[str, Any]:
        """What the numbers depend on, for the JSON."""
        return {
            "encoder": self.shown,
            "love": Path(self.love).name if self.love else None,
            "distilled": Path(self.distilled).name if self.distilled else None,
            "quick": self.quick,
            **asdict(self.finetune),
        }

    @property
    def shown(self) -> str:
        """What pages call the encoder."""
        return self.name or Path(self.encoder).name

    @cached_property
    def chosen_tasks(self) -> list[str]:
        """The datasets, by default those of the paper; what is missing is told."""
        known = (*TEXTS, *TAGS)
        for task in self.tasks:
            select(known, [task], "tasks")
        tasks = select(known, self.tasks or TASKS, "tasks")
        for task in tasks:
            datasets.find(task, self.data)
        return tasks

    @cached_property
    def chosen_methods(self) -> list[str]:
        """The rows that there is a LOVE for, or those that were asked for."""
        rows = self.rows()
        if self.methods:
            return select(list(rows), self.methods, "methods")
        found = [name for name in rows if not name.endswith(tuple(FURTHER))]
        if find_spec("symspellpy") is None:
            self.progress.say(f"{SPELLED} is left out: pip install 'lovevec[rivals]' brings it")
            found.remove(SPELLED)
        return found

    def rows(self) -> dict[str, dict[str, Any]]:
        """What each row of the tables asks of `Transformer`."""
        rows: dict[str, dict[str, Any]] = {PLAIN: {}, SPELLED: {"spelled": True}}
        for source, love in ((INPUT, self.love), (DISTILLED, self.distilled)):
            if love:
                rows |= {
                    f"{PLAIN} + {title}{source}": {"love": love, "strategy": strategy}
                    for title, strategy in STRATEGIES.items()
                }
        for end, options in FURTHER.items():
            rows |= {f"{name}{end}": {**row, **options} for name, row in rows.items() if row.get("love")}
        return rows

    def fill(self, share: tuple[int, int]) -> None:
        """The k-th of n parts of the runs: neighbors in the list, which share tokenised text."""
        number, of = share
        for task in self.chosen_tasks:
            runs = list(self._runs())
            part = runs[len(runs) * (number - 1) // of : len(runs) * number // of]
            for method in dict.fromkeys(method for method, _, _ in part):
                self._measure(task, method, [(seed, rate) for name, seed, rate in part if name == method])

    def score(self, task: str, method: str) -> Score:
        """All runs of a row, those that are missing done now; see `best_by_seed`."""
        from lovevec.evaluate.finetune import best_by_seed

        return best_by_seed(
            self._measure(task, method, [(seed, rate) for name, seed, rate in self._runs() if name == method])
        )

    def _runs(self) -> Iterator[tuple[str, int, float]]:
        for method in self.chosen_methods:
            for seed in self.finetune.seeds:
                for rate in self.finetune.rates:
                    yield method, seed, rate

    def _measure(self, task: str, method: str, runs: Sequence[tuple[int, float]]) -> list[Score]:
        trials = self.trials(task, method)
        found = []
        for seed, rate in runs:
            name = f"{task}, {method}, {rate:g}, seed {seed}"
            run = self.cells(
                {**trials.key, "rate": rate, "seed": seed}, partial(trials.run, rate, seed, self.progress, name)
            )
            found.append({"rate": rate, "seed": seed, **run})
        return found

    def trials(self, task: str, method: str) -> Trials:
        """Nothing is read or tokenised before a run needs it."""
        from lovevec.evaluate.finetune import Trials

        return Trials(self._encoder(method), self._task(task), (*SWEEP, *COUNTED), self.finetune)

    def _encoder(self, method: str) -> Transformer:
        from lovevec.evaluate.finetune import Transformer

        if method not in self._encoders:
            self._encoders[method] = Transformer(self.encoder, **self.rows()[method])
        found: Transformer = self._encoders[method]
        return found

    @cached_property
    def _encoders(self) -> dict[str, Any]:
        return {}

    def _task(self, task: str) -> Any:
        from lovevec.evaluate.finetune import TagTask, TextTask

        if task not in self._read:
            cut = (self.finetune.sentences, self.finetune.tested)
            if task in TEXTS:
                self._read[task] = TextTask(datasets.texts(task, self.data), *cut)
            else:
                self._read[task] = TagTask(datasets.tagged(task, self.data), *cut)
        return self._read[task]

    @cached_property
    def _read(self) -> dict[str, Any]:
        return {}


def share_of(text: str) -> tuple[int, int]:
    """`3/12` -> (3, 12)."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise LovevecError(f"--share {text}: K/N expected, the K-th of N parts, as in 3/12")
    return int(number), int(of)
