"""The tasks as Python calls them: methods by name or in memory, one kind of result."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
from lab_factories import word_table
from rival_factories import random_love
from tests.factories import toy_vectors

from lovevec.errors import LovevecError
from lovevec.train import Settings
from lovevec_lab.evaluate import Result, classify, clusters, similarity, speed, tag, typos
from lovevec_lab.evaluate.typos import lowercase_table, misspellings, score_typos, trial
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.unknown import Unk

pytestmark = pytest.mark.usefixtures("on_one_thread")


@pytest.fixture(scope="module")
def folder(tiny_target, tmp_path_factory) -> Path:
    """GoldPairs, classes, misspellings, texts, tagged text, a vector file."""
    words, vectors = tiny_target
    path, rng = tmp_path_factory.mktemp("sets"), np.random.default_rng(0)
    np.savez(path / "target.npz", words=np.array(words), vectors=vectors)
    pairs = [(words[a], words[b], rng.normal()) for a, b in rng.integers(len(words), size=(30, 2))]
    (path / "pairs.tsv").write_text("".join(f"{a}\t{b}\t{score:.3f}\n" for a, b, score in pairs))
    (path / "classes.tsv").write_text("".join(f"{word}\t{word[0]}\n" for word in words[:60]))
    (path / "typos.tsv").write_text("".join(f"{word}\t{word}qz\n" for word in words[:50]))
    for part, count in (("train", 40), ("dev", 10), ("test", 10)):
        lines = [" ".join(rng.choice(words, 4)) + f"\t{row % 2}\n" for row in range(count)]
        (path / f"{part}.tsv").write_text("".join(lines))
        tagged = [f"{word}\t{'B-X' if word[0] in 'bdf' else 'O'}\n" for word in rng.choice(words, 5 * count)]
        (path / f"{part}.txt").write_text("".join(line + "\n" * (i % 5 == 4) for i, line in enumerate(tagged)))
    (path / "tagged").mkdir()
    for part in ("train", "dev", "test"):
        (path / f"{part}.txt").rename(path / "tagged" / f"{part}.txt")
    return path


def rows(result: Result) -> list[str]:
    """The methods of the first table."""
    lines = result.markdown().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| method"))
    table = takewhile(lambda line: line.startswith("|"), lines[first + 2 :])
    return [line.split("|")[1].strip() for line in table]


def test_methods_are_names_paths_or_in_memory(folder, tiny_target):
    words, vectors = tiny_target
    table, model = word_table(words, vectors, "table"), random_love(Settings(vocabulary_size=200), words)
    some = [f"named={folder / 'target.npz'}", folder / "target.npz", table, EditDistance(table), (words, vectors)]
    result = similarity([*some, model, model.love], sets=[str(folder / "pairs.tsv")], resamples=5)
    names = ["named", "target", "table", "Edit Distance", "vectors", "random", "LOVE"]
    assert rows(result) == names
    scores = {score["method"]: score["mean"] for score in result.as_dict()["scores"]}
    assert len({scores[name] for name in names[:5]}) == 1  # the same vectors
    assert scores["random"] == scores["LOVE"]
    by_name = similarity({"a": table, "b": model.love}, sets=str(folder / "pairs.tsv"), resamples=5)
    assert rows(by_name) == ["a", "b"]
    assert by_name.as_dict()["settings"]["methods"] == ["a", "b"]
    assert table.name == "table"  # the caller's own is left alone
    with pytest.raises(LovevecError, match="two methods are called table"):
        similarity([table, table], sets=[str(folder / "pairs.tsv")])
    with pytest.raises(LovevecError, match="word vectors come as"):
        similarity([3.5], sets=[str(folder / "pairs.tsv")])


def test_typos_scores_what_one_method_scores(folder, tiny_target):
    table, file = word_table(*tiny_target, "table"), str(folder / "typos.tsv")
    result = typos([table, EditDistance(table)], sets=[file], target=table, rivals=["unk"])
    assert rows(result) == ["table", "Edit Distance", "UNK"]
    low = lowercase_table(table)
    for method, score in zip((table, EditDistance(table), Unk(low)), result.as_dict()["scores"], strict=True):
        expected = score_typos(method, low, [trial(misspellings(file), low)]).plain()
        assert score["sets"] == expected["sets"]
        assert not score["mapped"]
    assert typos([table], sets=file).as_dict()["settings"]["target"]["words"] == 300  # the first table is the target
    with pytest.raises(LovevecError, match="nothing to evaluate"):
        typos([])


def test_clusters_and_speed(folder, tiny_target):
    table = word_table(*tiny_target, "table")
    result = clusters(table, sets=[str(folder / "classes.tsv")], seeds=2, restarts=1)
    assert rows(result) == ["table"]
    assert set(result.pictures()) == {"clusters.png"}
    timed = speed([table], target=table, count=50, quick=True, words=folder / "train.tsv")
    assert timed.as_dict()["scores"][0]["damaged"] > 0
    assert timed.as_dict()["settings"]["text"] == "train.tsv"


@pytest.mark.parametrize(("task", "where"), [(classify, "."), (tag, "tagged")], ids=["classify", "tag"])
def test_downstream_tasks_keep_their_runs_and_write_results(folder, tiny_target, tmp_path, task, where):
    words, vectors = tiny_target
    half, love = (words[:150], vectors[:150]), random_love(Settings(vocabulary_size=200), words).love
    other = random_love(Settings(vocabulary_size=200), words[:200])
    options = {"noise": [0, 50], "learning_rates": [1e-2], "epochs": 1, "device": "cpu", "quick": True}
    result = task(folder / where, vectors=word_table(*half, "half"), impute=[love, other], keep=tmp_path, **options)
    assert rows(result) == ["half", "half + LOVE", "half + random"]
    for score in result.as_dict()["scores"]:
        assert score["rates"] == [1e-2]
        assert set(score["test"]) == {"original", "ocr 50 %"}
        assert "rate" not in score
    again = task(folder / where, vectors=word_table(*half, "half"), impute=[love, other], keep=tmp_path, **options)
    assert again.as_dict()["scores"] == result.as_dict()["scores"]  # read from the cache, seconds and speeds too
    assert len(list((tmp_path / "cache").iterdir())) == 2 * 3
    messages = result.write(tmp_path / "out")
    assert json.loads((tmp_path / "out" / f"{result.name}.json").read_text("utf-8")) == result.as_dict()
    assert (tmp_path / "out" / f"{result.name}.md").read_text("utf-8") == result.markdown()
    assert len(messages) == 3
    with pytest.raises(LovevecError, match="is no model"):
        task(folder / where, vectors=word_table(*half, "half"), impute=[half], **options)
    with pytest.raises(LovevecError, match="is a model, not"):
        task(folder / where, vectors=love, **options)


def test_a_rival_that_makes_all_vectors_stands_behind_the_table_too(folder, tiny_target):
    words, _ = tiny_target
    narrow = random_love(Settings(vocabulary_size=200), words)
    wide = word_table(words, toy_vectors(words, 24), "wide")
    options = {"noise": [0], "learning_rates": [1e-2], "epochs": 1, "device": "cpu", "quick": True}
    assert rows(classify(folder, vectors=wide, impute=narrow, **options)) == ["wide", "wide + random"]
    assert rows(classify(folder, vectors=wide, impute=narrow, generated=True, **options)) == ["wide", "random"]


def test_the_tasks_load_no_torch_before_they_train():
    script = "import lovevec_lab.evaluate as e, sys\nassert callable(e.typos)\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_help_of_the_command_loads_no_numpy():
    script = """
