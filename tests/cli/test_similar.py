"""`lovevec similar`: cosines of pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lovevec import LOVE


def test_pairs_of_the_command_line(program, tiny_model, tiny_target):
    love, (known, *_) = LOVE.load(tiny_model), tiny_target[0]
    done = program("similar", "-m", tiny_model, known, "plogrikc", "plogrikc", "plogrikc", "", "x")
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    rows = love.embed([known, "plogrikc"]).astype(np.float64)
    (reading,) = love.readings(["plogrikc"])
    assert reading in ("near", "new")
    assert lines[0] == [known, "plogrikc", f"{rows[0] @ rows[1]:.4f}", "known", reading]
    assert lines[1] == ["plogrikc", "plogrikc", "1.0000", reading, reading]
    assert lines[2] == ["", "x", "nan", "empty", "new"]


def test_pairs_for_programs(program, tiny_model, tiny_target):
    love, (known, *_) = LOVE.load(tiny_model), tiny_target[0]
    done = program("similar", "-m", tiny_model, "--json", known, "plogrikc", "", "x")
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["words"] == [known, "plogrikc"]
    assert first["readings"] == love.readings([known, "plogrikc"])
    rows = love.embed([known, "plogrikc"]).astype(np.float64)
    assert first["cosine"] == pytest.approx(rows[0] @ rows[1], abs=1e-6)
    assert second == {"words": ["", "x"], "cosine": None, "readings": ["empty", "new"]}


@pytest.mark.parametrize("how", ["file", "stdin"])
def test_pairs_of_a_stream(program, tiny_model, tmp_path, how):
    content = b"\xef\xbb\xbfone\ttwo\r\ncaf\xe9\tcaf\xe9\r\n"
    (tmp_path / "pairs.tsv").write_bytes(content)
    source = {"input": content} if how == "stdin" else {}
    done = program("similar", "-m", tiny_model, *(() if source else ("-i", tmp_path / "pairs.tsv")), **source)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split(b"\n")[:2]
    assert first.startswith(b"one\ttwo\t")
    *words, one, other = second.split(b"\t")
    assert words == [b"caf\xe9", b"caf\xe9", b"1.0000"]
    assert one == other
    assert one in (b"near", b"new")


@pytest.mark.parametrize(
    ("arguments", "input", "message"),
    [
        (("one",), b"", "words come in pairs: 1 is an odd number"),
        (("one", "two", "-i", "x"), b"", "name one of the two"),
        (("-i", "nowhere.tsv"), b"", "nowhere.tsv: no such file"),
        ((), b"a\tb\nc d\n", "standard input:2: two words with a tab between expected, found 1"),
        ((), b"a\tb\tc\n", "standard input:1: two words with a tab between expected, found 3"),
    ],
)
def test_mistakes_are_one_line(program, tiny_model, tmp_path, arguments, input, message):
    done = program("similar", "-m", tiny_model, *arguments, input=input, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"lovevec: {message}\n" or message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
