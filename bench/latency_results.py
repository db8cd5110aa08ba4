"""docs/results/latency.md from what bench/latency.py measured; tests/test_latency_page.py compares."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from serve_results import place_of

from lovevec.files import write_json
from lovevec_lab.evaluate.results import Cell, markdown

NAME = "latency"
Row = dict[str, Any]


def write_results(results: Path, found: dict[str, Any]) -> None:
    """The data of a run, and the page anew."""
    (results / "data").mkdir(parents=True, exist_ok=True)
    write_json(results / "data" / f"{NAME}.json", found)
    write_page(results)
    print(f"written: {results / 'data' / f'{NAME}.json'}, {results / f'{NAME}.md'}")


def write_page(results: Path) -> None:
    """The page anew, of the data that is there."""
    (results / f"{NAME}.md").write_text(
        page(json.loads((results / "data" / f"{NAME}.json").read_text("utf-8"))), "utf-8"
    )


def page(found: dict[str, Any]) -> str:
    """The page: a table for each kind of call, one for processes."""
    parts = [
        f"<!-- made by bench/latency.py from data/{NAME}.json -->",
        "# One call at a time",
        place_of(found),
        "`python bench/latency.py`, part of `make bench`: one process, one call after the other, each with a string"
        f" that it has not met; {found['rounds']} rounds, in each of which all ways have their turn on the same"
        " strings. Of a call: the median, and what 99 of 100 take at most. × a rival: our time by its time (less than 1"
        " is quicker), the median over the rounds. Rivals give less: symspellpy a word without a vector, fastText a"
        " vector without a reading, spaCy's own vectors zeros for what their table lacks.",
        *(part for name, rows in found["calls"].items() for part in (f"## {name}", markdown(*call_table(rows), 2))),
        "## A process",
        f"Each one anew, {len(found['processes'][0]['values'])} times in turn; medians.",
        markdown(("", "measured", "asked", "met"), [process_row(one) for one in found["processes"]]),
        *([f"Not installed, and left out: {', '.join(found['missing'])}."] if found["missing"] else []),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def call_table(rows: Sequence[Row]) -> tuple[list[str], list[list[Cell]]]:
    """Header and rows: µs, ratios to the rivals on the same strings, what was asked."""
    rivals = {(row["call"], row["of"]): row for row in rows if row["rival"]}
    names = list(dict.fromkeys(call for call, _ in rivals))
    bars = any(row["asked_us"] is not None for row in rows)
    table: list[list[Cell]] = []
    for row in rows:
        ratios = [ratio(row, rivals.get((name, row["of"]))) for name in names]
        asked = asked_cells(row, rivals.get((row["over"], row["of"]))) if bars else []
        p99 = shown(row["p99_us"]) if row["calls"] >= 100 else None  # of fewer it is the slowest, by chance
        table.append([row["call"], row["of"], shown(row["median_us"]), p99, row["calls"], *ratios, *asked])
    header = ["", "of", "µs", "p99", "calls", *(f"× {name}" for name in names)]
    return header + (["asked, µs", "met"] if bars else []), table


def ratio(row: Row, rival: Row | None) -> float | int | None:
    """A way's time by a rival's; None for the rival itself, and where it was not measured on these strings."""
    if rival is None or row["rival"]:
        return None
    pairs = zip(row["rounds_us"], rival["rounds_us"], strict=True)
    return shown(statistics.median(ours / other for ours, other in pairs))


def asked_cells(row: Row, rival: Row | None) -> list[Cell]:
    """The bar, and whether the median meets it; what is asked over a rival's time is met by the difference."""
    asked = row["asked_us"]
    if asked is None:
        return ["", ""]
    if row["over"] is None:
        return [f"≤ {asked:,}", met(row["median_us"] <= asked)]
    bar = f"≤ {asked:,} over {row['over']}"
    return [bar, "" if rival is None else met(row["median_us"] - rival["median_us"] <= asked)]


def process_row(one: Row) -> tuple[str, str, str, str]:
    """What a process took, and whether that is what was asked."""
    value, unit, asked = statistics.median(one["values"]), one["unit"], one["asked"]
    bar = "" if asked is None else f"≤ {asked:,} {unit}"
    return one["what"], f"{value:,.0f} {unit}", bar, "" if asked is None else met(value <= asked)


def met(yes: bool) -> str:
    """As a cell."""
    return "yes" if yes else "**no**"


def shown(value: float) -> float | int:
    """A whole number from 100 on, where digits after the point mean nothing."""
    return round(value) if value >= 100 else value
