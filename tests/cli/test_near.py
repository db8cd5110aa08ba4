"""`lovevec near`: how strings are read."""

from __future__ import annotations

import json
import re

import pytest
from tests.factories import KNOWN_WORDS

from lovevec import LOVE


@pytest.fixture(scope="module")
def love(small_model) -> LOVE:
    return LOVE.load(small_model)


GIVEN = [
    "recieve",
    "house",
    "House",
    "tommorow",
    "blorfing",
    "",
    "hopital",
    "blorf\tish",
    "house-recieve",
    "500km",
    "🙂",
]


def test_lines_for_people(program, small_model, love):
    done = program("near", "-m", small_model, *GIVEN)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    lines = done.stdout.decode().split("\n")
    assert lines.pop() == ""
    lookup = love.lookup(GIVEN)
    for word, reading, new, near, line in zip(GIVEN, lookup.readings, lookup.new, lookup.near(), lines, strict=True):
        cells = line.split("\t")
        assert cells[:2] + cells[3:] == [word.replace("\t", "\\t"), reading, f"{new:.2f}"]
        if reading != "parts":
            assert cells[2] == ", ".join(f"{name} {chance:.2f}" for name, chance in near if chance >= 0.005)
    assert lines[0].startswith("recieve\tnear\treceive 0.")
    assert lines[1] == "house\tknown\thouse 1.00\t0.00"
    assert lines[2] == "House\tknown\thouse 1.00\t0.00"
    assert lines[5] == "\tempty\t\t0.00"
    assert re.fullmatch(r"house-recieve\tparts\thouse \+ recieve \(receive 0\.\d\d\)\t0\.00", lines[8])
    assert lines[9] == "500km\tparts\t500 + km\t0.00"


def test_objects_for_programs(program, small_model, love):
    done = program("near", "--json", "-m", small_model, *GIVEN)
    assert done.returncode == 0, done.stderr
    for word, line in zip(GIVEN, done.stdout.decode().splitlines(), strict=True):
        found = json.loads(line)
        assert set(found) == {"word", "reading", "kind", "near", "new", "parts"}
        lookup = love.lookup(word)
        assert (found["word"], found["reading"], found["kind"]) == (word, lookup.readings[0], lookup.kinds[0])
        assert [(one["text"], one["word"]) for one in found["parts"]] == [
            (part.text, part.word) for part in lookup.parts[0]
        ]
        assert [one["word"] for one in found["near"]] == [name for name, _ in love.near(word)]
        for one, (_, chance) in zip(found["near"], love.near(word), strict=True):
            assert one["probability"] == pytest.approx(chance, abs=1e-6)


def test_words_of_a_stream(program, small_model, love):
    content = "recieve\r\nhouse\n\nпревет\n".encode()
    done = program("near", "-m", small_model, input=content)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert [row[:2] for row in rows] == [["recieve", "near"], ["house", "known"], ["", "empty"], ["превет", "near"]]
    meant, chance = rows[-1][2].split(", ")[0].split()
    assert meant == "привет"
    assert 0.5 < float(chance) <= 1


def test_so_many_words_of_each(program, small_model, love):
    k = 2
    done = program("near", "-k", k, "--json", "-m", small_model, "wierd", "thouhgt")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [len(one["near"]) for one in found] == [len(near) for near in love.near(["wierd", "thouhgt"], k)]
    assert max(len(one["near"]) for one in found) <= k


def test_the_probability_of_new_does_not_depend_on_how_many_words_are_shown(program, small_model, love):
    shown = {k: program("near", "-k", k, "--json", "-m", small_model, "thouhgt").stdout for k in (1, 10)}
    new = {k: json.loads(line)["new"] for k, line in shown.items()}
    assert new[10] == pytest.approx(love.lookup("thouhgt").probabilities.new[0], abs=1e-6)
    assert new[1] == new[10]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "no/such/model", "recieve"), "no/such/model"),
        (("-k", "0", "recieve"), "k is 0: must be at least 1, a whole number"),
    ],
)
def test_mistakes_are_one_line(program, small_model, arguments, message, tmp_path):
    model = () if "-m" in arguments else ("-m", small_model)
    done = program("near", *model, *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_damaged_model_is_one_line(program, small_model, tmp_path):
    copy = tmp_path / "m"
    copy.mkdir()
    for file in small_model.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / "rows.safetensors").write_bytes(b"\0" * 100)
    done = program("near", "-m", copy, "recieve")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"rows.safetensors" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_the_words_are_those_of_the_model(love):
    assert list(love.words) == KNOWN_WORDS
