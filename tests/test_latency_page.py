"""docs/results/latency.md is what its data gives; whether a bar is met is computed."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def made(monkeypatch):
    pytest.importorskip("lovevec_lab")
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("latency_results")


def row(call, median, asked=None, over=None, rival=False):
    return {
        "call": call,
        "of": "word",
        "rival": rival,
        "asked_us": asked,
        "over": over,
        "calls": 400,
        "median_us": median,
        "p99_us": 3 * median,
        "rounds_us": [median, median],
    }


def test_what_is_missed_is_shown(made):
    calls = [row("quick", 5, 5), row("slow", 5.1, 5), row("near", 30, 11, "rival"), row("rival", 20, rival=True)]
    about = {"machine": {"cores": 2, "machine": "x"}, "versions": {"python": "3", "numpy": "2"}, "load_average": 0.1}
    processes = [{"what": "start", "unit": "ms", "asked": 60, "values": [61.0, 59.0, 62.0]}]
    page = made.page({**about, "rounds": 2, "missing": ["fastText"], "calls": {"Words": calls}, "processes": processes})
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in page.splitlines()
        if "|" in line
    }
    assert cells["quick"][-3:] == ["0.25", "≤ 5", "yes"]
    assert cells["slow"][-1] == "**no**"
    assert cells["near"][-3:] == ["1.50", "≤ 11 over rival", "yes"]
    assert cells["rival"][-3:] == ["-", "", ""]
    assert cells["start"] == ["61 ms", "≤ 60 ms", "**no**"]
    assert "left out: fastText." in page


def test_the_page_is_what_its_data_gives(made):
    results = ROOT / "docs" / "results"
    if not (results / "data" / "latency.json").exists():
        pytest.skip("not measured yet")
    found = json.loads((results / "data" / "latency.json").read_text("utf-8"))
    assert (results / "latency.md").read_text("utf-8") == made.page(found), "run: python bench/latency.py --page"
