"""docs/results/serve.md is what its data gives, and says so where a bar is missed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("serve_results", Path(__file__).parents[2] / "bench" / "serve_results.py")
made = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(made)


def test_the_page_is_what_its_data_gives():
    shown = (made.RESULTS / "serve.md").read_text("utf-8")
    assert shown == made.page(made.RESULTS), "run: python bench/serve.py --page"


def test_what_is_missed_is_shown(tmp_path):
    (tmp_path / "data").mkdir()
    for name in (made.SPEED, made.SOAK):
        found = json.loads((made.RESULTS / "data" / f"{name}.json").read_text("utf-8"))
        found["first_answer_s"] = [2.0] * 5
        found["statuses"] = {"200": 5, "500": 1}
        (tmp_path / "data" / f"{name}.json").write_text(json.dumps(found))
    page = made.page(tmp_path)
    missed = [line.split("|")[1].strip() for line in page.splitlines() if line.rstrip().endswith("| **no** |")]
    assert "first answer after the start" in missed
    assert any(line.endswith("minutes of good and bad requests") for line in missed)
    assert "Not measured yet: serve-page." in page
