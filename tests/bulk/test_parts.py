"""Parts hold every row once, in order, wherever the cuts fall; what cannot be read is named."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.bulk import embed_files, parts
from lovevec.bulk.output import locked, settle
from lovevec.bulk.parts import open_input
from lovevec.errors import LovevecError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

WORDS = ["plain", "", 'quo"te', "a,b", "two\nlines", "c\r\nd", "naïve", "北京", "x" * 300, "end"]
LINE = st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]), max_size=20)


def rows_of(source, size=7):
    return [text for part in source.parts() for batch in source.rows(part, size) for text in batch]


def small(monkeypatch, count=64):
    monkeypatch.setattr(parts, "BYTES_PER_PART", count)
    monkeypatch.setattr(parts, "ROWS_PER_PART", 8)


@given(st.lists(LINE, min_size=1, max_size=60), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 50))
def test_lines_in_parts_are_the_lines(tmp_path_factory, lines, end, last, count):
    path = tmp_path_factory.mktemp("lines") / "w.txt"
    content = end.join(lines) + (end if last or not lines[-1] else "")
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        small(patch, count)
        source = open_input([str(path)], None, "word")
        assert rows_of(source) == lines
        cuts = [(part.start, part.stop) for part in source.parts()]
        assert all(stop == start for (_, stop), (start, _) in pairwise(cuts))


@given(st.lists(st.text(st.sampled_from('ab",\n\r é'), max_size=12), max_size=40), st.integers(1, 80))
def test_records_in_parts_are_what_the_csv_module_reads(tmp_path_factory, cells, count):
    path = tmp_path_factory.mktemp("csv") / "w.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "word"], *([number, cell] for number, cell in enumerate(cells))])
    with pytest.MonkeyPatch.context() as patch:
        small(patch, count)
        assert rows_of(open_input([str(path)], "word", "word")) == cells


@pytest.mark.parametrize("groups", [1, 5, 8, 100])
def test_rows_of_parquet_whatever_its_row_groups(tmp_path, monkeypatch, groups):
    small(monkeypatch)
    words = [*WORDS * 5, None, "last"]
    table = pyarrow.table({"id": range(len(words)), "word": words})
    parquet.write_table(table, tmp_path / "w.parquet", row_group_size=groups)
    source = open_input([str(tmp_path)], None, "word")
    assert [(part.start, part.stop) for part in source.parts()] == [
        (low, min(low + 8, len(words))) for low in range(0, len(words), 8)
    ]
    assert rows_of(source) == ["" if word is None else word for word in words]


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_text_of_any_arrow_type(tmp_path, kind):
    column = pyarrow.array(WORDS, pyarrow.large_string() if kind == "large_string" else pyarrow.string())
    column = column.dictionary_encode() if kind == "dictionary" else column
    parquet.write_table(pyarrow.table({"word": column}), tmp_path / "w.parquet")
    assert rows_of(open_input([str(tmp_path)], "word", "word")) == WORDS


def test_json_lines_tables_of_tabs_and_packed_files(tmp_path, monkeypatch):
    small(monkeypatch)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": word}) + "\n" for word in WORDS), "utf-8")
    assert rows_of(open_input([str(tmp_path / "a.jsonl")], "text", "word")) == WORDS
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t").writerows([["word"], *([word] for word in WORDS)])
    (tmp_path / "a.tsv").write_text("\ufeff" + out.getvalue(), "utf-8", newline="")
    assert rows_of(open_input([str(tmp_path / "a.tsv")], "word", "word")) == WORDS
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(out.getvalue().encode()))
    packed = open_input([str(tmp_path / "a.tsv.gz")], "word", "word")
    assert len(packed.parts()) == 1
    assert rows_of(packed) == WORDS
    (tmp_path / "a.txt.bz2").write_bytes(bz2.compress(b"one\ntwo\n" * 100))
    assert rows_of(open_input([str(tmp_path / "a.txt.bz2")], None, "word")) == ["one", "two"] * 100


def test_carriage_returns_alone_end_lines(tmp_path, monkeypatch):
    small(monkeypatch, 16)
    (tmp_path / "mac.txt").write_bytes(b"one\rtwo\r" * 20)
    assert rows_of(open_input([str(tmp_path / "mac.txt")], None, "word")) == ["one", "two"] * 20


def test_files_folders_globs_and_addresses(tmp_path):
    for name in ("b/2.txt", "b/1.txt", "a/3.txt", "b/.hidden.txt", "b/_SUCCESS", "b/[x].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)

    def names(*addresses):
        return [file.path.removeprefix(f"{tmp_path}/") for file in open_input(addresses, None, "word").files]

    assert names(f"{tmp_path}") == ["a/3.txt", "b/1.txt", "b/2.txt", "b/[x].txt"]
    assert names(f"{tmp_path}/b/[12].txt") == ["b/1.txt", "b/2.txt"]
    assert names(f"{tmp_path}/b/[x].txt") == ["b/[x].txt"]
    assert names(f"{tmp_path}/*/?.txt") == ["a/3.txt", "b/1.txt", "b/2.txt"]
    assert names(f"{tmp_path}/b/2.txt", f"{tmp_path}/a", f"{tmp_path}/b/2.txt") == ["a/3.txt", "b/2.txt"]
    assert names(f"file://{tmp_path}/a") == ["a/3.txt"]  # pyarrow's own
    assert names(f"local://{tmp_path}/b/1.*") == ["b/1.txt"]  # fsspec's
    assert rows_of(open_input([f"local://{tmp_path}/a"], None, "word")) == ["a/3.txt"]


@pytest.mark.parametrize(
    ("name", "content", "column", "message"),
    [
        ("w.csv", b"id,wort\n1,a\n", "word", "w.csv: has no column 'word' but 'id', 'wort'"),
        ("w.jsonl", b'{"wort": "a"}\n', "word", "w.jsonl: line 1: has no text under 'word'"),
        ("w.parquet", b"PAR1 no, it is not", "word", "w.parquet: is no parquet file (Parquet magic bytes not found"),
        ("w.txt.gz", b"no gzip at all", None, "w.txt.gz: cannot be read ("),
        ("w.txt", b"a\n", "word", "w.txt: is read as lines, which have no column 'word'"),
        ("nothing/w.txt", None, None, "w.txt: there is no such file or folder"),
        ("*.csv", None, "word", "*.csv: names no files"),
        ("odd://there", None, None, "odd://there: cannot be reached: Protocol not known: odd"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, column, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(LovevecError) as caught:
        open_input([name if "://" in name else str(tmp_path / name)], column, "word").parts()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_of_numbers_is_refused(tmp_path):
    parquet.write_table(pyarrow.table({"word": [1, 2]}), tmp_path / "n.parquet")
    with pytest.raises(LovevecError, match=r"n\.parquet: the column 'word' holds int64, no text"):
        open_input([str(tmp_path)], "word", "word").parts()


def test_files_of_several_kinds_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("word\nx\n")
    (tmp_path / "b.txt").write_text("x\n")
    with pytest.raises(LovevecError, match="files of several kinds: csv"):
        open_input([str(tmp_path)], None, "word")


def test_an_error_in_a_later_part_says_from_where_it_counts(tmp_path, monkeypatch):
    small(monkeypatch, 100)
    (tmp_path / "a.jsonl").write_text('{"word": "good"}\n' * 20 + "broken\n")
    source = open_input([str(tmp_path / "a.jsonl")], None, "word")
    with pytest.raises(LovevecError, match=r"a\.jsonl from byte \d+: line \d+: is no JSON"):
        rows_of(source)


def test_an_empty_file_is_one_empty_part(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    source = open_input([str(tmp_path)], None, "word")
    assert len(source.parts()) == 1
    assert rows_of(source) == []


def test_a_file_that_is_written_while_it_is_read_is_named(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
    source = open_input([str(tmp_path)], None, "word")
    source.refuse_changed()
    os.utime(tmp_path / "a.txt", ns=(1, 1))
    (tmp_path / "b.txt").write_text("another\n")
    with pytest.raises(LovevecError, match=r"a\.txt \(and 1 more files\): was written anew while it was read"):
        source.refuse_changed()
    (tmp_path / "a.txt").unlink()
    with pytest.raises(LovevecError, match=r"a\.txt \(and 1"):
        source.refuse_changed()


def test_a_second_job_in_a_folder_is_told_before_anything_starts(tmp_path, small_model):
    (tmp_path / "w.txt").write_text("one\ntwo\n")
    script = f"""
import sys
from pyarrow import fs
from lovevec.bulk.output import locked
with locked(fs.LocalFileSystem(), {str(tmp_path / "out")!r}):
    print("held", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LovevecError, match=rf"out: another process \({other.pid}\) is at work there"):
            embed_files([str(tmp_path / "w.txt")], str(tmp_path / "out"), model=small_model)
        other.communicate("")
    assert list((tmp_path / "out").iterdir()) == []
    from pyarrow.fs import LocalFileSystem

    with locked(LocalFileSystem(), str(tmp_path / "out")):
        settle(LocalFileSystem(), str(tmp_path / "out"), {"input": []}, overwrite=False)
