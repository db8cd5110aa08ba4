"""Table "Robust evaluation" and Figures "typo impact" and "different methods under typos": what is left of a downstream
model's score as more and more words are damaged. Known words keep their vectors; the methods differ in what an unknown
word gets: nothing, one vector for all, characters read by a network inside the model, the nearest spelling, LOVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec_lab.evaluate.results import HEADER, Pictures
from lovevec_lab.reproduce.bench import CHAR_CNN, NEAR, TARGET, TASKS, WITH_LOVE, WITH_RECIPE, Bench
from lovevec_lab.reproduce.extrinsic import SPELLERS, TITLES, rows_of
from lovevec_lab.reproduce.pages import (
    OCR,
    TYPOS,
    damage_table,
    mean_over,
    page_of,
    rates_line,
    seeds_of,
    size_and_speed,
    standing,
)
from lovevec_lab.reproduce.published import NOISES, ROBUSTNESS

METHODS = (TARGET, "Random", "UNK", CHAR_CNN, *SPELLERS, WITH_LOVE, WITH_RECIPE, NEAR)


def measure(bench: Bench) -> dict[str, Any]:
    """Every method on every dataset under all damage."""
    tasks = bench.select(list(TASKS), "tasks")
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
    """Two tables for each dataset: the paper's columns, and typos in each sentence."""
    parts = []
    for task in scores["tasks"]:
        rows = rows_of(scores, task)
        cells = {name: size_and_speed(entry) for name, entry in scores["methods"].items()}
        paper = {name: entry[task] for name, entry in ROBUSTNESS.items() if task in entry}
        parts += [
            f"## {TITLES[task]}, {TASKS[task].measure}",
            damage_table(rows, OCR, paper, TARGET, HEADER, cells),
            damage_table(rows, TYPOS, {}, TARGET),
            "\n".join(filter(None, [_gain(rows, paper), _standing(rows), f"- {rates_line(rows)}"])),
        ]
    entries = [entry for task in scores["tasks"] for entry in rows_of(scores, task).values()]
    return page_of(
        "Robustness",
        scores,
        "Accuracy and entity F1, x 100, with OCR confusions in so many per cent of the test words, and with so many"
        " words of each sentence mistyped (a swap, a drop, an insertion or a neighboring key). Trained and chosen on"
        " original text; all rows meet the same damage. Known words keep their own vectors in every row. *gain*: of the"
        f" mean over the target alone. {seeds_of(entries)}",
        *parts,
    )


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """The curves, a panel for each dataset."""
    from lovevec_lab.figures.curves import curve_panels

    def panels(numbers: str) -> dict[str, dict[str, list[float]]]:
        return {
            TITLES[task]: {
                name: [entry[numbers][label] for label in OCR] for name, entry in rows_of(scores, task).items()
            }
            for task in scores["tasks"]
        }

    def draw(path: Any) -> None:
        curve_panels(
            path,
            panels("test"),
            scores["shares"],
            title="What unknown words get, and what is left of the score",
            x_label="damaged words, %",
            y_label={TITLES[task]: TASKS[task].measure for task in scores["tasks"]},
        )

    return {"robustness.png": draw, "robustness.svg": draw}


def _gain(rows: Mapping[str, Any], paper: Mapping[str, Any]) -> str:
    """What LOVE adds to the target, in the mean, and what it costs on original text."""
    lines = []
    for name in (WITH_LOVE, WITH_RECIPE, NEAR):
        if not {TARGET, name} <= set(rows):
            continue
        gain = mean_over(rows[name], OCR) - mean_over(rows[TARGET], OCR)
        original = rows[name]["test"][OCR[0]] - rows[TARGET]["test"][OCR[0]]
        theirs = ""
        if name in paper:
            more = sum(paper[name]) / len(paper[name]) - sum(paper[TARGET]) / len(paper[TARGET])
            theirs = f" (paper: {more:+.1f} and {paper[name][0] - paper[TARGET][0]:+.1f})"
        lines.append(f"- {name}: {gain:+.1f} in the mean of the sweep, {original:+.1f} on original text{theirs}.")
    return "\n".join(lines)


def _standing(rows: Mapping[str, Any]) -> str:
    """Where LOVE + near stands among all rows."""
    if NEAR not in rows or len(rows) == 1:
        return ""
    labels = [*OCR[1:], *TYPOS[1:]]
    first, within, behind = standing(rows, NEAR, labels)
    best = max(float(row["test"][OCR[0]]) for row in rows.values())
    text = f"- {NEAR} is first in {first} of the {len(labels)} damaged columns"
    text += f", and the first lies within its deviation in {within} more" if within else ""
    text += f"; behind in {', '.join(behind)}" if behind else ""
    return f"{text}. On original text: {rows[NEAR]['test'][OCR[0]] - best:+.1f} from the best."
