"""Files written again: what does not change stays to the letter, what changes is read back by the usual readers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lovevec.errors import LovevecError
from lovevec.texts.read import TEXTS_PER_READ, open_texts
from lovevec.texts.rewrite import MARK, open_rows, value_span

ADDED = "text_suggestions"
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
cells = st.text(st.sampled_from(list("ab \",;\t'\r\né🙂\udce9\\")), max_size=6)
tables = st.lists(st.lists(cells, min_size=3, max_size=3), max_size=5)
marks = st.sampled_from(["", MARK])


def rewritten(path: Path, column: str | None, change: Callable[[str], str], added: str | None = None) -> bytes:
    out = io.BytesIO()
    with open_rows(path, column, added) as rows, rows.writer(out) as write:
        for page in rows.pages():
            write(page, [change(text) for text in page.texts])
    return out.getvalue()


def write(path: Path, content: str) -> bytes:
    data = content.encode("utf-8", "surrogateescape")
    path.write_bytes(data)
    return data


def read_csv(content: bytes, delimiter: str) -> list[list[str]]:
    text = io.StringIO(content.decode("utf-8-sig", "surrogateescape"), newline="")
    return list(csv.reader(text, delimiter=delimiter))


def record(row: list[str], delimiter: str, quoting: int) -> str:
    """A row without its end; by any other end but this one csv leaves some of the others unquoted."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\r\n").writerow(row)
    return file.getvalue().removesuffix("\r\n")


def louder(text: str) -> str:
    """Other texts, some of which have to be quoted, and where an empty one stays."""
    return f'{text.upper()}, "{text}"' if text else ""


