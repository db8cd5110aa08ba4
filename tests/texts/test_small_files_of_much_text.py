"""Files of a few bytes that stand for gigabytes, lines without an end, and files of another kind than their name says:
little memory, and one line that names the file."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from lovevec.bulk.parts import open_input
from lovevec.errors import FormatError, LovevecError
from lovevec.texts.parquet import BYTES_PER_PAGE
from lovevec.texts.read import CHARACTERS_PER_PAGE, open_texts
from lovevec.texts.rewrite import open_rows

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
MEGABYTE = 1 << 20
MOST_MEMORY = 400 * MEGABYTE  # of a process beyond what it has before it reads

# Reads a file as a command does, and prints how many megabytes that took.
MEASURED = """
import resource, sys
from pathlib import Path
import numpy, pyarrow.parquet, pyarrow.compute
from lovevec.bulk.parts import open_input
from lovevec.errors import LovevecError
from lovevec.texts.read import open_texts
from lovevec.texts.rewrite import open_rows

way, name = sys.argv[1:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
column = None if name.endswith(".txt.gz") else "text"
try:
    if way == "encode":
        with open_texts(Path(name), column) as stream:
            rows = sum(map(len, stream.batches))
    elif way == "correct":
        with open_rows(Path(name), column) as file:
            rows = sum(len(page.texts) for page in file.pages())
    else:
        source = open_input([name], column, "text")
        rows = sum(len(batch) for part in source.parts() for batch in source.rows(part, 16384))
    outcome = rows
except LovevecError as error:
    outcome = str(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
print(outcome)
"""


def _write_one_string(path: Path, name: str, more: dict[str, list[str]]) -> None:
    """A table of 3,000 times one megabyte, which stands in the file once."""
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 3000), ["x" * MEGABYTE])
    table = pyarrow.table({**more, name: column})
    parquet.write_table(table, path, compression="zstd", store_schema=False, dictionary_pagesize_limit=4 * MEGABYTE)
    assert path.stat().st_size < 2000


def _parquet_of_one_string(path: Path) -> None:
    _write_one_string(path, "text", {})


def _parquet_of_one_string_elsewhere(path: Path) -> None:
    _write_one_string(path, "other", {"text": ["a"] * 3000})


def _parquet_that_packs_well(path: Path) -> None:
    texts = ["x" * MEGABYTE + str(row) for row in range(200)]
    parquet.write_table(pyarrow.table({"text": texts}), path, compression="zstd", use_dictionary=False)


def _packed_json_of_one_line(path: Path) -> None:
    with gzip.open(path, "wb", 1) as file:
        file.write(b'{"text": "')
        for _ in range(500):
            file.write(b"x" * MEGABYTE)
        file.write(b'"}\n')


def _packed_lines(path: Path) -> None:
    with gzip.open(path, "wb", 9) as file:
        for _ in range(60):
            file.write(b"x\n" * (MEGABYTE // 2))


def _json_lines_of_long_texts(path: Path) -> None:
    with path.open("w") as file:
        for _ in range(40):
            file.write(json.dumps({"text": "y " * MEGABYTE}) + "\n")


@pytest.mark.parametrize(
    ("name", "write", "ways"),
    [
        ("d.parquet", _parquet_of_one_string, ("encode", "correct", "bulk")),
        ("o.parquet", _parquet_of_one_string_elsewhere, ("correct",)),
        ("z.parquet", _parquet_that_packs_well, ("encode", "correct", "bulk")),
        ("l.jsonl.gz", _packed_json_of_one_line, ("bulk",)),
        ("t.txt.gz", _packed_lines, ("bulk",)),
    ],
)
def test_few_bytes_that_stand_for_gigabytes_are_refused_in_little_memory(tmp_path, name, write, ways):
    write(tmp_path / name)
    for way in ways:
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, way, tmp_path / name], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        megabytes, outcome = done.stdout.split("\n")[:2]
        assert int(megabytes) << 20 < MOST_MEMORY, (way, megabytes)
        assert name in outcome, (way, outcome)
        assert "more than" in outcome, (way, outcome)


def test_long_texts_are_read_a_few_at_a_time(tmp_path):
    _json_lines_of_long_texts(tmp_path / "t.jsonl")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "encode", tmp_path / "t.jsonl"], capture_output=True, text=True, timeout=120
    )
    megabytes, outcome = done.stdout.split()
    assert (outcome, int(megabytes) < 100) == ("40", True), done.stderr


TEXTS = ["short", "", "x" * 3_000_000, "y" * 3_000_000, "é" * 10, "short", "x" * 3_000_000, "z"] * 3


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("groups", [5, 1000])
def test_pages_of_parquet_are_bounded_and_hold_every_row(tmp_path, kind, groups):
    texts = pyarrow.array([*TEXTS, None])
    column = texts.dictionary_encode() if kind == "dictionary" else texts.cast(getattr(pyarrow, kind)())
    table = pyarrow.table({"n": range(25), "text": column, "other": texts.fill_null("")})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=groups)
    with open_texts(tmp_path / "t.parquet", "text") as stream:
        pages = list(stream.batches)
    assert list(chain.from_iterable(pages)) == [*TEXTS, ""]
    assert all(sum(map(len, page[:-1])) <= BYTES_PER_PAGE for page in pages)
    with open_rows(tmp_path / "t.parquet", "text") as file:
        batches = [page.rest for page in file.pages()]
    assert pyarrow.Table.from_batches(batches).equals(table)
    source = open_input([str(tmp_path / "t.parquet")], "text", "text")
    assert [text for part in source.parts() for page in source.rows(part, 4) for text in page] == [*TEXTS, ""]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
def test_pages_of_tables_are_bounded_and_hold_every_row(tmp_path, name):
    texts = [text.replace("", "") for text in TEXTS]
    lines = (
        [json.dumps({"text": text}) for text in texts] if name == "t.jsonl" else ["text", *(f'"{t}"' for t in texts)]
    )
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    with open_texts(tmp_path / name, "text") as stream:
        pages = list(stream.batches)
    assert list(chain.from_iterable(pages)) == texts
    assert all(sum(map(len, page[:-1])) < CHARACTERS_PER_PAGE for page in pages)
    with open_rows(tmp_path / name, "text") as file:
        assert list(chain.from_iterable(page.texts for page in file.pages())) == texts
    source = open_input([str(tmp_path / name)], "text", "text")
    assert [text for part in source.parts() for page in source.rows(part, 4) for text in page] == texts


def test_a_column_of_categories_is_no_archive(tmp_path):
    """A few hundred bytes stand for a million labels: that is what such columns are for."""
    labels = ["a perfectly good label", "another one"] * 200_000
    parquet.write_table(pyarrow.table({"text": labels}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    with open_texts(tmp_path / "t.parquet", "text") as stream:
        assert sum(map(len, stream.batches)) == 400_000


def _packed(path: Path) -> dict[str, bytes]:
    import bz2
    import lzma
    import zipfile

    text = b"some\nwords\n"
    with zipfile.ZipFile(path / "z", "w") as archive:
        archive.writestr("w.txt", text)
    parquet.write_table(pyarrow.table({"text": ["a"]}), path / "p")
    packed = {"gzip": gzip.compress(text), "xz": lzma.compress(text), "bzip2": bz2.compress(text)}
    packed |= {"zip": (path / "z").read_bytes(), "parquet": (path / "p").read_bytes()}
    return packed | {"zstd": pyarrow.compress(text, "zstd", asbytes=True), "UTF-16": "words".encode("utf-16")}


@pytest.mark.parametrize("name", ["w.txt", "w.csv", "w.jsonl"])
def test_files_of_another_kind_than_text_are_not_read_as_words(tmp_path, name):
    for kind, content in _packed(tmp_path).items():
        path = tmp_path / name
        path.write_bytes(content)
        for read in (open_texts, open_rows):
            with (
                pytest.raises(FormatError, match=rf"{name}: is .*{kind}"),
                read(path, None if name == "w.txt" else "text") as file,
            ):
                list(file.batches if read is open_texts else file.pages())
        source = open_input([str(path)], None if name == "w.txt" else "text", "text")
        with pytest.raises(LovevecError, match=name):
            source.parts()


def test_words_that_only_begin_so_are_words(tmp_path):
    words = ["PAR1", "PK", "BZh9", "PAR1 is a word"]
    for word in words:
        (tmp_path / "w.txt").write_text(f"{word}\nthe\n")
        with open_texts(tmp_path / "w.txt", None) as stream:
            assert list(stream.batches) == [[word, "the"]]


def test_standard_input_that_is_packed_is_refused(program):
    done = program("embed", input=gzip.compress(os.urandom(100)))
    assert done.returncode == 2
    assert done.stderr == b"lovevec: standard input: is packed (gzip), not text; unpack it first\n"
