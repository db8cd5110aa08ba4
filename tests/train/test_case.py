"""Who decides whether words keep their case: the target, the same for Python and for the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.transformer_factories import bert, save_transformer, wordpiece

from lovevec import LOVE
from lovevec.cli import main
from lovevec.train import PrepareSettings, Settings, prepare, train
from lovevec.vectors import ReadReport, VectorTable

QUICK = {"epochs": 1, "device": "cpu", "vocabulary_size": 100, "negatives": 2}
FLAGS = [part for name, value in QUICK.items() for part in ("--" + name.replace("_", "-"), str(value))]


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def transformer(request, tmp_path_factory) -> tuple[str, bool]:
    """`hf:FOLDER` of a small transformer, and whether it lower-cases."""
    tokenizer = wordpiece(lowercase=request.param)
    return f"hf:{save_transformer(tmp_path_factory.mktemp('hf') / 'bert', bert(tokenizer), tokenizer)}", request.param


@pytest.mark.parametrize("lowercase", [None, True, False])
def test_python_and_the_command_line_give_the_same_words(transformer, lowercase, tmp_path, capfd):
    target, uncased = transformer
    flag = {None: [], True: ["--lowercase"], False: ["--no-lowercase"]}[lowercase]
    assert main(["train", target, "-o", str(tmp_path / "command"), *FLAGS, *flag]) == 0
    decided = lowercase is None and not uncased
    assert ("is cased: words keep their case" in capfd.readouterr().err) == decided
    train(target, Settings(**QUICK, lowercase=lowercase), output=tmp_path / "python")
    command, python = LOVE.load(tmp_path / "command"), LOVE.load(tmp_path / "python")
    assert command.words == python.words
    assert command.words == prepare(target, PrepareSettings(vocabulary_size=100, lowercase=lowercase)).words
    expected = uncased if lowercase is None else lowercase
    for name in ("command", "python"):
        assert json.loads((tmp_path / name / "config.json").read_text())["settings"]["lowercase"] is expected
    if lowercase is not None:
        assert all(word == word.lower() for word in command.words) == (lowercase or uncased)


def test_a_table_distilled_from_a_cased_transformer_keeps_its_case_and_others_lose_it():
    words, vectors = ["The", "Cat", "cat", "dog"], np.eye(4, dtype=np.float32)
    report = ReadReport("memory", dim=4, read=4, kept=4)
    assert prepare(VectorTable(words, vectors, report, "distilled", {"cased": True})).words == words
    assert prepare((words, vectors)).words == ["the", "cat", "dog"]
