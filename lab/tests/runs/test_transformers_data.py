"""What counts of a grid of fine-tuned models that was cut off: the runs that all rows have."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("transformers_data", ROOT / "lab/runs/transformers_data.py")
data = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(data)

LOVE = {"strategy": "replace", "content": "x", "keep": []}


def kept(folder: Path, row: dict, rate: float, seed: int, dev: float, test: float) -> None:
    key = {"data": "BC2GM", "encoder": {"love": None, "spelled": False, **row}, "rate": rate, "seed": seed}
    noisy = {"original": test, "ocr 70 %": test - 10}
    file = folder / "cache" / f"{len(list((folder / 'cache').iterdir()))}.json"
    result = {"dev": dev, "test": noisy, "dev_noisy": noisy, "seconds": 1.0}
    file.write_text(json.dumps({"key": key, "result": result}), "utf-8")


def test_rows_are_called_as_in_the_tables():
    assert data.row_of({"love": None, "spelled": False}) == "BERT"
    assert data.row_of({"love": None, "spelled": True}) == "BERT + SymSpell"
    assert data.row_of({"love": LOVE, "spelled": False}) == "BERT + Replacement"
    kept_words = {**LOVE, "strategy": "linear", "keep": "default"}
    assert data.row_of({"love": kept_words, "spelled": False}) == "BERT + Linear (known words kept)"


@pytest.mark.parametrize(
    ("plain", "other", "common"),
    [
        ({(3e-4, 0), (3e-4, 1), (1e-4, 0)}, {(3e-4, 0), (3e-4, 1)}, [(3e-4, 0), (3e-4, 1)]),
        ({(3e-4, 0), (1e-4, 0)}, {(3e-4, 0), (1e-4, 0), (1e-4, 1)}, [(3e-4, 0), (1e-4, 0)]),
        ({(3e-4, 0), (3e-4, 1), (3e-4, 2)}, {(3e-4, 1), (3e-4, 2), (1e-4, 1)}, [(3e-4, 1), (3e-4, 2)]),
    ],
)
def test_runs_count_that_all_rows_have(plain, other, common):
    assert data.common_runs({"BERT": dict.fromkeys(plain), "BERT + SymSpell": dict.fromkeys(other)}) == common


def test_no_row_is_chosen_among_more_runs_than_its_neighbor(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    (tmp_path / "docs/results/data").mkdir(parents=True)
    kept(tmp_path, {}, 3e-4, 0, dev=70.0, test=60.0)
    kept(tmp_path, {}, 1e-4, 0, dev=80.0, test=75.0)  # better, but the other row has none such
    kept(tmp_path, {"love": LOVE}, 3e-4, 0, dev=71.0, test=66.0)
    monkeypatch.setattr(data, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["transformers_data.py", str(tmp_path)])
    data.main()
    scores = json.loads((tmp_path / "docs/results/data/transformers.json").read_text("utf-8"))["scores"]
    tests = {name: entry["tasks"]["bc2gm"]["test"]["original"] for name, entry in scores["methods"].items()}
    assert tests == {"BERT": 60.0, "BERT + Replacement": 66.0}


def test_a_folder_without_runs_is_told_and_changes_nothing(tmp_path, monkeypatch):
    file = tmp_path / "docs/results/data/transformers.json"
    file.parent.mkdir(parents=True)
    file.write_text("kept", "utf-8")
    monkeypatch.setattr(data, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["transformers_data.py", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit, match="nowhere: no kept runs there"):
        data.main()
    assert file.read_text("utf-8") == "kept"
