"""docs/results/serve.md, of what bench/serve.py and bench/page.py measured; see tests/serve/test_serve_results.py."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from typing import Any

from lovevec.files import write_json
from lovevec_lab.evaluate.results import machine, markdown, versions

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SPEED, SOAK, PAGE = "serve-speed", "serve-soak", "serve-page"
TOGETHER = 4096  # words of a list of the bare engine: 64 clients of 64
SETTLED = 12  # seconds until a server has given back what it freed


def about() -> dict[str, Any]:
    """Where it is measured, and how busy that is before."""
    return {"machine": machine(), "versions": versions(), "load_average": round(os.getloadavg()[0], 2)}


def write_results(results: Path, name: str, found: dict[str, Any]) -> None:
    """The data of a run, and the page anew."""
    (results / "data").mkdir(parents=True, exist_ok=True)
    write_json(results / "data" / f"{name}.json", found)
    (results / "serve.md").write_text(page(results), "utf-8")
    print(f"written: {results / 'data' / f'{name}.json'}, {results / 'serve.md'}")


def is_clean(found: dict[str, Any]) -> bool:
    """Whether a soak went well."""
    trouble = [status for status in found["statuses"] if status.startswith("5")]
    marks = ("leak", "ended", "tracebacks_logged", "key_logged", "words_logged")
    return not trouble and not any(found[mark] for mark in marks)


def page(results: Path) -> str:
    """The page, of the data that is there."""
    files = {name: results / "data" / f"{name}.json" for name in (SPEED, PAGE, SOAK)}
    data = {name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.is_file()}
    listed = ", ".join(f"data/{name}.json" for name in data)
    missing = [f"Not measured yet: {', '.join(set(files) - set(data))}."] if len(data) < len(files) else []
    shown = {SPEED: speed_part, PAGE: page_part, SOAK: soak_part}
    parts = [
        f"<!-- made by bench/serve.py and bench/page.py from {listed} -->",
        "# The server and its page",
        place_of(next(iter(data.values()))),
        markdown(("what", "bar", "measured", "met"), bars(data)),
        *missing,
        *(part for name, found in data.items() for part in shown[name](found)),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def place_of(found: dict[str, Any]) -> str:
    """Where, in words."""
    where, what = found["machine"], found["versions"]
    load = f"load average {found['load_average']:g} before"
    return f"{where['cores']} cores ({where['machine']}), Python {what['python']}, numpy {what['numpy']}; {load}."


def bars(data: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """What was promised, what was measured, whether that is kept."""
    rows: list[tuple[str, str, str, bool]] = []
    if speed := data.get(SPEED):
        loads = {(one["clients"], one["words"], one["encoding"]): one for one in speed["loads"]}
        first = statistics.median(speed["first_answer_s"])
        p99 = max(loads[8, 1, encoding]["p99_ms"] for encoding in ("base64", "float"))
        share = loads[64, 64, "base64"]["requests_per_s"] * 64 / speed["engine"][str(TOGETHER)]
        one, two, three = (entry["settled_mb"] for entry in speed["memory"])
        rows += [
            ("first answer after the start", "≤ 1.5 s", f"{first:.2f} s", first <= 1.5),
            ("p99, 8 clients of 1 word", "≤ 6 ms", f"{p99:.1f} ms", p99 <= 6),
            ("of the engine's words/s, 64 clients of 64 words", "≥ 60 %", f"{share:.0%}", share >= 0.6),
            ("memory of a server", "≤ 200 MB", f"{one:.0f} MB", one <= 200),
            ("memory of a second worker", "≤ 30 MB", f"{two - one:.0f} MB", two - one <= 30),
            ("memory of a third", "≤ 30 MB", f"{three - two:.0f} MB", three - two <= 30),
        ]
    if shown := data.get(PAGE):
        usable = statistics.median(shown["usable_s"])
        rows.append(("page of use, once the server answers", "≤ 1 s", f"{usable:.2f} s", usable <= 1))
    if soaked := data.get(SOAK):
        told = f"{soaked['minutes']:g} minutes of good and bad requests"
        rows.append((told, "no 500, no leak", f"{soaked['requests']:,} requests", is_clean(soaked)))
    return [(*row[:3], "yes" if row[3] else "**no**") for row in rows]


def speed_part(found: dict[str, Any]) -> list[str]:
    """Loads, questions, starts, memory."""
    engine = found["engine"]
    alone = ", ".join(f"{speed:,} in lists of {int(size):,}" for size, speed in engine.items())
    header = ["clients", "words each", "as", "requests/s", "words/s", "p50, ms", "p99, ms", "worst p99"]
    loads = []
    for one in found["loads"]:
        rate = one["requests_per_s"] * one["words"]
        shares = [f"{rate / engine[str(size)]:.0%}" for size in (one["words"], TOGETHER)]
        names = [one["clients"], one["words"], one["encoding"], round(one["requests_per_s"]), round(rate)]
        loads.append([*names, one["p50_ms"], one["p99_ms"], one["worst_p99_ms"], *shares])
    asked = [[name, one["p50_ms"], one["p99_ms"]] for name, one in found["questions"].items()]
    starts = ", ".join(f"{seconds:.2f}" for seconds in found["first_answer_s"])
    memory = [[one["workers"], one["busy_mb"], one["settled_mb"]] for one in found["memory"]]
    return [
        "## Speed",
        f"`python bench/serve.py`: {found['rounds']} rounds of {found['seconds']:g} s each, medians. Server and clients"
        f" share the cores. Every second word has a typo.\nThe bare engine, words a second: {alone}.",
        markdown([*header, "of the engine, such lists", f"lists of {TOGETHER:,}"], loads, 2),
        "One client, one misspelled word a request, as the page asks:",
        markdown(["question", "p50, ms", "p99, ms"], asked, 2),
        f"Seconds from the start of `lovevec serve` to its first answer: {starts}.",
        f"Memory (PSS, MB), all processes together, right after load and {SETTLED} s later:",
        markdown(["workers", "right after", "settled"], memory, 0),
    ]


def page_part(found: dict[str, Any]) -> list[str]:
    """The page in a browser."""
    told = {
        "answers_s": "from `lovevec serve` to its first answer",
        "usable_s": "from there to a page with a reading, neighbors and the map",
        "typed_s": "from a word typed to its reading",
        "whole_s": "from a word typed to all that is said of it: spelling, its way on the map",
    }
    rows = [[words, statistics.median(found[name]), max(found[name])] for name, words in told.items()]
    times = f"{len(found['usable_s'])} times in {found['browser']}"
    return [
        "## The page",
        f"`python bench/page.py`: {times}, a new server and an empty cache each; seconds.",
        markdown(["", "median", "worst"], rows, 2),
    ]


def soak_part(found: dict[str, Any]) -> list[str]:
    """What was answered, and memory."""
    answered = ", ".join(f"{status}: {count:,}" for status, count in found["statuses"].items())
    (_, first, files), (_, _, files_late) = found["memory"][0], found["memory"][-1]
    logged = {True: "yes", False: "no"}
    return [
        f"## {found['minutes']:g} minutes of good and bad requests",
        f"`python bench/serve.py --soak {found['minutes']:g}`: 8 clients, {found['requests']:,} requests, some of"
        " random bytes, without the key, or given up in the middle.",
        f"- Answers by status: {answered}.\n"
        f"- Memory: {first:.0f} MB at first, {found['early_mb']:.0f} MB in the second fifth of the time,"
        f" {found['late_mb']:.0f} MB in the last. Open files: {files} at first, {files_late} in the end.\n"
        f"- In the log: {found['tracebacks_logged']} tracebacks; the key: {logged[found['key_logged']]}; words that"
        f" were asked: {logged[found['words_logged']]}.",
    ]
