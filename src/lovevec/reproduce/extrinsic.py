"""Table "Performance on the extrinsic tasks": text classification and tagging on original text and on text where OCR
confusions have damaged 70 % of the words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec.evaluate.results import HEADER, Cell, Pictures
from lovevec.reproduce.bench import RECIPE, TARGET, TASKS, WITH_LOVE, Bench, original_and_typo
from lovevec.reproduce.pages import beside, mean, page_of, size_and_speed
from lovevec.reproduce.published import EXTRINSIC

METHODS = (TARGET, "Edit Distance", "SymSpell", "MIMICK", "BoS", "KVQ-FH", "PBoS", "LOVE", RECIPE, WITH_LOVE)
TITLES = {"sst2": "SST2", "mr": "MR", "conll03": "CoNLL-03", "bc2gm": "BC2GM"}


def measure(bench: Bench) -> dict[str, Any]:
    """Every method on every dataset; trained and chosen on clean text, tested on both."""
    tasks = bench.select(list(TASKS), "tasks")
    bench.need(*tasks)
    scores: dict[str, Any] = {}
    for name in bench.select(METHODS, "methods"):
        method = bench.method(name)
        scores[name] = {
            **bench.size_and_speed(method),
            "tasks": {task: bench.downstream(method, task) for task in tasks},
        }
    return {"target": bench.describe_target(), "tasks": tasks, "methods": scores}


def page(scores: Mapping[str, Any]) -> str:
    """The paper's table."""
    tasks = scores["tasks"]
    rows = {name: _row(entry, tasks) for name, entry in scores["methods"].items()}
    paper = {name: _paper(entry, tasks) for name, entry in EXTRINSIC.items()}
    header = [*HEADER]
    for task in tasks:
        header += [TITLES[task], "+ typo"]
    return page_of(
        "Extrinsic tasks",
        scores,
        "Accuracy (SST2, MR) and entity F1 (CoNLL-03, BC2GM), x 100. Trained on the original text; the best of the"
        " learning rates on dev is tested, on the original text and with OCR confusions in 70 % of the words. Rows of"
        " the learned models: every word's vector is made from its spelling.",
        beside([*header, "Avg"], rows, paper),
    )


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """None: the table says it."""
    return {}


def _row(entry: Mapping[str, Any], tasks: list[str]) -> list[Cell]:
    numbers = [number for task in tasks for number in original_and_typo(entry["tasks"][task])]
    return [*size_and_speed(entry), *numbers, mean(numbers)]


def _paper(entry: Mapping[str, tuple[float | None, float]], tasks: list[str]) -> list[Cell]:
    numbers = [number for task in tasks for number in entry[task]]
    known = [number for number in numbers if number is not None]
    return [None, None, None, *numbers, mean(known) if len(known) == len(numbers) else None]
