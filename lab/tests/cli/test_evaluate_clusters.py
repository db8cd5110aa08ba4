"""`lovevec evaluate clusters`, end to end, on made classes."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from lab_factories import write_vectors


@pytest.fixture(scope="session")
def vectors(tiny_target, tmp_path_factory):
    return write_vectors(tiny_target, tmp_path_factory.mktemp("vectors") / "most.vec", 280)


@pytest.fixture(scope="session")
def classes(tiny_target, tmp_path_factory):
    """Words by their first three letters, which made vectors are made of."""
    often = {start for start, count in Counter(word[:3] for word in tiny_target[0]).items() if count >= 6}
    lines = [f"{word}\t{word[:3]}\n" for word in tiny_target[0] if word[:3] in often]
    file = tmp_path_factory.mktemp("classes") / "starts.tsv"
    file.write_text("".join(lines))
    return file, len(lines), len(often)


def test_models_and_vectors_side_by_side(program, tiny_model, tiny_target, vectors, classes, tmp_path):
    file, count, kinds = classes
    done = program(
        *("evaluate", "clusters", f"mine={tiny_model}", vectors, "--rivals", "unk"),
        *("--set", file, "--seeds", 4, "--restarts", 2, "-o", tmp_path, "-q"),
    )
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == [
        *("method", "embedding", "others", "words/s", "starts", "mean"),
    ]
    kept = json.loads((tmp_path / "clusters.json").read_text("utf-8"))
    assert (kept["settings"]["seeds"], kept["settings"]["restarts"], kept["settings"]["k"]) == (4, 2, None)
    scores = {score["method"]: score["sets"][0] for score in kept["scores"]}
    assert list(scores) == ["mine", "mine + near", "most", "UNK"]
    for name, score in scores.items():
        assert (score["words"], score["classes"], score["k"]) == (count, kinds, kinds)
        assert len(score["purities"]) == 4
        assert score["purity"] == pytest.approx(np.mean(score["purities"]))
        (row,) = (line for line in lines[2:6] if line.split("|")[1].strip() == name)
        assert row.split("|")[5].strip() == f"{score['purity']:.1f}"
    known = set(tiny_target[0][:280])
    assert scores["most"]["covered"] == sum(line.split("\t")[0] in known for line in file.read_text().splitlines())
    assert scores["mine"]["covered"] == count
    assert scores["most"]["purity"] > 70 > 100 * 2 / kinds
    assert (tmp_path / "clusters.md").read_text("utf-8") == done.stdout.decode()
    assert (tmp_path / "clusters.png").read_bytes().startswith(b"\x89PNG")


def test_as_many_clusters_as_words_are_pure_and_one_is_the_largest_class(program, tiny_target, vectors, classes):
    file, count, _ = classes
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    known = set(tiny_target[0][:280])
    alike = Counter(kind for word, kind in rows if word not in known)  # zeros all, in one cluster whatever k is
    pure = count - alike.total() + max(alike.values())
    largest = max(Counter(kind for _, kind in rows).values())
    for k, right in ((count, pure), (1, largest)):
        done = program("evaluate", "clusters", vectors, "--set", file, "-k", k, "--quick", "-q")
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode().splitlines()[2].split("|")[5].strip() == f"{100 * right / count:.1f}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-k", "0"), "-k: must be at least 1, a whole number, not 0"),
        (("--seeds", "0"), "--seeds: must be at least 1, a whole number, not 0"),
        (("-k", "100000"), "-k 100000: starts has only"),
        (("--data", "nowhere", "--set", "AP"), "AP: nowhere/clustering/ap.tsv is not there"),
    ],
)
def test_mistakes_are_one_line(program, vectors, classes, tmp_path, arguments, message):
    sets = () if "--set" in arguments else ("--set", classes[0])
    done = program("evaluate", "clusters", vectors, *arguments, *sets, "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
