"""Tables of LOVE with something changed: "Ablation studies", "Performance of different shrinkage strategies",
"Performances of contrastive loss with various temperature". Scored on the similarity sets, misspellings and SST2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lovevec.train.augmentation import AUGMENTATIONS
from lovevec_lab.evaluate.results import HEADER, Cell, Pictures
from lovevec_lab.reproduce import published
from lovevec_lab.reproduce.bench import Bench
from lovevec_lab.reproduce.pages import beside, mean, page_of, size_and_speed

COLUMNS: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "RareWord": lambda score: score["similarity"]["all"]["RareWord"],
    "SST2": lambda score: score["sst2"][0],
    "six sets": lambda score: mean(list(score["similarity"]["all"].values())),
    "Birkbeck": lambda score: score["misspellings"],
    "SST2 + typo": lambda score: score["sst2"][1],
}
EXPLAINED = (
    "RareWord and the mean of the six similarity sets: Spearman's ρ x 100; Birkbeck: per cent of 5,000 misspellings"
    " with the right word among the ten nearest; SST2: accuracy on original text and with OCR confusions in 70 % of the"
    " words, by the CNN on made vectors (see extrinsic). The paper has RareWord and SST2."
)
SHRINKING = (
    "none: every piece has its row. factor: rows of 200 numbers times a matrix. top: the 20,000 most used units. hash:"
    " 20,000 rows shared by hashing. stem: whole words stemmed, pieces with numerals dropped (LOVE's own)."
)


@dataclass(frozen=True)
class VariantTable:
    """One of the tables: its variants by name, each the settings that differ from LOVE's, and the paper's numbers."""

    title: str
    variants: Mapping[str, Mapping[str, Any]]
    paper: Mapping[str, tuple[float, float]]
    legend: str = ""

    def measure(self, bench: Bench) -> dict[str, Any]:
        """Train and score each variant."""
        return measure_variants(bench, self.variants)

    def page(self, scores: Mapping[str, Any]) -> str:
        """The paper's table, with three columns more."""
        rows = {name: self._row(entry["seeds"]) for name, entry in scores["variants"].items()}
        paper = {name: [None, None, None, *numbers] for name, numbers in self.paper.items()}
        header = (*HEADER, *COLUMNS)
        return page_of(self.title, scores, f"{EXPLAINED} {_seeds(scores)}", beside(header, rows, paper), self.legend)

    def pictures(self, scores: Mapping[str, Any]) -> Pictures:
        """None: the table says it."""
        return {}

    def _row(self, scores: Sequence[Mapping[str, Any]]) -> list[Cell]:
        return [*size_and_speed(scores[0]), *(_cell(scores, column) for column in COLUMNS)]


def measure_variants(bench: Bench, variants: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Train and score each; finished ones are kept."""
    chosen = bench.select(list(variants), "methods")
    bench.need(*published.SIMILARITY, "birkbeck", *(["sst2"] if bench.wants("sst2") else []))
    return {
        "target": bench.describe_target(),
        "variants": {
            name: {"settings": dict(variants[name]), "seeds": bench.variant_scores(variants[name])} for name in chosen
        },
    }


def numbers_of(scores: Sequence[Mapping[str, Any]], column: str) -> list[float]:
    """A column's number for each seed; none where it was not measured."""
    if column.startswith("SST2") and not all("sst2" in score for score in scores):
        return []
    return [float(COLUMNS[column](score)) for score in scores]


def _cell(scores: Sequence[Mapping[str, Any]], column: str) -> Cell:
    numbers = numbers_of(scores, column)
    if len(numbers) < 2:
        return numbers[0] if numbers else None
    return f"{mean(numbers):.1f} ± {float(np.std(numbers, ddof=1)):.1f}"


def _seeds(scores: Mapping[str, Any]) -> str:
    count = max(len(entry["seeds"]) for entry in scores["variants"].values())
    return f"Means over {count} models trained with other seeds, ± their standard deviation." if count > 1 else ""


NO_AUGMENTATION = {**dict.fromkeys(AUGMENTATIONS, 0.0), "none": 1.0}
ABLATION = VariantTable(
    "Ablation",
    {
        "LOVE": {},
        "characters only": {"input": "chars"},
        "pieces only": {"input": "pieces"},
        "CNN": {"encoder": "cnn"},
        "RNN": {"encoder": "rnn"},
        "self-attention": {"encoder": "attention"},
        "MSE": {"loss": "mse"},
        "alignment + uniformity": {"loss": "alignment"},
        "no hard negatives": {"hard_negatives": 0},
        "no hard negatives and no augmentation": {"hard_negatives": 0, **NO_AUGMENTATION},
    },
    published.ABLATION,
)
SHRINK = VariantTable(
    "Shrinking the vocabulary", {name: {"shrink": name} for name in published.SHRINK}, published.SHRINK, SHRINKING
)
TEMPERATURE = VariantTable(
    "Temperature",
    {f"τ = {value:g}": {"temperature": value} for value in published.TEMPERATURE},
    {f"τ = {value:g}": numbers for value, numbers in published.TEMPERATURE.items()},
)
