"""What the experiment with BERT-like models stands on: a transformer, LOVE for it, the tasks, finished runs.

The runs (task x row x seed x learning rate) are kept one by one, so that several processes can share them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, Parameter
from lovevec_lab.evaluate.grid import best_by_seed, run_one
from lovevec_lab.evaluate.result_cache import Score
from lovevec_lab.reproduce.bench import COUNTED, SWEEP, TASKS, Workspace, select

if TYPE_CHECKING:
    from lovevec_lab.evaluate.finetune import FinetuneSettings, TagTask, TextTask, Transformer, Trials

PLAIN, SPELLED = "BERT", "BERT + SymSpell"
STRATEGIES = {"Add": "add", "Linear": "linear", "Replacement": "replace"}
INPUT, DISTILLED = "", " (distilled)"
# Only when they are named: LOVE's own table learns too; words that the shipped default knows stay in pieces.
FURTHER: dict[str, dict[str, Any]] = {
    " (LOVE trained)": {"trainable": True},
    " (known words kept)": {"keep": "default"},
}
BY_DEFAULT = ("sst2", "conll03")  # bc2gm on request


@dataclass(kw_only=True)
class TransformerBench(Workspace):
    """One folder of results for one transformer, which tables call `name`. `love` mimics its input embeddings,
    `distilled` its distilled ones."""

    transformer: str
    finetune: FinetuneSettings
    name: str = ""
    love: str | None = None
    distilled: str | None = None
    _transformers: dict[str, Transformer] = field(default_factory=dict)
    _tasks: dict[str, TextTask | TagTask] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """What the numbers depend on, for the JSON."""
        return {
            "transformer": self.shown,
            "love": Path(self.love).name if self.love else None,
            "distilled": Path(self.distilled).name if self.distilled else None,
            "quick": self.quick,
            **asdict(self.finetune),
        }

    @property
    def shown(self) -> str:
        """What pages call the transformer."""
        return self.name or Path(self.transformer).name

    @cached_property
    def chosen_tasks(self) -> list[str]:
        """The datasets, by default those of the paper; what is missing is told."""
        for task in self.tasks:
            select(list(TASKS), [task], "tasks")
        tasks = select(list(TASKS), self.tasks or BY_DEFAULT, "tasks")
        self.need(*tasks)
        return tasks

    @cached_property
    def chosen_methods(self) -> list[str]:
        """The rows that there is a LOVE for, or those that were asked for."""
        rows = self.rows()
        if self.methods:
            return select(list(rows), self.methods, "methods")
        methods = [name for name in rows if not name.endswith(tuple(FURTHER))]
        if find_spec("symspellpy") is None:
            self.progress.say(f"{SPELLED} is left out: pip install 'lovevec[rivals]' brings it")
            methods.remove(SPELLED)
        return methods

    def rows(self) -> dict[str, dict[str, Any]]:
        """What each row of the tables asks of `Transformer`: as in the paper, every broken word goes to LOVE."""
        rows: dict[str, dict[str, Any]] = {PLAIN: {}, SPELLED: {"spelled": True}}
        for source, love in ((INPUT, self.love), (DISTILLED, self.distilled)):
            if love:
                rows |= {
                    f"{PLAIN} + {title}{source}": {"love": love, "strategy": strategy, "keep": ()}
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
            share_runs = runs[len(runs) * (number - 1) // of : len(runs) * number // of]
            for method in dict.fromkeys(method for method, _, _ in share_runs):
                self._measure(task, method, [(seed, rate) for name, seed, rate in share_runs if name == method])

    def score(self, task: str, method: str) -> Score:
        """All runs of a row, those that are missing done now; see `best_by_seed`."""
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
        scores = []
        for seed, rate in runs:
            run = partial(trials.run, progress=self.progress, name=f"{task}, {method}, {rate:g}, seed {seed}")
            scores.append(run_one(run, rate, seed, self.cache, trials.key))
        return scores

    def trials(self, task: str, method: str) -> Trials:
        """Nothing is read or tokenised before a run needs it."""
        from lovevec_lab.evaluate.finetune import TagTask, TextTask, Transformer, Trials

        if method not in self._transformers:
            self._transformers[method] = Transformer(self.transformer, **self.rows()[method])
        if task not in self._tasks:
            kind = {"classify": TextTask, "tag": TagTask}[TASKS[task].name]
            self._tasks[task] = kind(self.split(task), self.finetune.sentences, self.finetune.tested)
        return Trials(self._transformers[method], self._tasks[task], (*SWEEP, *COUNTED), self.finetune)


def share_of(text: str) -> tuple[int, int]:
    """`3/12` -> (3, 12)."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise LovevecError(f"{Parameter('share', text)}: K/N expected, the K-th of N parts, as in 3/12")
    return int(number), int(of)
