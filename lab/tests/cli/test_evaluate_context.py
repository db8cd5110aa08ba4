"""`lovevec evaluate context`, end to end, on a few lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder(tiny_target, tmp_path_factory) -> Path:
    """A data folder with both sets, of a few words of the tiny model, some with a letter too many."""
    words, path = tiny_target[0][:40], tmp_path_factory.mktemp("context")
    for name in ("wikidump", "bookcorpus"):
        correct = [" ".join(words[low : low + 4]) + "." for low in range(0, 40, 4)]
        corrupt = [line.replace(words[4 * number], words[4 * number] + "q") for number, line in enumerate(correct)]
        (path / "context").mkdir(exist_ok=True)
        (path / "context" / f"{name}.correct.txt").write_text("\n".join(correct) + "\n")
        (path / "context" / f"{name}.corrupt.txt").write_text("\n".join(corrupt) + "\n")
    (path / "bad.corrupt.txt").write_text("a b\nc\n")
    (path / "bad.correct.txt").write_text("a b\nc d\n")
    return path


def test_models_and_rivals_side_by_side(program, folder, tiny_model):
    done = program(
        "evaluate", "context", f"tiny={tiny_model}", "--data", ".", "--rivals", "symspell", "--thresholds", "0.2,0.5",
        "--resamples", 20, "--plot", "-o", "results", "-q", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    kept = json.loads((folder / "results" / "context.json").read_text("utf-8"))
    assert (folder / "results" / "context.md").read_text("utf-8") == done.stdout.decode()
    assert (folder / "results" / "context.png").read_bytes().startswith(b"\x89PNG")
    rows = [(one["method"], one["set"], one["threshold"]) for one in kept["scores"]["correction"]]
    of_a_set = [("tiny", 0.2), ("tiny", 0.5), ("symspell", None)]
    assert rows == [(name, each, limit) for each in ("wikidump", "bookcorpus") for name, limit in of_a_set]
    assert all(one["errors"] == 5 for one in kept["scores"]["correction"])  # every other line
    assert b"Unknown strings of wikidump, the right word in per cent: 5 in 5 lines" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "nowhere"), "is not there; the set comes from ad-freiburg/text-correction-benchmarks"),
        (("--set", "bad.corrupt.txt"), "bad.corrupt.txt:2: has 1 words where bad.correct.txt has 2"),
        (("--data", ".", "--rivals", "nosuch"), "--rivals nosuch: there are all, symspell"),
        (("--data", ".", "--thresholds", "2"), "--thresholds: numbers above 0, at most 1, expected"),
        (("--data", ".", "--thresholds", "x"), "--thresholds x: numbers expected, with commas between"),
        (("--data", ".", "--plot"), "--plot: name a folder for the picture with -o"),
    ],
)
def test_mistakes_are_one_line(program, folder, tiny_model, arguments, message):
    done = program("evaluate", "context", tiny_model, *arguments, "-q", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_help_teaches_without_loading_anything(program):
    done = program("evaluate", "context", "--help")
    assert done.returncode == 0
    for part in (b"symspell-compound", b"--part dev", b"mine.corrupt.txt", b"jamspell:MODEL"):
        assert part in done.stdout
