"""Table "Ablation studies": LOVE with another input, encoder or loss, without hard negatives, without augmentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec.evaluate.results import Pictures
from lovevec.reproduce.bench import Bench
from lovevec.reproduce.pages import VARIANTS_EXPLAINED, measure_variants, page_of, variant_table
from lovevec.reproduce.published import ABLATION

NO_AUGMENTATION = {"swap": 0.0, "drop": 0.0, "insert": 0.0, "keyboard": 0.0, "synonym": 0.0, "none": 1.0}
VARIANTS: dict[str, dict[str, Any]] = {
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
}


def measure(bench: Bench) -> dict[str, Any]:
    """Train and score each variant."""
    return measure_variants(bench, VARIANTS)


def page(scores: Mapping[str, Any]) -> str:
    """The paper's table, with three columns more."""
    return page_of("Ablation", scores, VARIANTS_EXPLAINED, variant_table(scores, ABLATION))


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """None: the table says it."""
    return {}
