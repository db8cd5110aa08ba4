"""`lovevec evaluate match`: how the right record, precision, recall and calibration are counted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lovevec import LovevecError
from lovevec_lab.evaluate import match
from lovevec_lab.evaluate.match import (
    Found,
    Task,
    by_trigrams,
    calibration_error,
    first,
    precision_and_recall,
    table_from,
    threshold_on,
)

TASK = Task(["a", "b", "c"], ["a1", "b1", "x", "c1"], np.array([0, 1, -1, 2]))
FOUND = Found(np.array([0, 1, 2, 0]), np.array([0.9, 0.8, 0.7, 0.2]))  # right, right, has none, wrong


def test_what_is_counted():
    assert first(TASK, FOUND) == pytest.approx(2 / 3)
    assert precision_and_recall(TASK, FOUND, FOUND.scores >= 0.75) == (1.0, pytest.approx(2 / 3))
    assert precision_and_recall(TASK, FOUND, FOUND.scores >= 0.5) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert threshold_on([(TASK, FOUND)], 1.0) == 0.8
    assert threshold_on([(TASK, FOUND)], 0.6) == 0.7
    assert calibration_error([(TASK, FOUND)]) == pytest.approx((0.1 + 0.2 + 0.7 + 0.2) / 4)


def test_trigrams_find_what_is_spelled_alike():
    found = by_trigrams(["Vestergaard Foods", "Kowalski Systems"], ["kowalski system", "Vestergard Foods"])
    assert found.best.tolist() == [1, 0]


def test_own_tables(tmp_path, shipped_love):
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text("name\nVestergaard Foods\nKowalski Systems\n", "utf-8")
    right.write_text("name,truth\nkowalsky systems,Kowalski Systems\nNobody & Sons,\n", "utf-8")
    assert table_from(left, right, "name", "truth").truth.tolist() == [1, -1]
    result = match([shipped_love], tables=[str(left), str(right), "name", "truth"], rivals="trigrams")
    assert result.scores["clean"]["LOVE"]["first"] == 100
    assert result.scores["clean"]["trigrams"].keys() < result.scores["clean"]["LOVE"].keys()
    result.write(tmp_path / "results")
    assert json.loads((tmp_path / "results" / "match.json").read_text("utf-8"))["scores"] == result.scores


def test_bad_input_is_one_clear_error(tmp_path, shipped_love):
    (tmp_path / "left.csv").write_text("name\na\n", "utf-8")
    (tmp_path / "right.csv").write_text("name,truth\nb,c\n", "utf-8")
    files = [str(tmp_path / "left.csv"), str(tmp_path / "right.csv")]
    with pytest.raises(LovevecError, match=r"right\.csv:2: 'c' is not in"):
        match([shipped_love], tables=[*files, "name", "truth"])
    with pytest.raises(LovevecError, match="has no column 'title'"):
        match([shipped_love], tables=[*files, "title", "truth"])
    with pytest.raises(LovevecError, match="there are trigrams"):
        match([shipped_love], tables=[files[0], files[0], "name", "name"], rivals="splink")
    with pytest.raises(LovevecError, match="part=half"):
        match([shipped_love], part="half")
