"""The commands as people run them: exit codes, streams, messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run_here
from tests.factories import toy_vectors, toy_words

from lovevec import LOVE

QUICK = ["--epochs", "2", "--vocabulary-size", "300", "--negatives", "10", "--device", "cpu"]


def lovevec(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in this process, where torch is imported already; its output as text."""
    done = run_here(*arguments)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def vectors(tmp_path_factory) -> Path:
    words = toy_words(150)
    path = tmp_path_factory.mktemp("vectors") / "made.vec"
    rows = toy_vectors(words, 8)
    lines = [f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(words, rows, strict=True)]
    path.write_text(f"{len(words)} 8\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def model(vectors) -> Path:
    folder = vectors.parent / "model"
    done = lovevec("train", vectors, "-o", folder, *QUICK)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    for part in ("reading", "150 words × 8", "hard negatives", "training", "parameters", "typo"):
        assert part in done.stderr
    return folder


def test_prepare_then_train_gives_the_model_of_train_alone(vectors, model, tmp_path):
    done = lovevec("prepare", vectors, "-o", tmp_path / "p", *QUICK[2:6])
    assert done.returncode == 0, done.stderr
    assert "150 words" in done.stderr
    assert "parameters" in done.stderr
    done = lovevec("train", tmp_path / "p", "-o", tmp_path / "m", "--epochs", "2", "--device", "cpu", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()
    report = json.loads((tmp_path / "m" / "report.json").read_text())
    assert report["report"]["steps"] == 2


def test_neighbors_prints_one_line_a_word(model):
    done = lovevec("neighbors", "-m", model, "-k", "2", toy_words(1)[0], "plogrikc")
    assert done.returncode == 0
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0][1] == "known"
    assert lines[1][1] == LOVE.load(model).readings(["plogrikc"])[0] != "known"
    assert all(line[2].count(",") == 1 for line in lines)


def test_words_that_are_not_utf_8_come_out_as_they_went_in(model):
    done = run_here("neighbors", "-m", model, b"caf\xe9")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(b"\t")[0] == b"caf\xe9"
    assert done.stdout.split(b"\t")[1] in (b"near", b"new")


def test_python_runs_the_package():
    done = subprocess.run([sys.executable, "-m", "lovevec", "near", "-k", "0", "x"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "lovevec: -k is 0: must be at least 1, a whole number\n")
    done = subprocess.run([sys.executable, "-m", "lovevec", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, lovevec("--version").stdout)


def test_help_teaches():
    whole = lovevec("--help")
    assert whole.returncode == 0
    assert "train" in whole.stdout
    assert "prepare" in whole.stdout
    train = lovevec("train", "--help").stdout
    assert "lovevec train glove.txt -o my-model" in train
    assert "default 0.07" not in train
    everything = lovevec("train", "--help-all").stdout
    assert "--temperature X" in everything
    assert "default 0.07" in everything


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "nowhere.txt", "-o", "m"), "nowhere.txt: no such file"),
        (("train", "x.txt"), "name the vectors and the output"),
        (("train", "--resume", "nowhere"), "no run to resume here"),
        (("train", "--resume", "m", "--epochs", "3"), "--resume takes the folder alone"),
        (("train", "x.txt", "-o", "m", "--epochs", "0"), "epochs is 0: must be at least 1"),
        (("prepare", "nowhere.txt", "-o", "p"), "nowhere.txt"),
        (("neighbors", "-m", "nowhere", "word"), "nowhere: no such model folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = lovevec(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_wrong_line_is_named_and_nothing_is_left_behind(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("one 1 2 3\ntwo 1 2\nthree 1 2 3\n")
    done = lovevec("train", path, "-o", tmp_path / "m")
    assert done.returncode == 2
    assert f"{path}:2" in done.stderr
    assert not (tmp_path / "m").exists()


def test_prepare_writes_over_nothing(vectors, model, tmp_path):
    done = lovevec("prepare", vectors, "-o", model, *QUICK[2:6])
    assert done.returncode == 2
    assert "holds something already" in done.stderr
    assert lovevec("neighbors", "-m", model, "word").returncode == 0
    (tmp_path / "file").write_text("mine")
    done = lovevec("prepare", vectors, "-o", tmp_path / "file")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    done = lovevec("prepare", vectors, "-o", tmp_path / "file" / "deeper", "-q")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_file_names_that_are_not_utf_8_are_fine(vectors, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.vec"))
    odd.write_bytes(vectors.read_bytes())
    out = Path(os.fsdecode(os.fsencode(tmp_path) + b"/model\xff"))
    done = lovevec("train", odd, "-o", out, *QUICK, "-q")
    assert done.returncode == 0, done.stderr
    assert lovevec("neighbors", "-m", out, "word").returncode == 0


def test_a_missing_extra_is_one_line(vectors, tmp_path):
    code = (
        "import sys; sys.modules['torch'] = None; from lovevec.cli import main;"
        f"sys.exit(main(['train', {str(vectors)!r}, '-o', {str(tmp_path / 'm')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "lovevec: this needs torch: pip install 'lovevec[train]'\n"


def test_numpy_is_enough_to_use_a_model(model):
    code = (
        "import sys; sys.modules['torch'] = None; from lovevec import LOVE;"
        f"print(LOVE.load({str(model)!r})['anything'].shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "(8,)\n", done.stderr


def test_the_report_holds_what_the_screen_says(model):
    report = json.loads((model / "report.json").read_text())["report"]
    assert report["score"]["words"] == 2
    assert {"reading", "vocabulary", "synonyms", "hard negatives", "training", "total"} <= set(report["seconds"])
    assert report["peak_memory_mb"] > 50
    assert all(np.isfinite(report["losses"]))
    assert report["typos"]
    assert all(len(typo["neighbors"]) == 3 for typo in report["typos"])
