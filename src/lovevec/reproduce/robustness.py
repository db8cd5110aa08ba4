"""Table "Robust evaluation" and Figures "typo impact" and "different methods under typos": what is left of a downstream
model's score as more and more words are damaged. Known words keep their vectors; the methods differ in what an unknown
word gets: nothing, one vector for all, characters read by a network inside the model, the nearest spelling, LOVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec.evaluate.results import HEADER, Cell, Pictures
from lovevec.reproduce.bench import CHAR_CNN, TARGET, WITH_LOVE, WITH_RECIPE, Bench
from lovevec.reproduce.extrinsic import TITLES
from lovevec.reproduce.pages import beside, mean, page_of, size_and_speed
from lovevec.reproduce.published import NOISES, ROBUSTNESS

METHODS = (TARGET, "Random", "UNK", CHAR_CNN, "Edit Distance", WITH_LOVE, WITH_RECIPE)
TASKS = ("sst2", "conll03")


def measure(bench: Bench) -> dict[str, Any]:
    """Every method on both datasets at every share of damaged words."""
    tasks = bench.select(TASKS, "tasks")
    methods = bench.select(METHODS, "methods")
    bench.need(*tasks)
    scores = {
        name: {
            **bench.size_and_speed(bench.method(name)),
            "tasks": {task: bench.downstream(bench.method(name), task) for task in tasks},
        }
        for name in methods
    }
    return {"target": bench.describe_target(), "tasks": tasks, "shares": list(NOISES), "methods": scores}


def page(scores: Mapping[str, Any]) -> str:
    """A table for each dataset: the paper's columns and the mean over them."""
    header = [*HEADER, *("original" if share == 0 else f"{share} %" for share in scores["shares"]), "mean"]
    parts = []
    for task in scores["tasks"]:
        rows: dict[str, list[Cell]] = {
            name: [*size_and_speed(entry), *_row(list(entry["tasks"][task]["test"].values()))]
            for name, entry in scores["methods"].items()
        }
        paper = {name: [None, None, None, *_row(list(entry[task]))] for name, entry in ROBUSTNESS.items()}
        parts += [f"## {TITLES[task]}", beside(header, rows, paper), _gain(scores, task)]
    return page_of(
        "Robustness",
        scores,
        "Accuracy (SST2) and entity F1 (CoNLL-03), x 100, with OCR confusions in so many per cent of the test words."
        " Trained and chosen on original text. Known words keep their own vectors in every row.",
        *parts,
    )


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """The curves, a panel for each dataset."""
    from lovevec.figures.curves import curve_panels

    panels = {
        TITLES[task]: {name: list(entry["tasks"][task]["test"].values()) for name, entry in scores["methods"].items()}
        for task in scores["tasks"]
    }

    def draw(path: Any) -> None:
        curve_panels(
            path,
            panels,
            scores["shares"],
            title="What unknown words get, and what is left of the score",
            x_label="damaged words, %",
            y_label={"SST2": "accuracy", "CoNLL-03": "entity F1"},
        )

    return {"robustness.png": draw, "robustness.svg": draw}


def _row(numbers: list[float]) -> list[Cell]:
    return [*numbers, mean(numbers)]


def _gain(scores: Mapping[str, Any], task: str) -> str:
    """What LOVE adds to the target, in the mean, and what it costs on original text."""
    if not {TARGET, WITH_LOVE} <= set(scores["methods"]):
        return ""
    alone, plugged = (list(scores["methods"][name]["tasks"][task]["test"].values()) for name in (TARGET, WITH_LOVE))
    theirs = {name: entry[task] for name, entry in ROBUSTNESS.items()}
    gain = mean(theirs[WITH_LOVE]) - mean(theirs[TARGET])
    return (
        f"With LOVE: {mean(plugged) - mean(alone):+.1f} in the mean (paper {gain:+.1f}),"
        f" {plugged[0] - alone[0]:+.1f} on original text (paper {theirs[WITH_LOVE][0] - theirs[TARGET][0]:+.1f})."
    )
