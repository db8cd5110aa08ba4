"""What the small tables share: LOVE with something changed, scored on the similarity sets and on SST2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec.evaluate.markdown import Cell
from lovevec.reproduce.bench import Bench
from lovevec.reproduce.pages import HEADER, beside, mean, size_and_speed
from lovevec.reproduce.published import SIMILARITY

COLUMNS = ("RareWord", "SST2", "six sets", "SST2 + typo")
EXPLAINED = (
    "RareWord and the mean of the six similarity sets: Spearman's ρ x 100; SST2: accuracy on original text and with OCR"
    " confusions in 70 % of the words, by the CNN on made vectors (see extrinsic). The paper has RareWord and SST2."
)


def measure_variants(bench: Bench, variants: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Train and score each; finished ones are kept."""
    chosen = bench.select(list(variants), "methods")
    bench.need(*SIMILARITY, *(["sst2"] if bench.wants("sst2") else []))
    return {
        "target": bench.describe_target(),
        "variants": {
            name: {"settings": dict(variants[name]), **bench.variant_scores(variants[name])} for name in chosen
        },
    }


def variant_table(scores: Mapping[str, Any], paper: Mapping[str, tuple[float, float]]) -> str:
    """Ours beside the paper's."""
    rows = {name: _row(found) for name, found in scores["variants"].items()}
    return beside((*HEADER, *COLUMNS), rows, {name: [None, None, None, *numbers] for name, numbers in paper.items()})


def _row(found: Mapping[str, Any]) -> list[Cell]:
    similar = found["similarity"]["all"]
    clean, damaged = found.get("sst2", (None, None))
    return [*size_and_speed(found), similar["RareWord"], clean, mean(list(similar.values())), damaged]
