"""Rows of files by several columns: what stands there, by other readers' word, whatever the page they come in."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.errors import LovevecError
from lovevec.texts import records
from lovevec.texts.records import open_records

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)


def rows_of(path, columns, ids=None):
    """All rows: (texts, id), and their numbers."""
    rows, numbers = [], []
    with open_records(path, columns, ids) as stream:
        for page in stream.pages:
            own = page.ids if ids is not None else [None] * len(page.numbers)
            rows += zip(zip(*page.columns, strict=True), own, strict=True)
            numbers += page.numbers
        assert stream.total in (None, len(rows))
    return rows, numbers


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(records, "TEXTS_PER_READ", 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=10), st.sampled_from([("a.csv", ","), ("a.tsv", "\t")]))
def test_tables_as_the_csv_module_reads_them(tmp_path_factory, rows, kind):
    name, delimiter = kind
    path = tmp_path_factory.mktemp("t") / name
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("id", "title", "body"), *rows])
    path.write_text(file.getvalue(), "utf-8", newline="")
    found, _ = rows_of(path, ["body", "title"], "id")
    assert found == [((body, title), one) for one, title, body in rows]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 99) | CELLS, CELLS | st.none(), CELLS), min_size=1, max_size=10))
def test_objects_and_parquet_say_the_same(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("t")
    objects = [{"id": str(one), "title": title, "body": body} for one, title, body in rows]
    (folder / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in objects), "utf-8")
    expected = [((one["title"] or "", one["body"]), one["id"]) for one in objects]
    assert rows_of(folder / "a.jsonl", ["title", "body"], "id") == (expected, list(range(1, len(rows) + 1)))
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "title", "body")])
    parquet.write_table(pyarrow.Table.from_pylist(objects, schema), folder / "a.parquet")
    assert rows_of(folder / "a.parquet", ["title", "body"], "id") == (expected, list(range(len(rows))))


def test_whole_numbers_are_ids_and_lines_have_none(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 7, "t": "a"}\n{"id": "x"}\n', "utf-8")
    assert rows_of(tmp_path / "a.jsonl", ["t"], "id")[0] == [(("a",), 7), (("",), "x")]
    (tmp_path / "a.txt").write_text("a\n\nb\n" * 2, "utf-8")
    assert rows_of(tmp_path / "a.txt", []) == ([((text,), None) for text in ["a", "", "b"] * 2], list(range(1, 7)))


def test_a_blank_line_of_a_table_is_no_row(tmp_path):
    (tmp_path / "a.csv").write_text('t,u\na,b\n\n"c\nd",e\n', "utf-8")
    assert rows_of(tmp_path / "a.csv", ["t", "u"]) == ([(("a", "b"), None), (("c\nd", "e"), None)], [2, 5])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "id,title\n1,a\n", "a.csv: has no column 'body' but 'id', 'title'"),
        ("a.csv", "title,body\n1,a\n", "a.csv: has no column 'id' but 'title', 'body'"),
        ("a.csv", "title,id,body\na,1,b\na,1\n", "a.csv: line 3: has 2 of 3 columns, not 'body'"),
        ("a.jsonl", '{"id": 1, "title": "a"}\n', "a.jsonl: none of its first 1 lines has 'body'"),
        ("a.jsonl", '{"id": 1, "title": "a", "body": 5}\n', "a.jsonl: line 1: 'body' holds int, no text"),
        ("a.jsonl", '{"title": "a", "body": "b"}\n', "a.jsonl: line 1: 'id' holds nothing: an id is a text or a whole"),
        ("a.jsonl", '{"id": true, "title": "a", "body": "b"}\n', "a.jsonl: line 1: 'id' holds bool: an id is a"),
        ("a.jsonl", "[1]\n", "a.jsonl: line 1: is no JSON object"),
        ("a.jsonl", "{\n", "a.jsonl: line 1: is no JSON ("),
        ("a.parquet", "x", "a.parquet: is no parquet file"),
        ("a.txt", "x", "column is for files that end in .csv"),
    ],
)
def test_what_is_wrong_is_said_of_its_place(tmp_path, monkeypatch, name, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(LovevecError) as caught:
        rows_of(Path(name), ["title", "body"], "id")
    assert str(caught.value).startswith(message)
