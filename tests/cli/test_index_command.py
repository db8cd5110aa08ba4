"""`lovevec index`: files of texts in, a folder out that searches as the library's index of the same texts does."""

from __future__ import annotations

import json
import os

import pytest

from lovevec.cli import index as command
from lovevec.search import Index

TITLES = ["Wireless headphones, black", "Café kettle 1.7 l", "", "Vestergaard bookshelf", "Running shoes"]
BODIES = ["with noise cancelling", "stainless steel", "a box", "of oak", "for women"]
QUERIES = ["wireles hedphones", "ketle", "Vestergard", "shooes", "nois canceling", "stainles"]


def write_table(folder, kind: str) -> str:
    """The titles and bodies as a table, with ids and a column that nobody asks for."""
    name = f"products.{kind}"
    rows = [
        {"sku": f"P{n}", "title": title, "body": body, "price": "1"}
        for n, (title, body) in enumerate(zip(TITLES, BODIES, strict=True))
    ]
    if kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(rows), folder / name)
    elif kind == "jsonl":
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        mark = "," if kind == "csv" else "\t"
        lines = [mark.join(rows[0]), *(mark.join(f'"{cell}"' for cell in row.values()) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    return name


def same(folder, index: Index) -> bool:
    """Whether a folder's index is the same, to the bit of the scores."""
    loaded = Index.load(folder, index.love)
    return loaded.ids == index.ids and loaded.search(QUERIES, 3) == index.search(QUERIES, 3)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_column_of_a_table(program, shipped_love, tmp_path, kind):
    name = write_table(tmp_path, kind)
    done = program("index", name, "--column", "title", "--id", "sku", "-o", "shop", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"lovevec: 5 texts; shop: ")
    assert same(tmp_path / "shop", shipped_love.index(TITLES, [f"P{n}" for n in range(5)]))


def test_several_columns_are_fields_with_weights(program, shipped_love, tmp_path, monkeypatch):
    """However many rows are added at a time."""
    monkeypatch.setattr(command, "ROWS_PER_ADDITION", 2)
    monkeypatch.setattr("lovevec.texts.records.TEXTS_PER_READ", 1)
    name = write_table(tmp_path, "csv")
    done = program("index", name, "--column", "title:2.5", "--column", "body", "-q", "-o", "shop", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    records = [{"title": title, "body": body} for title, body in zip(TITLES, BODIES, strict=True)]
    assert same(tmp_path / "shop", shipped_love.index(records, fields={"title": 2.5, "body": 1.0}))


@pytest.mark.parametrize("way", ["file", "stream"])
def test_lines(program, shipped_love, tmp_path, way):
    content = "".join(f"{title}\n" for title in TITLES).encode()
    (tmp_path / "t.txt").write_bytes(content)
    source = (["t.txt"], b"") if way == "file" else ([], content)
    done = program("index", *source[0], "-o", "shop", input=source[1], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert same(tmp_path / "shop", shipped_love.index(TITLES))


def test_bytes_that_are_no_utf_8_stay_what_they_are(program, tmp_path):
    (tmp_path / "t.txt").write_bytes(b"caf\xe9 kettle\noak shelf\n")
    assert program("index", "t.txt", "-o", "shop", cwd=tmp_path).returncode == 0
    done = program("search", "shop", "--json", "ketle", cwd=tmp_path)
    assert json.loads(done.stdout)["hits"][0]["text"] == "caf\udce9 kettle"
    shown = program("search", "shop", "ketle", cwd=tmp_path).stdout
    assert b"caf\xe9 kettle" in shown


def test_an_index_is_replaced_where_that_is_asked_for_and_nothing_else_ever(program, tmp_path):
    (tmp_path / "a.txt").write_text("oak\n")
    (tmp_path / "b.txt").write_text("steel\nglass\n")
    assert program("index", "a.txt", "-o", "shop", cwd=tmp_path).returncode == 0
    done = program("index", "b.txt", "-o", "shop", cwd=tmp_path)
    assert done.returncode == 2
    assert b"shop: holds an index already; choose another place, or --overwrite it" in done.stderr
    assert Index.load(tmp_path / "shop").texts == ["oak"]
    assert program("index", "b.txt", "-o", "shop", "--overwrite", cwd=tmp_path).returncode == 0
    assert Index.load(tmp_path / "shop").texts == ["steel", "glass"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = program("index", "b.txt", "-o", "mine", "--overwrite", cwd=tmp_path)
    assert done.returncode == 2
    assert b"mine: is there already, and is no index" in done.stderr
    assert os.listdir(tmp_path / "mine") == ["letter.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv", "--column", "titel"), "t.csv: has no column 'titel' but 'sku', 'title', 'n:2'"),
        (("t.csv", "--column", "title", "--id", "id"), "t.csv: has no column 'id' but 'sku', 'title', 'n:2'"),
        (("t.csv", "--column", "title", "--id", "sku"), "t.csv: line 4: the id 'a' is that of line 2 too"),
        (("t.csv", "--column", "n:2"), "t.csv: has no column 'n' but"),
        (("t.csv",), "t.csv: has columns; name that of the texts with --column"),
        (("t.txt", "--column", "title"), "--column is for files that end in .csv"),
        (("t.txt", "--id", "sku"), "--id is for tables: name the columns of their texts with --column"),
        (("t.csv", "--column", "title:0"), "--column title:0: a weight is a number above 0, at most 100"),
        (("t.csv", "--column", "title:1e9"), "--column title:1e9: a weight is a number above 0"),
        (("t.csv", "--column", "title:nan"), "--column title:nan: a weight is a number above 0"),
        (("t.csv", "--column", "title", "--column", "title:2"), "--column title: is there twice; a weight"),
        (("absent.csv", "--column", "title"), "absent.csv: cannot be read: No such file or directory"),
        (("empty.txt",), "empty.txt: has no texts"),
        (("t.txt", "-m", "nowhere/x/y"), "nowhere/x/y: no such model folder"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(program, tmp_path, arguments, message):
    (tmp_path / "t.csv").write_text("sku,title,n:2\na,oak,1\nb,steel,2\na,glass,3\n")
    (tmp_path / "t.txt").write_text("oak\n")
    (tmp_path / "empty.txt").write_text("")
    done = program("index", *arguments, "-o", "shop", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"lovevec: {message}")
    assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "shop").exists()


def test_a_column_whose_name_ends_like_a_weight(program, tmp_path):
    (tmp_path / "t.csv").write_text("n:2,a:b\noak,steel\n")
    done = program("index", "t.csv", "--column", "n:2:1", "--column", "a:b", "-o", "shop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Index.load(tmp_path / "shop").texts == ["oak steel"]


def test_info_tells_what_an_index_is(program, shipped_love, tmp_path):
    name = write_table(tmp_path, "csv")
    columns = ("--column", "title:2", "--column", "body")
    program("index", name, *columns, "--id", "sku", "-o", "shop", cwd=tmp_path)
    done = program("info", "shop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.decode().splitlines())
    assert lines["texts"] == "5, ids P0 to P4"
    assert lines["fields"] == "title × 2, body × 1"
    assert lines["model"] == "the shipped one"
    facts = json.loads(program("info", "shop", "--json", cwd=tmp_path).stdout)
    assert facts["bytes"] == sum(file.stat().st_size for file in (tmp_path / "shop").iterdir())
    assert (facts["texts"], facts["fields"]) == (5, {"title": 2.0, "body": 1.0})
    (tmp_path / "shop" / "texts.safetensors").write_bytes(b"x")
    done = program("info", "shop", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr == b"lovevec: shop/texts.safetensors: damaged: its size or SHA-256 is not the one in config.json\n"
    )
