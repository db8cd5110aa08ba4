"""Table "Performance on the extrinsic tasks": text classification and tagging on original text and on text where OCR
confusions have damaged 70 % of the words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec_lab.evaluate.results import HEADER, Cell, Pictures
from lovevec_lab.reproduce.bench import NEAR, RECIPE, TARGET, TASKS, WITH_LOVE, WITH_RECIPE, Bench
from lovevec_lab.reproduce.pages import OCR, beside, mean, page_of, rates_line, seeds_of, size_and_speed, with_spread
from lovevec_lab.reproduce.published import EXTRINSIC

SPELLERS = ("Edit Distance", "SymSpell", "GNU Aspell")
METHODS = (TARGET, *SPELLERS, "MIMICK", "BoS", "KVQ-FH", "PBoS", "LOVE", RECIPE, WITH_LOVE, WITH_RECIPE, NEAR)
SHOWN = (OCR[0], OCR[-2])  # original text, and 70 % of the words damaged
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
    by_task = {task: rows_of(scores, task) for task in tasks}
    entries = [entry for rows_of_task in by_task.values() for entry in rows_of_task.values()]
    chosen = [f"- {TITLES[task]}: {rates_line(rows_of_task)}" for task, rows_of_task in by_task.items()]
    return page_of(
        "Extrinsic tasks",
        scores,
        "Accuracy (SST2, MR) and entity F1 (CoNLL-03, BC2GM), x 100. Trained on the original text; for each seed the"
        " learning rate that is best on dev is tested, on the original text and with OCR confusions in 70 % of the"
        " words. Rows of the learned models alone: every word's vector is made from its spelling; in the others"
        f" known words keep their own. {seeds_of(entries)}",
        beside([*header, "Avg"], rows, paper),
        "\n".join(chosen),
    )


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """None: the table says it."""
    return {}


def rows_of(scores: Mapping[str, Any], task: str) -> dict[str, Any]:
    """The methods that were measured on a dataset."""
    return {name: entry["tasks"][task] for name, entry in scores["methods"].items() if task in entry["tasks"]}


def _row(entry: Mapping[str, Any], tasks: list[str]) -> list[Cell]:
    cells: list[Cell] = []
    numbers: list[float] = []
    for task in tasks:
        score = entry["tasks"].get(task)
        cells += [with_spread(score, label) if score else None for label in SHOWN]
        numbers += [float(score["test"][label]) for label in SHOWN] if score else []
    whole = len(numbers) == len(cells)
    return [*size_and_speed(entry), *cells, mean(numbers) if whole else None]


def _paper(entry: Mapping[str, tuple[float | None, float]], tasks: list[str]) -> list[Cell]:
    numbers = [number for task in tasks for number in entry[task]]
    known = [number for number in numbers if number is not None]
    return [None, None, None, *numbers, mean(known) if len(known) == len(numbers) else None]
