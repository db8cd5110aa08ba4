"""What reaches a terminal: text in any encoding, and nothing of a model that the terminal would act on."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from tests.command_line import run_process

from lovevec import LOVE
from lovevec.cli import COMMANDS, main
from lovevec.cli.terminal import decode_argument, harmless
from lovevec.model.folder import ModelParts, write_model
from lovevec.model.known_rows import KnownRows

EVIL = ["red\x1b[31m", "line\nbreak", "tab\tbed", "csi\x9b2J", "bytes\udcc2\udc9b2J", "half\ud800", "bell\x07", "r\r"]
ACTED_ON = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def evil(tiny_model, tmp_path_factory):
    """A model whose words, target and scores hold escape sequences."""
    parts = LOVE.load(tiny_model).parts
    words = [*EVIL, *parts.words][: len(parts.words)]
    metadata = {
        **parts.metadata,
        "target": {"name": "\x1b]0;owned\x07 \ud800", "licence": "\x9b2J"},
        "scores": {"\x1b[2J": "\x1b[2J"},
        "confidence": {"missing": "\x1b[31mnone"},
    }
    rows = KnownRows.of(np.random.default_rng(0).normal(size=(len(words), 16)).astype(np.float32), "int8")
    folder = tmp_path_factory.mktemp("evil") / "m"
    write_model(folder, ModelParts(parts.spec, parts.weights, parts.units, words, metadata, None, rows), "card")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("info",),
        ("info", "--json"),
        ("near", "red", "linebreak", "csi2J", "bytes2J", "half", *EVIL),
        ("neighbors", "-k", "300", "red", *EVIL),
        ("explain", "-k", "300", "red", "half", *EVIL),
        ("encode", "--tokens", "red linebreak half bell"),
        ("similar", *EVIL),
    ],
    ids=lambda command: " ".join(command[:2]).encode("unicode_escape").decode(),
)
def test_nothing_of_a_model_or_a_word_is_acted_on(capfdbinary, evil, command):
    assert main([command[0], "-m", str(evil), *command[1:]]) == 0
    shown, errors = capfdbinary.readouterr()
    assert errors == b""
    assert shown
    assert not ACTED_ON.search(shown.decode("utf-8"))


def test_a_line_end_inside_a_known_word_breaks_no_line(capfd, evil):
    assert main(["near", "-m", str(evil), "linebreak", "tabbed"]) == 0
    lines = capfd.readouterr().out.split("\n")
    assert [line.count("\t") for line in lines] == [3, 3, 0]
    assert "line\\nbreak" in lines[0]


def test_words_of_any_script_stay_as_they_are():
    for word in ("naïve", "👩\u200d👩\u200d👧", "می\u200cخواهم", "a\\b", "\udce9", "שלום", "\N{NO-BREAK SPACE}"):
        assert harmless(word) == harmless(word) == decode_argument(word) == word
    assert harmless("a\tb\nc\x1b\ud800") == "a\\tb\\nc\\x1b\\ud800"
    assert decode_argument("caf\udcc3\udca9 \udce9") == "café \udce9"
    assert decode_argument("\ud800") == "\ud800"


@pytest.mark.parametrize(
    "change",
    [
        {"target": 5},
        {"target": None},
        {"target": [1]},
        {"target": {"name": 5, "words": "many", "licence": ["x"]}},
        {"target": {"name": None, "words": 10**400, "dim": None}},
        {"target": {"name": "half \ud800, \x1b[31mred\nline"}},
        {"scores": 5},
        {"scores": [1]},
        {"scores": {"misspellings": "x", "top1": None, "top10": []}},
        {"scores": {"misspellings": 10**400, "top1": 1, "top10": 1}},
        {"scores": {"clean": {"cosine": "x", "top10": None}, "words": True}},
        {"report": [1], "scores": None},
        {"report": {"score": 7}, "scores": None},
        {"parameters": 5},
        {"parameters": {"embedding": "x", "others": 1}},
        {"parameters": {"embedding": None}},
        {"licence": {"a": 1}, "target": {}},
        {"confidence": 5},
        {"lovevec": {"a": [1]}},
    ],
    ids=lambda change: str(change)[:60].encode("unicode_escape").decode(),
)
def test_whatever_a_config_says_of_its_model_info_and_repr_go_on(capfdbinary, tiny_model, tmp_path, change):
    parts = LOVE.load(tiny_model).parts
    metadata: dict[str, Any] = {**parts.metadata, **change}
    write_model(tmp_path / "m", ModelParts(parts.spec, parts.weights, parts.units, parts.words, metadata), "card")
    shown = repr(LOVE.load(tmp_path / "m"))
    assert shown.isprintable()
    assert shown.startswith("LOVE(16 dimensions, 300 known words")
    for how in ([], ["--json"]):
        assert main(["info", "-m", str(tmp_path / "m"), *how]) == 0
        text, errors = capfdbinary.readouterr()
        assert errors == b""
        assert json.loads(text) if how else text.count(b"\n") >= 12
    assert main(["evaluate", "similarity", str(tmp_path / "m")]) in (0, 2)
    assert capfdbinary.readouterr().err.count(b"\n") <= 3


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_help_and_answers_come_out_whatever_the_encoding(program, tiny_model, encoding):
    for name in COMMANDS if encoding == "ascii" else ("train", "evaluate"):
        done = program(name, "--help", encoding=encoding)
        assert (done.returncode, done.stderr) == (0, b""), name
        assert done.stdout.decode("utf-8").startswith("usage: lovevec ")
    done = program("neighbors", "-m", tiny_model, "café", "呵", encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [line.split("\t")[0] for line in done.stdout.decode("utf-8").splitlines()] == ["café", "呵"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    assert run_process("info", "-m", tiny_model, env=environment).stdout.decode("utf-8").count("×") == 1


@pytest.mark.skipif(os.name == "nt", reason="arguments are text there")
def test_arguments_are_utf_8_whatever_the_locale(program, tiny_model, tmp_path):
    environment = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    folder = tmp_path / "modèle"
    folder.symlink_to(tiny_model)
    for command in ("neighbors", "near", "explain"):
        plain = program(command, "-m", tiny_model, "--json", "café")
        done = run_process(command, "-m", os.fsencode(folder), "--json", "café".encode(), env=environment)
        assert (done.returncode, done.stderr) == (0, b""), command
        assert done.stdout == plain.stdout
        assert json.loads(done.stdout)["word"] == "café"
    done = run_process("embed", "-m", tiny_model, "café".encode(), b"caf\xe9", env=environment)
    assert [line.split(b" ")[0] for line in done.stdout.splitlines()[1:]] == ["café".encode(), b"caf\xe9"]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
@pytest.mark.parametrize(
    "arguments", [["embed", "--format", "vec"], ["embed", "--format", "jsonl"], ["encode"]], ids=str
)
def test_words_that_are_embedded_onto_a_terminal_do_nothing_to_it(program, tiny_model, arguments):
    controller, terminal = os.openpty()
    words = "\n".join(["red\x1b[31m", "csi\x9b2J", "\u202eevil", "plain"]).encode()
    done = program(*arguments, "-m", tiny_model, "-q", input=words, stdout=terminal)
    os.close(terminal)
    found = b""
    with suppress(OSError):  # how Linux says that the other end is closed
        while block := os.read(controller, 1 << 16):
            found += block
    os.close(controller)
    assert (done.returncode, done.stderr) == (0, b"")
    text = found.decode("utf-8").replace("\r\n", "\n")
    assert "plain" in text
    assert "x1b[31m" in text
    assert not ACTED_ON.search(text)


def test_what_goes_into_a_pipe_is_as_it_came(program, tiny_model):
    done = program("embed", "--format", "jsonl", "-m", tiny_model, "-q", input=b"red\x1b[31m\n")
    assert json.loads(done.stdout)["word"] == "red\x1b[31m"
