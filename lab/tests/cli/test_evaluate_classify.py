"""`lovevec evaluate classify`, end to end on made-up texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lovevec.cli import main

pytestmark = pytest.mark.usefixtures("on_one_thread")


@pytest.fixture(scope="module")
def files(tiny_target, tmp_path_factory) -> tuple[Path, Path]:
    """A file of the first 200 known words' vectors, and a folder of texts: the label is the sign of a word's first
    number."""
    folder = tmp_path_factory.mktemp("texts")
    words, vectors = tiny_target
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in row)}" for word, row in zip(words[:200], vectors, strict=False)]
    (folder / "known.vec").write_text("200 16\n" + "\n".join(lines) + "\n")
    by_sign = [[w for w, v in zip(words, vectors, strict=True) if (v[0] > 0) == sign] for sign in (False, True)]
    rng = np.random.default_rng(0)
    data = folder / "moods"
    data.mkdir()
    for part, count in {"train": 300, "dev": 60, "test": 100}.items():
        with open(data / f"{part}.tsv", "w") as file:
            for _ in range(count):
                sign = rng.integers(2)
                file.write(" ".join(rng.choice(by_sign[sign], rng.integers(2, 7))) + f"\t{['no', 'yes'][sign]}\n")
    return folder / "known.vec", data


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    code = main(["evaluate", "classify", *map(str, arguments), "--device", "cpu"])
    told = capsys.readouterr()
    return code, told.out, told.err


def cells_of(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]


def test_table_json_pictures_and_a_second_call_that_reads_them(files, tiny_model, tmp_path, capsys):
    vectors, data = files
    given = (
        data, "--vectors", vectors, "--impute", f"small={tiny_model}", "--rivals", "unk", "--char-cnn", "--quick",
        "--noise", "0,50,90", "--typos-per-sentence", "1,2", "--learning-rates", "5e-3,1e-3", "--epochs", 3,
        "-o", tmp_path,
    )  # fmt: skip
    code, table, told = run(capsys, *given)
    assert code == 0, told
    head, _, *rows = cells_of(table)[:7]
    first = head.index("original")
    assert head[first:] == ["original", "ocr 50 %", "ocr 90 %", "1 typos", "2 typos", "mean"]
    assert [row[0] for row in rows] == ["known", "known + small", "known + small + near", "UNK", "known + CharCNN"]
    assert (tmp_path / "classify-moods.md").read_text("utf-8") == table

    results = json.loads((tmp_path / "classify-moods.json").read_text("utf-8"))
    for row, score in zip(rows, results["scores"], strict=True):
        numbers = [score["test"][label] for label in head[first:-1]]
        assert row[first:] == [f"{number:.1f}" for number in [*numbers, np.mean(numbers)]]
        assert [(run["rate"], run["seed"]) for run in score["runs"]] == [(5e-3, 0), (1e-3, 0)]
    alone = results["scores"][0]["test"]
    assert alone["original"] > 80
    assert alone["ocr 90 %"] < alone["original"] - 10
    assert results["settings"]["cnn"]["epochs"] == 3
    for picture in ("classify-moods.png", "classify-moods-typos.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")

    assert run(capsys, *given)[1] == table
    again = json.loads((tmp_path / "classify-moods.json").read_text("utf-8"))
    assert again["scores"] == results["scores"]  # with the seconds that it took then: nothing was computed again


def test_models_make_all_vectors_where_no_others_are_named_or_wanted(files, tiny_model, capsys):
    few = ("--impute", tiny_model, "--noise", 0, "--quick", "--epochs", 1, "-q")
    code, alone, told = run(capsys, files[1], *few)
    assert (code, told) == (0, "")
    code, beside, _ = run(capsys, files[1], "--vectors", files[0], "--generated", *few)
    assert code == 0
    assert [row[0] for row in cells_of(beside)[2:4]] == ["known", "model"]
    assert cells_of(alone)[2][-1] == cells_of(beside)[3][-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{data}", "--impute", "{model}", "--kind", "fog"), "known kinds are ocr"),
        (("sst2", "--data", "{data}", "--impute", "{model}"), "SST2"),
        (("{data}/train.tsv", "--impute", "{model}"), "train.tsv"),
    ],
)
def test_mistakes_are_one_line(files, tiny_model, capsys, arguments, message):
    given = [argument.format(data=files[1], model=tiny_model) for argument in arguments]
    code, out, told = run(capsys, *given, "-q")
    assert (code, out) == (2, "")
    assert message in told
    assert told.count("\n") == 1
