"""`lovevec evaluate tag` as people run it, on a small made dataset."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lovevec.cli import main

FAST = ("--quick", "--learning-rates", "1e-2", "--epochs", "6", "--device", "cpu")


pytestmark = pytest.mark.usefixtures("on_one_thread")


@pytest.fixture(scope="module")
def made(tiny_target, tmp_path_factory):
    """A folder of tagged text, and the vectors of its words: names are the words with an ending of their own."""
    words, vectors = tiny_target
    folder, rng = tmp_path_factory.mktemp("tagged"), np.random.default_rng(0)
    for part, count in (("train", 300), ("dev", 40), ("test", 60)):
        lines = []
        for _ in range(count):
            for word in rng.choice(words, size=rng.integers(2, 9)):
                lines.append(f"{word}\t{'B-NAME' if word.endswith(('ing', 'er', 'ed')) else 'O'}")
            lines.append("")
        (folder / f"{part}.tsv").write_text("\n".join(lines), "utf-8")
    file = folder / "made.vec"
    rows = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors, strict=True)]
    file.write_text(f"{len(words)} {vectors.shape[1]}\n{''.join(rows)}", "utf-8")
    return folder, file


def test_vectors_alone_imputed_and_a_rival_in_one_table_with_results_kept(made, tiny_model, tmp_path, capsys):
    folder, file = made
    flags = ("--noise", "0,40,80", "--rivals", "unk", *FAST, "-o", tmp_path / "out")
    command = ("evaluate", "tag", folder, "--vectors", file, "--impute", f"small={tiny_model}", *flags)
    assert main([str(part) for part in command]) == 0
    table = capsys.readouterr().out
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[:6]]
    assert head == ["method", "embedding", "others", "words/s", "original", "ocr 40 %", "ocr 80 %", "mean"]
    assert [row[0] for row in rows] == ["made", "made + small", "made + small + near", "UNK"]
    assert [row[1] for row in rows[:1]] == ["5K"]  # 300 words of 16 numbers

    name = f"tag-{folder.name}"
    kept = json.loads((tmp_path / "out" / f"{name}.json").read_text("utf-8"))
    for row, score in zip(rows, kept["scores"], strict=True):
        values = [score["test"][label] for label in head[4:-1]]
        assert row[4:] == [f"{value:.1f}" for value in (*values, np.mean(values))]
    alone = kept["scores"][0]["test"]
    assert alone["original"] > 75
    assert alone["original"] > alone["ocr 40 %"] > alone["ocr 80 %"]
    assert kept["settings"]["tagger"]["epochs"] == 6
    assert (tmp_path / "out" / f"{name}.md").read_text("utf-8") == table
    assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")

    assert main([str(part) for part in command]) == 0
    second = json.loads((tmp_path / "out" / f"{name}.json").read_text("utf-8"))
    assert second["scores"] == kept["scores"]  # seconds and speeds too: nothing was computed again


def test_without_vectors_a_model_makes_them_all(made, tiny_model, capsys):
    folder, _ = made
    flags = ("--typos-per-sentence", "0,2", *FAST, "--epochs", "1", "-q")
    assert main(["evaluate", "tag", str(folder), "--impute", str(tiny_model), *flags]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    head, _, row = told.out.splitlines()[:3]
    assert [cell.strip() for cell in head.split("|")[5:8]] == ["0 typos", "2 typos", "mean"]
    assert row.split("|")[1].strip() == tiny_model.name


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("conll03", "--data", "nowhere"), "CoNLL03"),
        (("{folder}", "--vectors", "{file}", "--noise", "ten"), "--noise ten: numbers expected"),
        (
            ("{folder}", "--vectors", "{file}", "--noise", "130"),
            "--noise 130: shares of words in per cent expected, from 0 to 100",
        ),
        (("{folder}", "--vectors", "{file}", "--learning-rates", "-1"), "a rate lies between 0 and 1"),
        (("{folder}", "--vectors", "{file}", "--seeds", "0"), "--seeds: must be at least 1, a whole number, not 0"),
        (("{folder}",), "nothing to evaluate"),
        (("{folder}", "--vectors", "default"), "--vectors default: is a model, not"),
        (("{folder}", "--impute", "{file}"), "made: is no model"),
        (("{folder}", "--impute", "default", "--char-cnn"), "--char-cnn: name the vectors of the known words"),
    ],
    ids=[
        "missing set",
        "noise in words",
        "much noise",
        "rate below 0",
        "no seeds",
        "nothing",
        "model",
        "no model",
        "none known",
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(made, capsys, flags, message):
    given = [flag.format(folder=made[0], file=made[1]) for flag in flags]
    assert main(["evaluate", "tag", *given, "--device", "cpu", "-q"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("lovevec: ")
    assert told.err.count("\n") == 1
    assert message in told.err
    assert told.out == ""
