"""Tables "Robust evaluation" (BERT) and "Performances of different strategies that work with BERT together".

A transformer is fine-tuned on clean text, plain, behind a speller, or with LOVE inside by one of three strategies, and
the same model is tested on text with more and more damage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lovevec_lab.evaluate.results import Cell, Pictures
from lovevec_lab.reproduce.bench import SWEEP, TASKS
from lovevec_lab.reproduce.extrinsic import TITLES
from lovevec_lab.reproduce.pages import OCR, QUICK, TYPOS, chosen_rates, damage_table, mean, seeds_of
from lovevec_lab.reproduce.published import BERT_ROBUSTNESS, BERT_TYPOS
from lovevec_lab.reproduce.transformer_bench import PLAIN, TransformerBench


def measure(bench: TransformerBench) -> dict[str, Any]:
    """Every row on every dataset under every noise."""
    tasks, methods = bench.chosen_tasks, bench.chosen_methods
    scores = {name: {"tasks": {task: bench.score(task, name) for task in tasks}} for name in methods}
    return {"transformer": {"name": bench.shown, "quick": bench.quick}, "tasks": tasks, "methods": scores}


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
            chosen_rates(rows),
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
