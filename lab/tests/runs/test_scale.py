"""The tables and word lists of lab/runs/scale.py are seeded, and its data holds what its tasks give."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("scale", ROOT / "lab/runs/scale.py")
scale = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(scale)


def test_data_holds_what_tasks_give_and_nothing_that_was_written_by_hand():
    kept = scale.results()
    assert kept.keys() == {"dim", "results", "cores", "python"}
    assert kept["results"].keys() <= {*scale.EVERY}
    for by_size in kept["results"].values():
        assert all(size.isdecimal() and found["peak_mb"] > 0 for size, found in by_size.items())


def test_made_words_are_distinct_and_begin_with_the_known_ones():
    known = ["the", "of", "dog"]
    words = scale.toy_words(known, 5000, np.random.default_rng(1))
    assert words[:3] == known
    assert len(set(words)) == len(words) == 5000
    assert words == scale.toy_words(known, 5000, np.random.default_rng(1))


def test_a_run_that_is_gone_on_with_keeps_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "DATA", tmp_path / "scale.json")
    scale.keep("read", 100, [str(scale.make_table(tmp_path, 100))])
    scale.keep("convert", 100, [str(tmp_path / "table-100.npy")])
    results = scale.results()["results"]
    assert results.keys() == {"read", "convert"}
    assert all(by_size["100"]["s"] >= 0 and "load_before" in by_size["100"] for by_size in results.values())
