"""The experiments by name, and how one is run: measured once, then shown as a page and pictures.

Each is a module, or an object, with three functions: `measure(bench)` gives plain values for JSON, `page(scores)` their
Markdown with the paper's numbers beside ours, `pictures(scores)` what to draw. `bert` has a bench of its own, with a
transformer in the place of the target.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.evaluate.results import Pictures, Result, refuse_bad_folder, write_page
from lovevec_lab.reproduce.bench import Bench
from lovevec_lab.reproduce.transformer_bench import TransformerBench

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


def redraw(name: str, folder: Path, progress: Progress) -> str:
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
