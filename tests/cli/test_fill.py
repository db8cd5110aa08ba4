"""`lovevec fill`: rows that were there stay bit for bit, and every word that was asked for has one."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from tests.command_line import run_here

from lovevec import LOVE, LovevecError
from lovevec.vectors import read_vectors

TEXT = "The plogrikc, the dearlly (plogrikc)!\nDearly beloved: dearlly\u2026 plogrikc - dearly\r\n\n"


@pytest.fixture(scope="module")
def given_table(tiny_target):
    """Words and rows of lengths from 0.001 to 1,000, as they may be in anybody's file."""
    words, rows = tiny_target
    scale = np.geomspace(1e-3, 1e3, len(words), dtype=np.float32)
    return list(words), (rows * scale[np.random.default_rng(0).permutation(len(words))][:, None]).astype(np.float32)


@pytest.fixture(scope="module")
def vectors(given_table, tmp_path_factory):
    words, rows = given_table
    path = tmp_path_factory.mktemp("vectors") / "mine.npz"
    np.savez(path, words=np.array(words), vectors=rows)
    return path


@pytest.mark.parametrize("kind", ["vec", "npy", "npz", "parquet", "jsonl"])
def test_rows_that_were_there_are_bit_equal_and_new_ones_follow(
    program, tiny_model, vectors, given_table, tmp_path, kind
):
    words, rows = given_table
    (tmp_path / "corpus.txt").write_text(TEXT, "utf-8")
    out = tmp_path / f"filled.{kind}"
    done = program("fill", vectors, "--words", tmp_path / "corpus.txt", "-m", tiny_model, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    if kind == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(out)
        found, filled = table["word"].to_pylist(), np.array(table["vector"].to_pylist(), np.float32)
    elif kind == "jsonl":
        lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        found, filled = [line["word"] for line in lines], np.array([line["vector"] for line in lines], np.float32)
        assert [line["known"] for line in lines] == [True] * len(words) + [False] * 4
    else:
        table = read_vectors(out, words=tmp_path / "filled.words.txt" if kind == "npy" else None)
        found, filled = table.words, table.vectors
    added = ["plogrikc", "the", "dearlly", "beloved"]  # by frequency, then as they come
    assert found == [*words, *added]
    np.testing.assert_array_equal(filled[: len(words)], rows)
    robust = LOVE.load(tiny_model).attach((words, rows))
    np.testing.assert_allclose(filled[len(words) :], robust.embed(added), rtol=1e-4, atol=1e-4)
    assert b"300 rows kept; of 5 words asked for 1 are known, 4 rows added" in done.stderr


def fill(program, tiny_model, vectors, tmp_path, content, *more):
    """The words that are added."""
    (tmp_path / "w.txt").write_bytes(content)
    done = program("fill", vectors, "--words", tmp_path / "w.txt", "-m", tiny_model, "-o", tmp_path / "o.npz", *more)
    assert done.returncode == 0, done.stderr
    return read_vectors(tmp_path / "o.npz").words[len(read_vectors(vectors).words) :]


def test_a_list_is_taken_as_it_is(program, tiny_model, vectors, tmp_path):
    content = b"Plogrikc!\nnew york\n\n \n(dearly)\r\ndearly\n"
    assert fill(program, tiny_model, vectors, tmp_path, content, "--list") == ["plogrikc!", "new york", "(dearly)"]


def test_rare_words_can_be_left_out(program, tiny_model, vectors, tmp_path):
    content = b"aaa bbb aaa ccc bbb aaa dearly"
    assert fill(program, tiny_model, vectors, tmp_path, content) == ["aaa", "bbb", "ccc"]
    assert fill(program, tiny_model, vectors, tmp_path, content, "--min-count", "2") == ["aaa", "bbb"]
    assert fill(program, tiny_model, vectors, tmp_path, content, "--min-count", "9") == []


def test_case_is_kept_where_the_vectors_have_any(program, tiny_model, given_table, tmp_path):
    words, rows = given_table
    np.savez(tmp_path / "cased.npz", words=np.array(["Dearly", *words[1:]]), vectors=rows)
    added = fill(program, tiny_model, tmp_path / "cased.npz", tmp_path, b"Blorp blorp BLORP, blorp")
    assert added == ["blorp", "Blorp", "BLORP"]


def test_text_digits_stay_those_of_the_file(program, tiny_model, tiny_target, tmp_path):
    words, rows = tiny_target
    lines = [f"{word} {' '.join(f'{x:.5f}' for x in row / 4)}" for word, row in zip(words, rows, strict=True)]
    (tmp_path / "mine.vec").write_text(f"{len(words)} 16\n" + "\n".join(lines) + "\n")
    done = program(
        *("fill", tmp_path / "mine.vec", "--words", "-", "-m", tiny_model, "-q"), input=b"plogrikc", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, b"")
    head, *out = done.stdout.decode().splitlines()
    assert head == "301 16"
    back = read_vectors(tmp_path / "mine.vec").vectors
    read = np.array([line.split()[1:] for line in out[:-1]], np.float64).astype(np.float32)
    np.testing.assert_array_equal(read, back)
    assert out[-1].split()[0] == "plogrikc"


def test_vectors_come_from_standard_input(program, tiny_model, vectors, tmp_path):
    (tmp_path / "w.txt").write_text(TEXT, "utf-8")
    more = ("--words", tmp_path / "w.txt", "-m", tiny_model, "-q")
    outputs = [
        program("fill", "-", *more, input=vectors.read_bytes(), cwd=tmp_path),
        program("fill", vectors, *more, cwd=tmp_path),
    ]
    assert [done.returncode for done in outputs] == [0, 0], outputs[0].stderr
    assert outputs[0].stdout == outputs[1].stdout
    wrong = program("fill", "-", *more, input=b"2 3\na 1 2\nb 1 2\n", cwd=tmp_path)
    assert wrong.stderr == b"lovevec: standard input:1: the header promises 3 numbers a row, but the rows hold 2\n"
    assert b"standard input: the file is empty" in program("fill", "-", *more, cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--words", "-"), "vectors and words both from standard input"),
        (("none.vec", "--words", "w.txt"), "none.vec: no such file"),
        (("mine.npz", "--words", "none.txt"), "none.txt: no such file"),
        (("mine.npz", "--words", "w.txt", "-o", "mine.npz"), "mine.npz: is the input too"),
        (("mine.npz", "--words", "w.txt", "-o", "w.txt"), "w.txt: is the input too"),
        (("mine.npz", "--words", "w.txt", "--min-count", "0"), "--min-count is 0: must be at least 1"),
        (("mine.npz", "--words", "w.txt", "-o", "x.pkl"), "x.pkl: its name does not say the format"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(program, tiny_model, vectors, tmp_path, arguments, message):
    (tmp_path / "mine.npz").write_bytes(vectors.read_bytes())
    (tmp_path / "w.txt").write_text("word")
    done = program("fill", *arguments, "-m", tiny_model, "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["mine.npz", "w.txt"]
    assert (tmp_path / "mine.npz").read_bytes() == vectors.read_bytes()


def test_a_model_of_no_numbers_is_not_even_saved(tiny_model, tmp_path):
    parts = LOVE.load(tiny_model).parts
    weights = {name: np.full_like(array, np.nan) for name, array in parts.weights.items()}
    with pytest.raises(LovevecError, match="numbers that are not finite"):
        LOVE(replace(parts, weights=weights)).save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_model_that_says_nothing_fills_no_file(program, tiny_model, vectors, tmp_path):
    parts = LOVE.load(tiny_model).parts
    weights = {name: np.zeros_like(array) for name, array in parts.weights.items()}
    LOVE(replace(parts, weights=weights)).save(tmp_path / "m")
    (tmp_path / "w.txt").write_text("\u0436\u0449\u044a \u042d\u042e\u0436", "utf-8")
    out = tmp_path / "filled.vec"
    done = program("fill", vectors, "--words", tmp_path / "w.txt", "-m", tmp_path / "m", "-o", out, "-q")
    assert done.returncode == 2
    assert "nothing but zeros" in done.stderr.decode()
    assert not out.exists()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_a_terminal_is_not_flooded(tiny_model, vectors, tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT, "utf-8")
    ours, theirs = os.openpty()
    try:
        done = run_here("fill", vectors, "--words", tmp_path / "corpus.txt", "-m", tiny_model, stdout=theirs)
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "lovevec: all rows would scroll over the terminal: name a file with -o, or redirect the output\n"
    )
