"""`lovevec evaluate speed`, from the command line to the files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lovevec.cli import main


@pytest.fixture(scope="module")
def folder(tiny_target, tmp_path_factory):
    """A target and a text."""
    path = tmp_path_factory.mktemp("speed")
    words, vectors = tiny_target
    np.savez(path / "target.npz", words=np.array(words), vectors=vectors)
    (path / "book.txt").write_text(" ".join(words) + "\n")
    return path


def test_models_files_and_rivals(program, folder, tiny_model):
    done = program(
        "evaluate", "speed", tiny_model, "mine=target.npz", "--rivals", "unk", "--words", "book.txt", "--count", "300",
        "--quick", "-o", "results", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.decode().splitlines()]
    assert rows[0] == ["method", "embedding", "others", "damaged words/s", "text words/s"]
    assert [row[0] for row in rows[2:]] == ["model", "model + near", "mine", "UNK"]
    assert [row[1] for row in rows[4:]] == ["5K", "5K"]
    assert all(int(cell.replace(",", "")) > 0 for row in rows[2:] for cell in row[3:])
    kept = json.loads((folder / "results" / "speed.json").read_text("utf-8"))
    assert [score["method"] for score in kept["scores"]] == ["model", "model + near", "mine", "UNK"]
    assert kept["scores"][2]["parameters"] == {"embedding": 4800, "others": 0}
    assert (kept["settings"]["words"], kept["settings"]["text"]) == (300, "book.txt")


def test_without_text_there_is_one_column(program, folder):
    done = program("evaluate", "speed", "--rivals", "unk", "--target", "target.npz", "--quick", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines()[0].count("|") == 5
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to evaluate"),
        (("target.npz", "--count", "0"), "--count: must be at least 1"),
        (("target.npz", "--words", "nowhere.txt"), "nowhere.txt"),
        (("--rivals", "unk"), "--target FILE"),
    ],
)
def test_mistakes_are_one_line(folder, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(folder)
    assert main(["evaluate", "speed", *arguments, "-q"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert message in error
    assert error.count("\n") == 1
