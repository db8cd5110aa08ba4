"""`lovevec evaluate typos`, from the command line to the files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from lovevec.cli import main


@pytest.fixture(scope="module")
def folder(tiny_target, tmp_path_factory):
    """A target and two lists of misspellings."""
    path = tmp_path_factory.mktemp("typos")
    words, vectors = tiny_target
    np.savez(path / "target.npz", words=np.array(words), vectors=vectors)
    turn = np.random.default_rng(0).normal(size=(vectors.shape[1], 24)).astype(np.float32)
    np.savez(path / "turned.npz", words=np.array(words), vectors=vectors @ turn)
    long = [word for word in words if len(word) > 5]
    (path / "marked.dat").write_text("".join(f"${word}\n{word[:-1]}q\n{word}z 2\n" for word in long[:80]))
    (path / "columns.tsv").write_text("".join(f"{word.title()}\t{word}x\n" for word in long[80:120]))
    return path


def test_methods_and_rivals_side_by_side(program, folder, tiny_model):
    done = program(
        "evaluate", "typos", "marked.dat", "columns.tsv", "--methods", f"tiny={tiny_model}", "target.npz", "turned.npz",
        "--rivals", "symspell,edit-distance,unk", "--quick", "-o", "results", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert re.fullmatch(r"marked: 1[56]\d misspellings of 80 words of target", lines[0])
    methods = [line.split("|")[1].strip() for line in lines[4:11]]
    # what lives in another space than the target's is brought there by a map
    assert methods == ["tiny", "tiny + near", "target", "turned (mapped)", "SymSpell", "Edit Distance", "UNK"]
    kept = json.loads((folder / "results" / "typos.json").read_text("utf-8"))
    assert (folder / "results" / "typos.md").read_text("utf-8") == done.stdout.decode()
    scores = {row["method"]: row for row in kept["scores"]}
    assert scores.keys() == {"tiny", "tiny + near", "target", "turned", "SymSpell", "Edit Distance", "UNK"}
    first = {name: row["sets"][0] for name, row in scores.items()}
    assert first["target"]["covered"] == first["target"]["top10"]["mean"] == 0
    assert first["SymSpell"]["top1"]["mean"] > 80
    assert first["Edit Distance"]["top1"]["mean"] > 80
    assert first["tiny"]["covered"] == 100
    assert all(row["words_per_second"] > 0 and row["mapped"] == (name == "turned") for name, row in scores.items())
    assert kept["settings"]["target"] == {"name": "target", "words": 300, "dim": 16}
    assert [each["name"] for each in scores["tiny"]["sets"]] == ["marked", "columns"]
    assert scores["tiny"]["sets"][1]["misspellings"] >= 39


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("marked.dat",), "nothing to evaluate"),
        (("marked.dat", "--rivals", "unk"), "name these with --target FILE"),
        (("marked.dat", "--rivals", "nobody", "--target", "target.npz"), "no such rival; there are mimick"),
        (("nowhere.dat", "--rivals", "unk", "--target", "target.npz"), "nowhere.dat: no such file"),
        (("--rivals", "unk", "--target", "target.npz", "--data", "."), "missp.dat is not there; the set comes from"),
        (("target.npz", "--rivals", "unk", "--target", "target.npz"), "target.npz"),
        (("marked.dat", "--methods", "target.npz", "target.npz"), "two methods are called target"),
        (("marked.dat", "--rivals", "unk", "--target", "target.npz", "-o", "marked.dat"), "cannot hold results"),
        (("marked.dat", "--methods", "no.vec", "--target", "target.npz"), "no.vec: no such file"),
    ],
)
def test_mistakes_are_one_line(folder, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(folder)
    assert main(["evaluate", "typos", *arguments, "-q"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert message in error
    assert error.count("\n") == 1
