"""What the pages share: a heading that names the target, our rows with the paper's below them, scores under damage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lovevec_lab.evaluate.results import Cell, markdown, method_cells
from lovevec_lab.methods.method import Parameters
from lovevec_lab.reproduce.bench import COUNTED, SWEEP

PAPER = "· in the paper"
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


OCR = [noise.label for noise in SWEEP]
TYPOS = [OCR[0], *(noise.label for noise in COUNTED)]


def with_spread(entry: Mapping[str, Any], label: str) -> Cell:
    """A score with the standard deviation over seeds, where there are several."""
    score = float(entry["test"][label])
    return f"{score:.1f} ± {entry['spread'][label]:.1f}" if len(entry["rates"]) > 1 else score


def mean_over(entry: Mapping[str, Any], labels: Sequence[str]) -> float:
    """The mean over the noises."""
    return mean([float(entry["test"][label]) for label in labels])


def damage_table(
    rows: Mapping[str, Mapping[str, Any]],
    labels: Sequence[str],
    paper: Mapping[str, Sequence[float]],
    plain: str,
    header: Sequence[str] = ("method",),
    cells: Mapping[str, Sequence[Cell]] | None = None,
    last: Mapping[str, Cell] | None = None,
) -> str:
    """Methods under more and more damage: scores by noise, their mean, and its gain over the row `plain`; ours beside
    the paper's. `cells` stand behind a name and `last` in the end of its row."""
    shown: dict[str, list[Cell]] = {}
    base = mean_over(rows[plain], labels) if plain in rows else None
    for name, entry in rows.items():
        own = mean_over(entry, labels)
        gain = "" if base is None or name == plain else f"{own - base:+.1f}"
        shown[name] = [*(cells or {}).get(name, ()), *(with_spread(entry, label) for label in labels), own, gain]
    theirs: dict[str, list[Cell]] = {}
    for name, numbers in paper.items():
        gain = f"{mean(numbers) - mean(paper[plain]):+.1f}" if name != plain else ""
        theirs[name] = [*[None] * (len(header) - 1), *numbers, mean(numbers), gain]
    titles = [*header, *(label.removeprefix("ocr ") for label in labels), "mean", "gain"]
    if last is not None:
        titles.append("dev")
        shown = {name: [*row, last[name]] for name, row in shown.items()}
    return beside(titles, shown, theirs)


def rates_line(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The learning rates of the seeds; one at the end of the list says that the list is too short."""
    chosen = "; ".join(f"{name} {', '.join(f'{rate:g}' for rate in entry['rates'])}" for name, entry in rows.items())
    tried = sorted({run["rate"] for entry in rows.values() for run in entry["runs"]}, reverse=True)
    return f"Learning rates chosen, of {', '.join(f'{rate:g}' for rate in tried)}: {chosen}."


def standing(rows: Mapping[str, Mapping[str, Any]], name: str, labels: Sequence[str]) -> tuple[int, int, list[str]]:
    """In how many columns a method is first, in how many others the first lies within its standard deviation, and
    which columns are left."""
    first, within, behind = 0, 0, []
    for label in labels:
        own, best = (float(x) for x in (rows[name]["test"][label], max(row["test"][label] for row in rows.values())))
        if own >= best:
            first += 1
        elif own + float(rows[name]["spread"][label]) >= best:
            within += 1
        else:
            behind.append(f"{label.removeprefix('ocr ')} ({own - best:.1f})")
    return first, within, behind


def seeds_of(entries: Iterable[Mapping[str, Any]]) -> str:
    """What a page says of the seeds behind its scores."""
    seeds = max(len(entry["rates"]) for entry in entries)
    return f"Means over {seeds} seeds, ± their standard deviation." if seeds > 1 else "One seed."
