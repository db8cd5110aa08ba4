"""Tables "Robust evaluation" (BERT) and "Performances of different strategies that work with BERT together".

A transformer is fine-tuned on clean text, plain, behind a speller, or with LOVE inside by one of three strategies, and
the same model is tested on text with more and more damage. The runs (task x row x seed x learning rate) are kept one by
one, so that several processes can share them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, Parameter
from lovevec_lab.evaluate.comparison import refuse_less_than_one
from lovevec_lab.evaluate.grid import best_by_seed, check_rates, run_one
from lovevec_lab.evaluate.result_cache import Score
from lovevec_lab.evaluate.results import Cell, Pictures
from lovevec_lab.reproduce.bench import COUNTED, SWEEP, TASKS, Workspace, select
from lovevec_lab.reproduce.extrinsic import TITLES
from lovevec_lab.reproduce.pages import OCR, QUICK, TYPOS, damage_table, mean, rates_line, seeds_of
from lovevec_lab.reproduce.published import BERT_ROBUSTNESS, BERT_TYPOS

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

    @classmethod
    def open(
        cls,
        transformer: str | None,
        *,
        rates: Sequence[float],
        seed: int,
        seeds: int,
        epochs: int,
        sentences: int | None,
        tested: int | None,
        precision: str,
        device: str,
        quick: bool,
        **settings: Any,
    ) -> TransformerBench:
        """The bench for TITLE=TRANSFORMER, or for a name without a title. What is wrong with any setting is an error
        before anything is loaded."""
        from lovevec.device import choose_device
        from lovevec.model.find import find_model
        from lovevec_lab.evaluate.finetune import FinetuneSettings
        from lovevec_lab.evaluate.finetune.loop import RATES
        from lovevec_lab.methods.open_method import split_name

        if not transformer:
            raise LovevecError(
                f"bert: name the model with {Parameter('transformer')}, a folder or a hub id such as bert-base-uncased"
            )
        title, name = split_name(transformer)
        for love in (settings["love"], settings["distilled"]):
            if love:
                find_model(love)
        choose_device(device)
        refuse_less_than_one(epochs=epochs, sentences=sentences, tested=tested)
        finetune = FinetuneSettings(
            check_rates(rates) or RATES,
            tuple(range(seed, seed + seeds)),
            seed,
            epochs,
            precision=precision,
            sentences=sentences,
            tested=tested,
            device=device,
        )
        finetune = finetune.quick() if quick else finetune
        return cls(transformer=name, name=title, finetune=finetune, quick=quick, **settings)

    def settings(self) -> dict[str, Any]:
        """What the numbers depend on, for the JSON."""
        return {
            "transformer": self.title,
            "love": Path(self.love).name if self.love else None,
            "distilled": Path(self.distilled).name if self.distilled else None,
            "quick": self.quick,
            **asdict(self.finetune),
        }

    @property
    def title(self) -> str:
        """What pages call the transformer."""
        return self.name or Path(self.transformer).name

    @cached_property
    def task_names(self) -> list[str]:
        """The datasets, by default those of the paper; what is missing is told."""
        for task in self.tasks:
            select(list(TASKS), [task], "tasks")
        tasks = select(list(TASKS), self.tasks or BY_DEFAULT, "tasks")
        self.need(*tasks)
        return tasks

    @cached_property
    def method_names(self) -> list[str]:
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
        for task in self.task_names:
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
        for method in self.method_names:
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


def measure(bench: TransformerBench) -> dict[str, Any]:
    """Every row on every dataset under every noise."""
    tasks, methods = bench.task_names, bench.method_names
    scores = {name: {"tasks": {task: bench.score(task, name) for task in tasks}} for name in methods}
    return {"transformer": {"name": bench.title, "quick": bench.quick}, "tasks": tasks, "methods": scores}


def page(scores: Mapping[str, Any]) -> str:
    """For each dataset the sweep and the table of strategies, ours beside the paper's, and which rates were chosen."""
    transformer, parts = scores["transformer"], []
    for task in scores["tasks"]:
        rows = {name: entry["tasks"][task] for name, entry in scores["methods"].items()}
        parts += [
            f"## {TITLES[task]}, {TASKS[task].measure}",
            "OCR confusions in so many per cent of the words. *gain*: of the mean over the plain transformer's; *dev*:"
            " the mean over the same damage of the dev set.",
            _table(rows, OCR, {name: entry[task] for name, entry in BERT_ROBUSTNESS.items() if task in entry}),
            "So many words of each sentence mistyped (a swap, a drop, an insertion or a neighboring key).",
            _table(rows, TYPOS, BERT_TYPOS if task == "sst2" else {}),
            rates_line(rows),
        ]
    about = (
        f"Transformer: {transformer['name']}; the paper has BERT-base (uncased for SST2, cased for CoNLL-03): compare"
        " orders and gaps rather than numbers. Fine-tuned on clean text; learning rate and epoch are the best on clean"
        f" dev text; one model meets all damage. {seeds_of(_entries(scores))}"
    )
    parts = ["# BERT-like models", about, QUICK if transformer["quick"] else "", *parts]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """The curves over the share of damaged words, and over the number of typos; a panel for each dataset."""
    from lovevec_lab.figures.curves import curve_panels

    several = max(len(entry["rates"]) for entry in _entries(scores)) > 1

    def panels(numbers: str, labels: Sequence[str]) -> dict[str, dict[str, list[float]]]:
        return {
            TITLES[task]: {
                name: [entry["tasks"][task][numbers][label] for label in labels]
                for name, entry in scores["methods"].items()
            }
            for task in scores["tasks"]
        }

    def draw(labels: Sequence[str], x: Sequence[float], x_label: str, path: Any) -> None:
        curve_panels(
            path,
            panels("test", labels),
            x,
            title=f"{scores['transformer']['name']}, plain and with LOVE inside",
            x_label=x_label,
            y_label={TITLES[task]: TASKS[task].measure for task in scores["tasks"]},
            spread=panels("spread", labels) if several else None,
        )

    def sweep(path: Any) -> None:
        draw(OCR, [100 * noise.share for noise in SWEEP], "damaged words, %", path)

    def typos(path: Any) -> None:
        draw(TYPOS, range(len(TYPOS)), "typos a sentence", path)

    return {"bert.png": sweep, "bert.svg": sweep, "bert-typos.png": typos, "bert-typos.svg": typos}


def _table(rows: Mapping[str, Any], labels: Sequence[str], paper: Mapping[str, Sequence[float]]) -> str:
    dev: dict[str, Cell] = {
        name: mean([float(entry["dev_noisy"][label]) for label in labels]) for name, entry in rows.items()
    }
    return damage_table(rows, labels, paper, PLAIN, ("model",), last=dev)


def _entries(scores: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [entry["tasks"][task] for entry in scores["methods"].values() for task in scores["tasks"]]
