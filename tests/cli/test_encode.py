"""`lovevec encode`: texts in, vectors out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lovevec import LOVE

TEXTS = ["a house", "hosue by the river", "", "two\nlines", 'a "quoted", one']


@pytest.fixture(scope="module")
def love(small_model) -> LOVE:
    return LOVE.load(small_model)


def test_texts_on_the_command_line(program, small_model, love):
    done = program("encode", "-m", small_model, *TEXTS)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b"lovevec: texts without words: 1; their rows are zeros\n"
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["text"] for one in found] == TEXTS
    assert set(found[0]) == {"text", "vector"}
    np.testing.assert_allclose([one["vector"] for one in found], love.encode(TEXTS), atol=1e-7)


def test_lines_of_a_stream_and_of_a_file(program, small_model, love, tmp_path):
    lines = [text for text in TEXTS if "\n" not in text]
    content = "\n".join([*lines, ""]).encode()
    out = tmp_path / "v.npy"
    done = program("encode", "-q", "-m", small_model, "-o", out, input=content)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert np.array_equal(np.load(out), love.encode(lines))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v.npy"]  # no list of words beside it
    (tmp_path / "t.txt").write_bytes(content)
    done = program("encode", "-q", "-m", small_model, "-i", tmp_path / "t.txt", "-o", out, "--precision", "float16")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(out), love.encode(lines).astype(np.float16))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_a_column_of_a_table(program, small_model, love, tmp_path, name):
    path, out = tmp_path / name, tmp_path / "v.parquet"
    parquet = pytest.importorskip("pyarrow.parquet")
    import csv

    import pyarrow

    rows = [{"n": number, "title": text} for number, text in enumerate(TEXTS)]
    if name == "t.jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name == "t.parquet":
        parquet.write_table(pyarrow.table({"n": range(5), "title": [*TEXTS[:2], None, *TEXTS[3:]]}), path)
    else:
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, ["n", "title"], delimiter="\t" if name == "t.tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    done = program("encode", "-q", "-m", small_model, "-i", path, "--column", "title", "-o", out)
    assert done.returncode == 0, done.stderr
    found = parquet.read_table(out).to_pydict()
    assert found["text"] == TEXTS
    assert np.array_equal(np.array(found["vector"], dtype=np.float32), love.encode(TEXTS))


def test_tokens(program, small_model, love):
    done = program("encode", "--tokens", "-m", small_model, "House, hosue", "blorfingly")
    assert done.returncode == 0, done.stderr
    lines = [
        "" if token is None else f"{token.text}\t{token.reading}\t{token.word or '-'}\t{token.weight:.2f}"
        for token in (*love.tokens("House, hosue"), None, *love.tokens("blorfingly"), None)
    ]
    assert done.stdout.decode() == "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", "n,title\n1,a\n2\n", "t.csv: line 3: has 1 of 2 columns, not 'title'"),
        ("t.csv", 'n,title\n1,"a\n', "t.csv: line 2: is no line of a table"),
        ("t.csv", "n,name\n1,a\n", "t.csv: has no column 'title' but 'n', 'name'"),
        ("t.csv", "", "t.csv: has no column 'title' but none"),
        ("t.jsonl", '{"title": "a"}\n{"title": 5}\n', "t.jsonl: line 2: has no text under 'title'"),
        ("t.jsonl", '{"title": "a"}\n[1]\n', "t.jsonl: line 2: has no text under 'title'"),
        ("t.jsonl", '{"title": "a"\n', "t.jsonl: line 1: is no JSON"),
        ("t.parquet", "PAR1", "t.parquet: is no parquet file"),
        ("t.txt", "a\n", "--column is for files that end in .csv"),
    ],
)
def test_a_table_that_is_none_is_named_and_nothing_is_written(program, small_model, tmp_path, name, content, says):
    pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(content)
    done = program("encode", "-m", small_model, "-i", tmp_path / name, "--column", "title", "-o", tmp_path / "v.npy")
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-i", "there-is-none.txt"], "there-is-none.txt: "),
        (["-i", "there-is-none.csv", "--column", "a"], "there-is-none.csv: cannot be read"),
        (["-i", "t.csv"], "t.csv: has columns; name that of the texts with --column"),
        (["a", "-i", "t.txt"], "name one of the two"),
        (["a", "-o", "v.vec"], "v.vec: its name does not say the format"),
        (["a", "-o", "nowhere/v.npy"], "there is no folder nowhere"),
        (["a", "--tokens", "-o", "v.npy"], "leave out -o"),
    ],
)
def test_mistakes_are_told_in_a_line(program, small_model, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a\n")
    done = program("encode", "-m", small_model, *arguments)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
