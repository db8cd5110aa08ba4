"""`lovevec evaluate similarity`, end to end, on made pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from lab_factories import cosine, write_vectors
from scipy import stats

from lovevec import LOVE


@pytest.fixture(scope="session")
def vectors(tiny_target, tmp_path_factory):
    return write_vectors(tiny_target, tmp_path_factory.mktemp("vectors") / "half.vec", 150)


@pytest.fixture(scope="session")
def pairs(tiny_target, tmp_path_factory):
    """GoldPairs whose scores are the cosines of the tiny target, a little disturbed, and the file they are in."""
    words, table = tiny_target
    rng = np.random.default_rng(0)
    rows = rng.integers(len(words), size=(120, 2))
    gold = [cosine(table[a], table[b]) + 0.1 * rng.normal() for a, b in rows]
    file = tmp_path_factory.mktemp("pairs") / "mine.tsv"
    file.write_text("".join(f"{words[a]}\t{words[b]}\t{g:.4f}\n" for (a, b), g in zip(rows, gold, strict=True)))
    return file, [(words[a], words[b]) for a, b in rows], np.round(gold, 4)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_models_vectors_and_rivals_side_by_side(program, tiny_model, tiny_target, vectors, pairs, tmp_path):
    file, words, gold = pairs
    done = program(
        *("evaluate", "similarity", f"mine={tiny_model}", vectors, "--rivals", "unk,edit-distance"),
        *("--set", file, "--quick", "-o", tmp_path / "out", "-q"),
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert cells(lines[0]) == ["method", "embedding", "others", "words/s", "mine", "mean"]
    table = {cells(line)[0]: cells(line)[1:] for line in lines[2:7]}
    assert list(table) == ["mine", "mine + near", "half", "UNK", "Edit Distance"]

    kept = json.loads((tmp_path / "out" / "similarity.json").read_text("utf-8"))
    assert kept["task"] == "similarity"
    assert (kept["settings"]["resamples"], kept["settings"]["seed"]) == (100, 0)
    scores = {score["method"]: score for score in kept["scores"]}
    for name, score in scores.items():
        assert table[name][3:] == [f"{score['mean']:.1f}"] * 2
        assert int(table[name][2].replace(",", "")) == round(score["words_per_second"]) > 0
        assert score["sets"][0]["low"] <= score["mean"] <= score["sets"][0]["high"]
    for name, spelling_only in (("mine", True), ("mine + near", False)):
        love = LOVE.load(tiny_model, spelling_only=spelling_only)
        near = [round(cosine(*love.embed([a, b]).astype(float)), 9) for a, b in words]
        assert scores[name]["mean"] == pytest.approx(100 * stats.spearmanr(near, gold).statistic, abs=0.2)

    half = scores["half"]["sets"][0]
    known = set(tiny_target[0][:150])
    assert half["covered"] == sum(a in known and b in known for a, b in words)
    assert half["spearman_covered"] > 80 > half["spearman"]
    (told,) = (line for line in lines if line.startswith("| half") and " of " in line)
    assert cells(told)[1] == f"{half['spearman_covered']:.1f} ({half['covered']} of 120)"
    assert (tmp_path / "out" / "similarity.md").read_text("utf-8") == done.stdout.decode()
    assert (tmp_path / "out" / "similarity.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_command_gives_the_same_scores(program, vectors, pairs, tmp_path):
    for folder in ("1", "2"):
        done = program("evaluate", "similarity", vectors, "--set", pairs[0], "--seed", 5, "-o", tmp_path / folder, "-q")
        assert done.returncode == 0, done.stderr.decode()
    one, other = (json.loads((tmp_path / folder / "similarity.json").read_text("utf-8")) for folder in ("1", "2"))
    for kept in (one, other):
        del kept["scores"][0]["words_per_second"]
    assert one == other


def test_the_papers_sets_are_taken_from_the_data_folder(program, vectors, pairs, tmp_path):
    rows = [line.split("\t") for line in pairs[0].read_text().splitlines()]
    (tmp_path / "similarity").mkdir()
    for file in ("rw", "men"):
        (tmp_path / "similarity" / f"{file}.txt").write_text("".join("\t".join(row) + "\n" for row in rows))
    for file in ("simLex", "mturk_771", "rel353"):
        (tmp_path / "similarity" / f"{file}.txt").write_text("".join("0\t" + "\t".join(row) + "\n" for row in rows))
    command = ("evaluate", "similarity", vectors, "--quick", "-q")
    done = program(*command, "--data", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert f"SimVerb: {tmp_path / 'similarity' / 'simverb_3500.txt'} is not there" in done.stderr.decode()
    (tmp_path / "similarity" / "simverb_3500.txt").write_text("".join(f"0\t{g}\t{a}\t{b}\tx\n" for a, b, g in rows))
    done = program(*command, "--data", tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert cells(lines[0])[4:] == ["RareWord", "SimLex", "MTurk", "MEN", "WordSim", "SimVerb", "mean"]
    assert len(set(cells(lines[2])[4:])) == 1  # the same pairs in all of them


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to evaluate: name a model or a vector file, or --rivals"),
        (("nowhere.vec",), "nowhere.vec: no such file"),
        (("--rivals", "unk"), "no word vectors to learn from or to look in: name these with --target FILE"),
        (("--resamples", "0"), "--resamples: must be at least 1, a whole number, not 0"),
        (("--set", "nowhere.tsv"), "nowhere.tsv: no such file, nor one of the sets RareWord"),
        (("--set", "bad.tsv"), "bad.tsv:2: word1, word2, score with tabs between expected, found 1 columns"),
        (("-o", "bad.tsv/results"), "bad.tsv/results: cannot hold results (Not a directory); name a folder with -o"),
    ],
)
def test_mistakes_are_one_line(program, pairs, tmp_path, arguments, message):
    (tmp_path / "bad.tsv").write_text("a\tb\t1\nc d 2\n")
    sets = () if "--set" in arguments else ("--set", pairs[0])
    done = program("evaluate", "similarity", *arguments, *sets, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
