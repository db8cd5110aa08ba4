"""`lovevec info`: facts about a model, each checked against the model itself."""

from __future__ import annotations

import json

import pytest

from lovevec import LOVE


@pytest.fixture(scope="module")
def small(tiny_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "in-int8"
    LOVE.load(tiny_model).save(folder, precision="int8")
    return folder


def test_json_has_the_facts(program, tiny_model, tiny_target):
    done = program("info", "-m", tiny_model, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    love = LOVE.load(tiny_model)
    assert (facts["name"], facts["dim"], facts["known_words"]) == ("model", 16, len(tiny_target[0]))
    assert facts["units"]["count"] == len(love.parts.units.vocabulary)
    assert facts["parameters"] == sum(weight.size for weight in love.parts.weights.values())
    assert facts["bytes"] == sum(file.stat().st_size for file in tiny_model.iterdir())
    assert facts["precision"] == "float32"
    assert facts["scores"] == love.metadata["report"]["score"]
    assert facts["engine"]["name"] in ("compiled", "numpy")
    assert facts["engine"]["threads"] >= 1


def test_text_has_them_too(program, tiny_model):
    lines = dict(line.split(None, 1) for line in program("info", "-m", tiny_model).stdout.decode().splitlines())
    assert lines["dimensions"] == "16"
    assert lines["known"].split() == ["words", "300,", "lower", "case"]
    assert lines["stored"].startswith("as    float32, ") or "float32" in lines["stored"]
    assert lines["engine"].startswith(("compiled, ", "numpy, "))
    assert "(300 words × 16)" in lines["mimics"]
    assert "10 nearest" in lines["score"]


def test_the_file_precision_is_that_of_the_file(program, small):
    facts = json.loads(program("info", "-m", small, "--json").stdout)
    assert (facts["precision"], facts["name"]) == ("int8", "in-int8")


def test_a_licence_is_shown(program, tiny_model, tmp_path):
    love = LOVE.load(tiny_model)
    love.parts.metadata["target"] = {"name": "made", "licence": "PDDL 1.0"}
    love.parts.metadata["scores"] = {"similarity": 55.1}
    love.save(tmp_path / "m")
    shown = program("info", "-m", tmp_path / "m").stdout.decode()
    assert "licence      PDDL 1.0\n" in shown
    assert "score        similarity: 55.1\n" in shown


def test_no_model_is_one_line(program, tmp_path):
    done = program("info", "-m", tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
