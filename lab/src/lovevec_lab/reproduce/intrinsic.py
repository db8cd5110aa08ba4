"""Table "Performance on the intrinsic tasks": word similarity and clusters, for the models that learn by mimicry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lovevec_lab.evaluate.results import HEADER, Cell, Pictures
from lovevec_lab.reproduce.bench import RECIPE, TARGET, Bench
from lovevec_lab.reproduce.pages import beside, mean, page_of, size_and_speed
from lovevec_lab.reproduce.published import CLUSTERS, INTRINSIC, SIMILARITY

METHODS = (TARGET, "MIMICK", "BoS", "KVQ-FH", "PBoS", "LOVE", RECIPE)


def measure(bench: Bench) -> dict[str, Any]:
    """All sets for all methods; a word that the target lacks has a vector of zeros there."""
    bench.need(*SIMILARITY, *CLUSTERS)
    scores: dict[str, Any] = {}
    for name in bench.select(METHODS, "methods"):
        method = bench.method(name)
        scores[name] = {
            **bench.size_and_speed(method),
            "similarity": bench.similarity(method),
            "clusters": bench.clusters(method),
        }
    return {"target": bench.describe_target(), "methods": scores}


def page(scores: Mapping[str, Any]) -> str:
    """The paper's table; ours has words a second too."""
    rows = {name: _row(entry) for name, entry in scores["methods"].items()}
    paper = {name: _paper(row) for name, row in INTRINSIC.items()}
    covered = [
        f"{name} has both words of {sum(entry['similarity']['covered'].values()):,} pairs of"
        f" {sum(entry['similarity']['pairs'].values()):,}; on those alone the mean is {_coverage_mean(entry)}."
        for name, entry in scores["methods"].items()
        if entry["similarity"]["covered"] != entry["similarity"]["pairs"]
    ]
    header = (*HEADER, *SIMILARITY, *CLUSTERS, "Avg", "Avg similarity")
    return page_of(
        "Intrinsic tasks",
        scores,
        "Spearman's ρ x 100 of all pairs, purity x 100 (mean over seeds). All vectors of the learned models are made"
        " from the spelling, known words included.",
        beside(header, rows, paper),
        "\n".join(covered),
    )


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """None: the table says it (`lovevec evaluate similarity -o` draws intervals)."""
    return {}


def _coverage_mean(entry: Mapping[str, Any]) -> str:
    covered = [score for score in entry["similarity"]["on_covered"].values() if score is not None]
    return f"{mean(covered):.1f}" if covered else "not to be told"


def _row(entry: Mapping[str, Any]) -> list[Cell]:
    sets = [entry["similarity"]["all"][name] for name in SIMILARITY]
    classes = [entry["clusters"][name] for name in CLUSTERS]
    return [*size_and_speed(entry), *sets, *classes, mean([*sets, *classes]), mean(sets)]


def _paper(row: tuple[Any, ...]) -> list[Cell]:
    numbers = [float(number) for number in row[2:]]
    return [*row[:2], None, *numbers, mean(numbers), mean(numbers[: len(SIMILARITY)])]
