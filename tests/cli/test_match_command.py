"""`lovevec match` and `lovevec dedupe`: tables in, tables out, all columns kept."""

from __future__ import annotations

import csv
import io
import json

import pyarrow
import pyarrow.parquet
import pytest

LEFT = [
    ("1", "Vestergaard Foods", "Oslo"),
    ("2", "Kowalski Systems", "Riga, LV"),
    ("3", 'Zentora "Z" Robotics', "Bonn"),
]
RIGHT = [("a", "Kowalsky systems", "9"), ("b", "Vestergard Foods", "8"), ("c", "Something Else", "")]


@pytest.fixture
def folder(tmp_path):
    for name, head, rows in (("a.csv", ["id", "name", "town"], LEFT), ("b.csv", ["id", "title", "score"], RIGHT)):
        with open(tmp_path / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *rows])
    return tmp_path


MATCH = ("match", "a.csv", "b.csv", "--column", "name", "--right-column", "title")


def test_all_columns_of_both_tables(program, folder):
    done = program(*MATCH, "--min-probability", "0.5", "-o", "out.csv", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"lovevec: records: 3; matched: 2\n")
    rows = list(csv.DictReader(io.StringIO((folder / "out.csv").read_text("utf-8"))))
    assert list(rows[0]) == ["id", "title", "score", "left_id", "name", "town", "probability"]
    assert [(row["id"], row["left_id"], row["name"]) for row in rows] == [
        ("a", "2", "Kowalski Systems"),
        ("b", "1", "Vestergaard Foods"),
        ("c", "", ""),
    ]
    assert rows[0]["town"] == "Riga, LV"
    assert rows[2]["probability"] == ""
    assert 0.5 < float(rows[0]["probability"]) <= 1


def test_formats(program, folder, shipped_love):
    table = pyarrow.table({"name": [name for _, name, _ in LEFT], "n": pyarrow.array([1, None, 3], pyarrow.int32())})
    pyarrow.parquet.write_table(table, folder / "a.parquet")
    (folder / "b.jsonl").write_text(
        "".join(json.dumps({"title": row[1], "more": [1]}) + "\n" for row in RIGHT), "utf-8"
    )
    names = ("--column", "name", "--right-column", "title", "-q", "--matched", "--precision", "0.9")
    for output in ("out.jsonl", "out.parquet", "out.tsv"):
        done = program("match", "a.parquet", "b.jsonl", *names, "-o", output, cwd=folder)
        assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert [(row["title"], row["name"], row["n"], row["more"]) for row in rows] == [
        ("Kowalsky systems", "Kowalski Systems", None, [1]),
        ("Vestergard Foods", "Vestergaard Foods", 1, [1]),
    ]
    written = pyarrow.parquet.read_table(folder / "out.parquet")
    assert written.to_pylist() == rows
    assert written.schema.field("n").type == pyarrow.int32()
    found = shipped_love.match([row[1] for row in LEFT], [row[1] for row in RIGHT], precision=0.9)
    assert [row["probability"] for row in rows] == [round(match.probability, 4) for match in found]


def test_lines_and_standard_input(program, tmp_path):
    (tmp_path / "a.txt").write_text("Lindqvist Marine\nKowalski Systems\n", "utf-8")
    done = program(
        "match", "a.txt", "-", "--one-to-one", "-q", input=b"kowalski system\n\nlindquist marine\n", cwd=tmp_path
    )
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["left_text"] for row in rows] == ["Kowalski Systems", "", "Lindqvist Marine"]
    done = program("dedupe", "-", input=b"Lindqvist Marine\nKowalski\nLindqvist Marin\n")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["group"] for row in rows] == ["1", "2", "1"]
    assert done.stderr == b"lovevec: records: 3; groups of two and more: 1; duplicates: 1\n"


def test_dedupe_keeps_the_table(program, folder):
    rows = [*LEFT, ("4", "Vestergard Foods", "")]
    with open(folder / "c.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "name", "town"], *rows])
    done = program("dedupe", "c.csv", "--column", "name", "-o", "out.csv", cwd=folder)
    assert done.returncode == 0
    with open(folder / "out.csv", newline="", encoding="utf-8") as file:
        written = list(csv.reader(file))
    assert [row[:3] for row in written] == [["id", "name", "town"], *map(list, rows)]
    assert [row[3] for row in written] == ["group", "1", "2", "3", "1"]
    program("dedupe", "c.csv", "--column", "name", "--first", "-o", "first.csv", cwd=folder)
    with open(folder / "first.csv", newline="", encoding="utf-8") as file:
        assert [row[0] for row in csv.reader(file)] == ["id", "1", "2", "3"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("match", "a.csv", "b.csv"), "a.csv: has columns; name what is compared with --column"),
        (("match", "a.csv", "b.csv", "--column", "name"), "b.csv: has no column 'name' but 'id', 'title', 'score'"),
        ((*MATCH, "--right-column", "score"), "1 columns of the first table and 2 of the second are named"),
        ((*MATCH, "--precision", "95"), "--precision is 95.0: must be a number above 0, at most 1, as 0.95"),
        ((*MATCH, "--min-probability", "2"), "--min-probability is 2.0: must be a number from 0 to 1"),
        ((*MATCH, "-o", "out.xlsx"), "out.xlsx: its name does not say the format"),
        ((*MATCH, "-o", "b.csv"), "b.csv: is the input too; write to another file"),
        ((*MATCH, "-o", "no/out.csv"), "no/out.csv: cannot be written: there is no folder no"),
        (("match", "-", "-"), "both tables are standard input"),
        (("match", "none.csv", "b.csv", "--column", "id"), "none.csv: cannot be read"),
        (("dedupe", "a.csv"), "a.csv: has columns; name what is compared with --column"),
        (("dedupe", "bad.csv", "--column", "x"), "bad.csv: line 3: has 2 fields for 1 columns"),
        (("dedupe", "group.csv", "--column", "x"), "group.csv: has a column 'group' already"),
        (("dedupe", "bad.jsonl", "--column", "x"), "bad.jsonl: line 2: is no JSON"),
        (("dedupe", "bad.parquet", "--column", "x"), "bad.parquet: is no parquet file"),
    ],
)
def test_bad_input_is_one_line(program, folder, arguments, problem):
    (folder / "bad.csv").write_text("x\n1\n1,2\n", "utf-8")
    (folder / "group.csv").write_text("x,group\n1,2\n", "utf-8")
    (folder / "bad.jsonl").write_text('{"x": "a"}\n{x}\n', "utf-8")
    (folder / "bad.parquet").write_bytes(b"PAR1 nothing")
    before = (folder / "b.csv").read_bytes()
    done = program(*arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert problem in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert not (folder / "out.csv").exists()
    assert (folder / "b.csv").read_bytes() == before