import sys
from lovevec.cli import main
try:
    main(["evaluate", "typos", "--help"])
except SystemExit:
    pass
print({"numpy", "torch"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one, folder: similarity(one, sets=3), "names or paths in a list"),
        (lambda one, folder: similarity(one, [folder / "pairs.tsv"], resamples=2.5), "resamples: .*whole number"),
        (lambda one, folder: similarity(one, [folder / "pairs.tsv"], seed="x"), "seed='x'"),
        (lambda one, folder: similarity(one, [folder / "pairs.tsv"], rivals=3), "rivals=3: names expected"),
        (lambda one, folder: clusters(one, [folder / "classes.tsv"], k=2.5), "k: must be .*whole number, not 2.5"),
        (lambda one, folder: speed(one, count=1.5), "count: must be at least 1, a whole number"),
        (lambda one, folder: speed(one, words=["a"]), "words=.*text file"),
        (lambda one, folder: classify(folder, vectors=one[0], noise="0,10"), "noise='0,10': a list of numbers"),
        (lambda one, folder: classify(folder, vectors=one[0], learning_rates="1e-3"), "learning_rates='1e-3'"),
        (lambda one, folder: similarity([*one, *one], [folder / "pairs.tsv"]), "two methods .* by a dict"),
    ],
)
def test_odd_arguments_are_one_line(call, message, folder, tiny_target):
    with pytest.raises(LovevecError, match=message) as error:
        call([tiny_target], folder)
    assert "\n" not in str(error.value)


def test_a_dict_gives_methods_their_names_and_a_pair_stands_alone(folder, tiny_target):
    words, vectors = tiny_target
    small = random_love(Settings(vocabulary_size=200), words[:150]).love
    options = {"noise": [0], "learning_rates": [1e-2], "epochs": 1, "device": "cpu", "quick": True}
    result = classify(folder, vectors=(words, vectors), impute={"default": small}, **options)  # not the shipped one
    assert rows(result) == ["vectors", "vectors + default"]
    parameters = result.as_dict()["scores"][1]["parameters"]
    assert parameters["embedding"] == small.metadata["parameters"]["embedding"] + vectors.size
    assert rows(similarity((words, vectors), [folder / "pairs.tsv"], quick=True)) == ["vectors"]
