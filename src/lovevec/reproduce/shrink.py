"""Table "Performance of different shrinkage strategies": the unit vocabulary whole, and made smaller in four ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec.evaluate.results import Pictures
from lovevec.reproduce.bench import Bench
from lovevec.reproduce.pages import VARIANTS_EXPLAINED, measure_variants, page_of, variant_table
from lovevec.reproduce.published import SHRINK

VARIANTS = {name: {"shrink": name} for name in SHRINK}


def measure(bench: Bench) -> dict[str, Any]:
    """Train and score each variant."""
    return measure_variants(bench, VARIANTS)


def page(scores: Mapping[str, Any]) -> str:
    """The paper's table, with three columns more."""
    ways = "none: every piece has its row. factor: rows of 200 numbers times a matrix. top: the 20,000 most used units."
    more = "hash: 20,000 rows shared by hashing. stem: whole words stemmed, pieces with numerals dropped (LOVE's own)."
    return page_of(
        "Shrinking the vocabulary", scores, VARIANTS_EXPLAINED, variant_table(scores, SHRINK), f"{ways} {more}"
    )


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """None: the table says it."""
    return {}