@in_one_folder
@given(
    tables,
    st.sampled_from(["csv", "tsv"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    marks,
    st.booleans(),
    st.integers(0, 2),
)
@example([["", "", ""]], "csv", csv.QUOTE_MINIMAL, "\n", "", True, 0)
def test_a_table_changes_in_one_column_alone(tmp_path, rows, kind, quoting, end, mark, is_ended, place):
    delimiter = "," if kind == "csv" else "\t"
    names = ["n", "m", "o"]
    names[place] = "text"
    content = mark + end.join(record(row, delimiter, quoting) for row in [names, *rows]) + (end if is_ended else "")
    path = tmp_path / f"t.{kind}"
    data = write(path, content)
    read = read_csv(data, delimiter)
    assert rewritten(path, "text", str) == data
    changed = rewritten(path, "text", louder)
    assert read_csv(changed, delimiter) == [
        names,
        *([louder(cell) if at == place else cell for at, cell in enumerate(row)] for row in read[1:]),
    ]
    assert changed.startswith(mark.encode())
    assert changed.endswith(end.encode()) == is_ended
    longer = rewritten(path, "text", lambda text: json.dumps([text]), ADDED)
    assert read_csv(longer, delimiter) == [[*names, ADDED], *([*row, json.dumps([row[place]])] for row in read[1:])]


def test_rows_of_odd_length(tmp_path):
    """A short row is filled up before a column is added, a blank line is none; of one column it is an empty text."""
    path = tmp_path / "t.csv"
    write(path, 'text,"b",c\n"x",1\n\n\'y",2,3\n')
    assert rewritten(path, "text", str.upper) == b'text,"b",c\n"X",1\n\n"\'Y""",2,3\n'
    assert rewritten(path, "text", lambda text: "[]", "s") == b'text,"b",c,s\n"x",1,,[]\n\n\'y",2,3,[]\n'
    write(path, "text\nx\n\ny")
    assert rewritten(path, "text", lambda text: "[]", "s") == b"text,s\nx,[]\n,[]\ny,[]"
    write(path, "text,b\n1,2,3\n")
    assert rewritten(path, "text", lambda text: "9") == b"text,b\n9,2,3\n"
    with pytest.raises(LovevecError, match=r"t.csv: line 2: has 3 fields for 2 columns"):
        rewritten(path, "text", str, "s")
    write(path, "text\n")
    assert rewritten(path, "text", str, "s") == b"text,s\n"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | cells,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(cells, inner, max_size=2),
    max_leaves=4,
)


@in_one_folder
@given(
    st.lists(st.tuples(st.dictionaries(cells, values, max_size=3), cells | st.none(), st.booleans()), max_size=4),
    st.booleans(),
    marks,
)
def test_objects_change_in_one_value_alone(tmp_path, rows, is_wide, mark):
    """Numbers, blanks, escapes and the order of names are as they were."""
    path = tmp_path / "t.jsonl"
    lines = []
    for before, text, is_ascii in rows:
        value = {**before, "text": text, "n": "text"}
        lines.append(json.dumps(value, ensure_ascii=is_ascii, separators=(" ,", "\t: ") if is_wide else None))
    data = write(path, mark + "".join(line + ("\r\n" if is_wide else "\n") for line in lines))
    assert rewritten(path, "text", str) == data
    changed = rewritten(path, "text", louder).decode("utf-8-sig", "surrogateescape").splitlines
    for line, other in zip(lines, changed(), strict=False):
        start, end = value_span(line, "text")
        assert json.loads(line[start:end]) == json.loads(line)["text"]
        assert other.startswith(line[:start])
        assert other.endswith(line[end:])
        text = json.loads(line)["text"]
        assert json.loads(other)["text"] == (louder(text) if text else text)
    longer = rewritten(path, "text", lambda text: "[1]", ADDED).decode("utf-8-sig", "surrogateescape")
    for line, other in zip(lines, longer.split("\n"), strict=False):
        assert list(json.loads(other)) == [*json.loads(line), ADDED]
        assert json.loads(other)[ADDED] == [1]


def test_escapes_and_bytes_of_json_stay_what_they_are(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"text": "\\u00e9\\ud800 a"}\n{"text": "\xc3\xa9 \\ud800 a"}\n{"text":"\xe9 a"}\n')
    upper = b'{"text": "\\u00e9\\ud800 A"}\n{"text": "\xc3\xa9 \\ud800 A"}\n{"text":"\xe9 A"}\n'
    assert rewritten(path, "text", lambda text: text.replace("a", "A")) == upper
    path.write_bytes(b'{ "n": [1.50, 1E400] ,"text": "a"}')
    assert rewritten(path, "text", str.upper) == b'{ "n": [1.50, 1E400] ,"text": "A"}'
    path.write_bytes(b'{"text": "a", "x": {"text": "a"}, "text": "b"}')  # the last counts
    assert rewritten(path, "text", str.upper) == b'{"text": "a", "x": {"text": "a"}, "text": "B"}'


@in_one_folder
@given(st.lists(st.text(st.sampled_from(list("ab \ré🙂\udce9\0\u2028")), max_size=5), max_size=6), marks, st.booleans())
@example([""], MARK, False)
@example(["a\r"], "", False)
def test_lines_keep_their_ends(tmp_path, lines, mark, is_ended):
    path = tmp_path / "t.txt"
    data = write(path, mark + "\n".join(lines) + ("\n" if is_ended else ""))
    assert rewritten(path, None, str) == data
    with open_texts(path, None) as stream:
        expected = [text for batch in stream.batches for text in batch]
    with open_rows(path, None) as rows:
        assert rows.total in (len(expected), len(expected) + (data == MARK.encode()))
        found = [text for page in rows.pages() for text in page.texts]
    assert found == expected or (data == MARK.encode() and found == [""])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_more_lines_than_a_page(tmp_path, end):
    path = tmp_path / "t.txt"
    write(path, end.join(f"line {number}" for number in range(2 * TEXTS_PER_READ + 5)))
    assert rewritten(path, None, str.upper) == path.read_bytes().upper()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_more_rows_than_a_page(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    numbers = range(2 * TEXTS_PER_READ + 5)
    lines = ["text,n", *(f"a{n},{n}" for n in numbers)] if kind == "csv" else [f'{{"text":"a{n}"}}' for n in numbers]
    write(path, "\n".join(lines))
    assert rewritten(path, "text", str.upper) == "\n".join(lines).replace("a", "A").encode()


def test_parquet_keeps_types_nulls_and_metadata(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("lovevec.texts.rewrite.ROWS_PER_GROUP", TEXTS_PER_READ)
    count = TEXTS_PER_READ + 5
    texts = ["a", None, "", "🙂"] + ["b"] * (count - 4)
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())):
        columns = {
            "n": pyarrow.array(range(count), pyarrow.int16()),
            "text": pyarrow.array(texts, kind),
            "list": pyarrow.array([[{"x": 1.5}]] * count),
            "when": pyarrow.array([10**18] * count, pyarrow.timestamp("ns", "UTC")),
        }
        table = pyarrow.table(columns).replace_schema_metadata({"mine": "yes"})
        parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
        table = parquet.read_table(tmp_path / "t.parquet")
        changed = io.BytesIO(rewritten(tmp_path / "t.parquet", "text", louder))
        expected = [None if text is None else louder(text) for text in texts]
        other = table.set_column(1, table.schema.field("text"), pyarrow.array(expected, kind))
        found = parquet.read_table(changed)
        assert found.schema.equals(table.schema, check_metadata=True)
        assert found.to_pylist() == other.to_pylist()
        about = parquet.ParquetFile(changed).metadata
        assert about.row_group(0).column(1).compression == "ZSTD"
        assert about.num_row_groups == 2
        longer = io.BytesIO(rewritten(tmp_path / "t.parquet", "text", lambda text: "[]", ADDED))
        found = parquet.read_table(longer)
        assert found.drop([ADDED]).equals(table)
        assert found.schema.metadata[b"mine"] == b"yes"
        assert found[ADDED].to_pylist() == ["[]"] * count
    parquet.write_table(table.slice(0, 0), tmp_path / "t.parquet")
    found = parquet.read_table(io.BytesIO(rewritten(tmp_path / "t.parquet", "text", str)))
    assert found.schema.equals(table.schema)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", "text,s\na,b\n", "t.csv: has a column 's' already"),
        ("t.jsonl", '{"text": "a"}\n{"text": "a", "s": 1}\n', "t.jsonl: line 2: has 's' already"),
        ("t.jsonl", '{"text": "a"}\n{"s": "b"}\n', "t.jsonl: line 2: has no text under 'text'"),
        ("t.jsonl", '{"text": "a"}\n\n', "t.jsonl: line 2: is no JSON"),
    ],
)
def test_what_cannot_be_written_again_is_named(tmp_path, name, content, says):
    write(tmp_path / name, content)
    with pytest.raises(LovevecError, match=says):
        rewritten(tmp_path / name, "text", lambda text: "[]", "s")
