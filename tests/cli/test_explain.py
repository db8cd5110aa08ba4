"""`lovevec explain` and `lovevec neighbors` as people run them."""

from __future__ import annotations

import json

import pytest

from lovevec import LOVE


def test_explain_prints_what_python_says(tiny_model, program):
    done = program("explain", "-m", tiny_model, "plogrikc", "", "-k", "3")
    assert done.returncode == 0, done.stderr
    love = LOVE.load(tiny_model)
    assert done.stdout.decode() == f"{love.explain('plogrikc', 3)}\n\n{love.explain('', 3)}\n"
    assert done.stderr == b""


def test_json_is_one_object_a_line_whatever_the_word(tiny_model, program):
    words = b"plogrikc\r\n\xffodd\n\nl\xc3\xa4st"
    done = program("explain", "-m", tiny_model, "--json", input=words)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [entry["word"].encode("utf-8", "surrogateescape") for entry in found] == [
        b"plogrikc",
        b"\xffodd",
        b"",
        "läst".encode(),
    ]
    assert [entry["empty"] for entry in found] == [False, False, True, False]
    assert len(found[0]["attention"]) == len(found[0]["units"])


def test_a_picture_beside_the_text(tiny_model, program, tmp_path):
    pytest.importorskip("matplotlib")
    done = program("explain", "-m", tiny_model, "bec0me", "--plot", tmp_path / "out.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    reading = LOVE.load(tiny_model).readings(["bec0me"])[0]
    assert done.stdout.startswith(f"'bec0me': {reading}".encode())


def test_neighbors_of_words_from_stdin(tiny_model, program):
    done = program("neighbors", "-m", tiny_model, "-k", "2", input=b"\xef\xbb\xbfplogrikc\r\n\nbrand")
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    love = LOVE.load(tiny_model)
    near = ", ".join(f"{word} {cosine:.2f}" for word, cosine in love.neighbors("plogrikc", 2))
    assert lines[0] == ["plogrikc", love.readings(["plogrikc"])[0], near]
    assert lines[1] == ["", "empty", ""]
    assert len(lines) == 3


def test_a_line_of_several_words_is_one_and_that_is_said_once(tiny_model, program):
    text = b"plogrikc\n the brand \nthe quick\tbrown fox\nnew york\n" * 200
    done = program("neighbors", "-m", tiny_model, input=text)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].startswith(b" the brand \t")
    assert len(done.stdout.splitlines()) == 800
    note = b"lovevec: note: a line is one word, white space and all, as ' the brand '; --words takes it apart\n"
    assert done.stderr == note
    quiet = program("neighbors", "-m", tiny_model, input=b"plogrikc \n the\n \n\n")
    assert (quiet.returncode, quiet.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["neighbors", "near", "explain"])
def test_the_words_of_each_line(tiny_model, program, command):
    done = program(command, "-m", tiny_model, "--json", "--words", input=b"the plogrikc\n\n  brand\tnew \r\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line)["word"] for line in done.stdout.splitlines()] == ["the", "plogrikc", "brand", "new"]
    again = program(command, "-m", tiny_model, "--json", "--words", "the plogrikc", "brand new")
    assert again.stdout == done.stdout


def test_neighbors_as_json(tiny_model, program):
    known = LOVE.load(tiny_model).words[0]
    done = program("neighbors", "-m", tiny_model, "--json", known, "qqq", " ")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(entry["known"], entry["empty"]) for entry in found] == [(True, False), (False, False), (False, True)]
    assert [len(entry["neighbors"]) for entry in found] == [5, 5, 0]
    assert found[1]["neighbors"][0]["word"] in LOVE.load(tiny_model)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "one", "two", "--plot", "x.png"), b"--plot draws one word; 2"),
        (("explain", "one", "--plot", "x.doc"), b"x.doc: a picture's name ends in .png"),
        (("explain", "--plot", "x.png", "--words", "one two"), b"--plot draws one word; 2 on the command line"),
        (("neighbors", "one", "-k", "0"), b"k is 0: must be at least 1"),
    ],
)
def test_bad_input_is_one_line(tiny_model, program, tmp_path, arguments, message):
    done = program(*arguments, "-m", tiny_model, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    assert message in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["explain", "neighbors"])
def test_help_teaches_by_example(program, command):
    text = program(command, "--help").stdout.decode()
    assert text.count(f"  lovevec {command} ") >= 3
    assert "default" in text
