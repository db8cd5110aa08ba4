"""What the pages share: a heading that names the target, our rows with the paper's below them; and what the small
tables share, of LOVE with something changed, scored on the similarity sets and on SST2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lovevec.evaluate.results import HEADER, Cell, markdown, method_cells
from lovevec.methods.method import Parameters
from lovevec.reproduce.bench import Bench
from lovevec.reproduce.published import SIMILARITY

PAPER = "· in the paper"
VARIANT_COLUMNS = ("RareWord", "SST2", "six sets", "SST2 + typo")
VARIANTS_EXPLAINED = (
    "RareWord and the mean of the six similarity sets: Spearman's ρ x 100; SST2: accuracy on original text and with OCR"
    " confusions in 70 % of the words, by the CNN on made vectors (see extrinsic). The paper has RareWord and SST2."
)
QUICK = "Measured with --quick: numbers that only show that everything runs."


def page_of(title: str, scores: Mapping[str, Any], *parts: str) -> str:
    """Title, target, then the parts."""
    target = scores["target"]
    about = (
        f"Target: {target['name']}, {target['words']:,} words of {target['dim']} dimensions. The paper's target is"
        " fasttext-crawl-300d-2M: compare orders and gaps rather than numbers."
    )
    quick = QUICK if target.get("quick") else ""
    return "\n\n".join(part.strip() for part in (f"# {title}", about, quick, *parts) if part.strip()) + "\n"


def beside(header: Sequence[str], rows: Mapping[str, Sequence[Cell]], paper: Mapping[str, Sequence[Cell]]) -> str:
    """A table with a row of the paper's numbers, padded with dashes, below each of ours that the paper has."""
    lines: list[Sequence[Cell]] = []
    for name, row in rows.items():
        lines.append((name, *row))
        if name in paper:
            theirs = list(paper[name])
            lines.append((PAPER, *theirs, *[None] * (len(row) - len(theirs))))
    return markdown(header, lines)


def size_and_speed(score: Mapping[str, Any]) -> list[Cell]:
    """The cells under HEADER behind the name."""
    return method_cells("", Parameters(**score["parameters"]), score["words_per_second"])[1:]


def mean(values: Sequence[float]) -> float:
    """The plain mean."""
    return sum(values) / len(values)


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
    rows = {name: _variant_row(score) for name, score in scores["variants"].items()}
    return beside(
        (*HEADER, *VARIANT_COLUMNS), rows, {name: [None, None, None, *numbers] for name, numbers in paper.items()}
    )


def _variant_row(score: Mapping[str, Any]) -> list[Cell]:
    similar = score["similarity"]["all"]
    clean, damaged = score.get("sst2", (None, None))
    return [*size_and_speed(score), similar["RareWord"], clean, mean(list(similar.values())), damaged]
