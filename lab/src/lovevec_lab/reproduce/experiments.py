"""The experiments by name, and how one is run: measured once, then shown as a page and pictures.

Each is a module, or an object, with three functions: `measure(bench)` gives plain values for JSON, `page(scores)` their
Markdown with the paper's numbers beside ours, `pictures(scores)` what to draw. `bert` has a bench of its own, with a
transformer in the place of the target.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec_lab.evaluate.comparison import refuse_less_than_one
from lovevec_lab.evaluate.datasets import data_folder
from lovevec_lab.evaluate.grid import RATES, check_rates
from lovevec_lab.evaluate.results import Pictures, Result, refuse_bad_folder, write_page
from lovevec_lab.reproduce.bench import Bench
from lovevec_lab.reproduce.bert import TransformerBench, share_of

EXPERIMENTS = {
    "intrinsic": "similarity and clusters: LOVE and the models that learn like it",
    "extrinsic": "text classification and tagging, original and damaged text",
    "robustness": "the same under more and more typos: the table, and the curves of known methods",
    "bert": "LOVE inside a BERT-like model, by three strategies, under more and more typos",
    "ablation": "LOVE with one part changed or left out",
    "shrink": "ways to shrink the unit vocabulary",
    "temperature": "τ of the contrastive loss",
    "augmentation": "each augmentation alone, and in pairs: heatmaps",
    "clusters-figure": "words of three topics and three misspellings on a plane, for three models",
    "attention-figure": "what attends to what in `bec0me`",
}


def run_experiments(
    name: str,
    *,
    output: str,
    progress: Progress,
    target: str | None,
    data: str | None,
    learning_rates: Sequence[float],
    redraw: bool,
    share: str | None,
    transformer: str | None,
    love: str | None,
    distilled: str | None,
    precision: str,
    epochs: int,
    sentences: int | None,
    tested: int | None,
    **settings: Any,
) -> Iterator[str]:
    """Run the experiment `name`, or `all` of them (bert only with a transformer), and yield the page of each.

    Arguments are the flags of `lovevec reproduce`; `settings` those that both kinds of bench have: device, seed, seeds,
    quick, tasks, methods. With `redraw` pages are made from the scores in the folder `output`; with a `share` K/N, for
    bert, that part of the runs is done and there is no page.
    """
    names = [name] if name != "all" else [each for each in EXPERIMENTS if each != "bert" or transformer]
    if redraw:
        yield from (redraw_page(each, Path(output), progress) for each in names)
        return
    refuse_less_than_one(seeds=settings["seeds"])
    rates = check_rates(learning_rates)
    settings |= {"folder": Path(output), "data": data_folder(data), "progress": progress}

    def open_bench() -> Bench:
        return Bench.open(target, rates=rates or RATES, **settings)

    def open_bert() -> TransformerBench:
        refuse_bad_folder(output)
        fine: dict[str, Any] = {"precision": precision, "epochs": epochs, "sentences": sentences, "tested": tested}
        return TransformerBench.open(transformer, rates=rates, love=love, distilled=distilled, **fine, **settings)

    if share:
        if name != "bert":
            others = f"share others out by {Parameter('methods')} and {Parameter('tasks')}"
            raise LovevecError(f"{Parameter('share', share)}: for bert only; {others}")
        part = share_of(share)
        open_bert().fill(part)
        return
    bench = open_bench() if names != ["bert"] else None
    bert = open_bert() if "bert" in names else None
    for each in names:
        progress.say(f"{each}: {EXPERIMENTS[each]}")
        chosen = bert if each == "bert" else bench
        assert chosen is not None
        yield reproduce(each, chosen)


class Experiment(Protocol):
    """What each module of an experiment has."""

    def measure(self, bench: Bench | TransformerBench) -> dict[str, Any]:
        """Plain values for JSON."""
        ...

    def page(self, scores: Mapping[str, Any]) -> str:
        """Markdown."""
        ...

    def pictures(self, scores: Mapping[str, Any]) -> Pictures:
        """What to draw, by file name."""
        ...


def experiment(name: str) -> Experiment:
    """The module of an experiment."""
    if name not in EXPERIMENTS:
        raise LovevecError(f"{name}: no such experiment; there are {', '.join(EXPERIMENTS)}")
    if name in ("ablation", "shrink", "temperature"):
        return cast(Experiment, getattr(import_module("lovevec_lab.reproduce.variants"), name.upper()))
    return cast(Experiment, import_module(f"lovevec_lab.reproduce.{name.replace('-', '_')}"))


def reproduce(name: str, bench: Bench | TransformerBench) -> str:
    """Measure (what a stopped run had done is not done again), write JSON, page and pictures; returns the page."""
    module = experiment(name)
    folder = refuse_bad_folder(bench.folder)
    scores = module.measure(bench)
    page = module.page(scores)
    for line in Result(name, bench.settings(), scores, page, module.pictures(scores)).write(folder):
        bench.progress.say(line)
    return page


def redraw_page(name: str, folder: Path, progress: Progress) -> str:
    """Page and pictures once more, from the scores that `reproduce` wrote: after a run on another machine, say."""
    module, file = experiment(name), folder / f"{name}.json"
    try:
        scores = json.loads(file.read_text("utf-8"))["scores"]
        page, pictures = module.page(scores), module.pictures(scores)
    except (OSError, ValueError, KeyError, TypeError):
        raise LovevecError(f"{file}: no results of an earlier run there to draw again; measure first") from None
    for line in write_page(folder, name, page, pictures):
        progress.say(line)
    return page
