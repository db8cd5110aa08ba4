"""Table "Performances of contrastive loss with various temperature": how hard near misses are pushed away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec.evaluate.results import Pictures
from lovevec.reproduce.bench import Bench
from lovevec.reproduce.pages import VARIANTS_EXPLAINED, measure_variants, page_of, variant_table
from lovevec.reproduce.published import TEMPERATURE

VARIANTS = {f"τ = {value:g}": {"temperature": value} for value in TEMPERATURE}
PAPER = {f"τ = {value:g}": numbers for value, numbers in TEMPERATURE.items()}


def measure(bench: Bench) -> dict[str, Any]:
    """Train and score each variant."""
    return measure_variants(bench, VARIANTS)


def page(scores: Mapping[str, Any]) -> str:
    """The paper's table, with three columns more."""
    return page_of("Temperature", scores, VARIANTS_EXPLAINED, variant_table(scores, PAPER))


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """None: the table says it."""
    return {}
