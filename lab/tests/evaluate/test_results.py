from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import numpy as np
import pytest

import lovevec
from lovevec.errors import LovevecError, MissingExtra
from lovevec_lab.evaluate.results import Result, machine, plain, refuse_bad_folder, versions


def test_all_that_a_number_depends_on_is_kept(tmp_path):
    scores = [{"method": "LOVE é", "mean": 49.7, "runs": [1, 2]}]
    result = Result("similarity", {"seed": 3, "sets": ["AP"]}, scores, "| a |\n")
    told = result.write(tmp_path)
    kept = json.loads((tmp_path / "similarity.json").read_text("utf-8"))
    assert kept == {
        "task": "similarity",
        "settings": {"seed": 3, "sets": ["AP"]},
        "versions": versions(),
        "machine": machine(),
        "scores": scores,
    }
    assert kept == result.as_dict()
    assert (tmp_path / "similarity.md").read_text("utf-8") == result.markdown() == "| a |\n"
    assert told == [f"written: {tmp_path / 'similarity.json'}", f"written: {tmp_path / 'similarity.md'}"]


def test_plain_is_what_json_can_hold(tmp_path):
    given = {"a": np.float32(0.5), "b": (np.int64(3), float("nan")), "c": np.arange(2), Path("x"): tmp_path / "my.vec"}
    assert plain(given) == {"a": 0.5, "b": [3, None], "c": [0, 1], "x": "my.vec"}
    json.dumps(plain(given), allow_nan=False)


def test_versions_are_those_that_run():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["lovevec"] == lovevec.__version__
    assert found["numpy"] == np.__version__


def test_pictures_are_drawn_into_the_folder_and_one_that_cannot_be_costs_nothing_else(tmp_path):
    def missing(path: Path) -> None:
        raise MissingExtra("matplotlib", "plots")

    pictures = {"x.png": missing, "y.png": lambda path: path.write_bytes(b"a picture")}
    result = Result("x", {}, [], "table", pictures)
    assert result.pictures() == pictures
    told = result.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.json", "x.md", "y.png"]
    assert (tmp_path / "y.png").read_bytes() == b"a picture"
    assert told[2].startswith(f"not drawn: {tmp_path / 'x.png'}: ")
    assert "lovevec[plots]" in told[2]
    assert told[3] == f"written: {tmp_path / 'y.png'}"


def test_a_folder_is_made_and_kept(tmp_path):
    folder = refuse_bad_folder(str(tmp_path / "a" / "b"))
    (folder / "old.json").write_text("{}")
    assert refuse_bad_folder(folder) == tmp_path / "a" / "b"
    assert (folder / "old.json").is_file()


def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(LovevecError, match=r"file.*: cannot hold results .*; name a folder with -o"):
            refuse_bad_folder(bad)


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_that_may_not_be_written_is_refused_before_the_work(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(LovevecError, match="cannot hold results"):
        refuse_bad_folder(tmp_path / "new")
