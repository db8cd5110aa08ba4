"""Rows of a file by several columns, a page at a time, in constant memory: the texts of some columns, and ids.

| file | its rows |
|---|---|
| lines (any name, standard input) | one a line, without columns; an empty line is an empty text |
| .csv, .tsv | by the names in the first line; a blank line is no row |
| .jsonl, .ndjson | each line's object; a name that is not there, or null, is an empty text |
| .parquet | its rows; null is an empty text (needs lovevec[parquet]) |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lovevec.errors import FormatError
from lovevec.texts.parquet import TEXTS_PER_READ, ParquetTexts, open_parquet
from lovevec.texts.read import (
    DELIMITERS,
    TableRows,
    json_in,
    kind_of,
    open_lines,
)
from lovevec.vectors.read.words import open_words

Row = tuple[int, list[str], "str | int | None"]  # its number, its texts, its id


class RecordPage(NamedTuple):
    """Some rows: for each column its texts; ids, where a column of ids is read; and the number of each row as errors
    name it, of a line (from 1) or of a row of parquet (from 0)."""

    columns: list[list[str]]
    ids: list[str | int] | None
    numbers: list[int]


class RecordStream(NamedTuple):
    """Pages of rows, how many rows there are, None where that is not known before, and what `numbers` count."""

    pages: Iterator[RecordPage]
    total: int | None = None
    unit: str = "line"


@contextmanager
def open_records(path: Path | None, columns: Sequence[str], ids: str | None = None) -> Iterator[RecordStream]:
    """Open the rows of a file, or the lines of standard input for None. `columns` are those of the texts, none for
    lines; `ids` is the column of the ids: strings, in JSON and parquet also whole numbers."""
    kind = kind_of(path, columns[0] if columns else ids)
    if path is None or kind == "lines":
        with open_words(path) as stream:
            yield RecordStream(_line_pages(stream.batches(TEXTS_PER_READ)), stream.count())
    elif kind == "parquet":
        table = open_parquet(path, columns[0])
        yield RecordStream(_parquet_pages(path, table, columns, ids), table.rows, "row")
    else:
        with open_lines(path) as lines:
            if kind == "jsonl":
                yield RecordStream(_object_pages(path, lines, columns, ids))
            else:
                yield RecordStream(_pages(_table_rows(path, lines, DELIMITERS[kind], columns, ids), ids is not None))


def _line_pages(batches: Iterator[list[str]]) -> Iterator[RecordPage]:
    first = 1
    for batch in batches:
        yield RecordPage([batch], None, list(range(first, first + len(batch))))
        first += len(batch)


def _pages(rows: Iterator[Row], has_ids: bool) -> Iterator[RecordPage]:
    while some := list(islice(rows, TEXTS_PER_READ)):
        columns = [list(texts) for texts in zip(*(texts for _, texts, _ in some), strict=True)]
        ids = [one for _, _, one in some if one is not None] if has_ids else None
        yield RecordPage(columns, ids, [number for number, _, _ in some])


def _table_rows(
    path: Path, lines: Iterator[str], delimiter: str, columns: Sequence[str], ids: str | None
) -> Iterator[Row]:
    table = TableRows(path, lines, columns[0], delimiter)
    names = [*columns, *([] if ids is None else [ids])]
    places = [table.place_of(name) for name in names]
    for fields, _ in table:
        if not fields:
            continue
        if len(fields) <= max(places):
            lacking = next(name for name, place in zip(names, places, strict=True) if len(fields) <= place)
            problem = f"has {len(fields)} of {len(table.names)} columns, not {lacking!r}"
            raise FormatError(path, f"line {table.line}: {problem}")
        values = [fields[place] for place in places]
        yield table.line, values[: len(columns)], None if ids is None else values[-1]


def _object_pages(path: Path, lines: Iterator[str], columns: Sequence[str], ids: str | None) -> Iterator[RecordPage]:
    """Objects, one a line. A name that none of the first page has is an error: it is probably mistyped."""
    lacking = set(columns)

    def rows() -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            value = json_in(path, number, line)
            if not isinstance(value, dict):
                raise FormatError(path, f"line {number}: is no JSON object")
            lacking.difference_update(value)
            texts = [value.get(name) for name in columns]
            for name, text in zip(columns, texts, strict=True):
                if not isinstance(text, str | None):
                    raise FormatError(path, f"line {number}: {name!r} holds {type(text).__name__}, no text")
            own = None if ids is None else _checked_id(path, f"line {number}", ids, value.get(ids))
            yield number, [text or "" for text in texts], own

    for page in _pages(rows(), ids is not None):
        if name := next((name for name in columns if name in lacking), None):
            raise FormatError(path, f"none of its first {len(page.numbers):,} lines has {name!r}")
        yield page


def _parquet_pages(path: Path, table: ParquetTexts, columns: Sequence[str], ids: str | None) -> Iterator[RecordPage]:
    names, first = table.schema.names, 0
    wanted = [*columns, *([] if ids is None else [ids])]
    if (lacking := next((name for name in wanted if name not in names), None)) is not None:
        raise FormatError(path, f"has no column {lacking!r} but {', '.join(map(repr, names))}")
    for page in table.pages(whole=True):
        batch = {name: page.batch.column(names.index(name)).to_pylist() for name in wanted}
        lists = []
        for name in columns:
            texts = ["" if text is None else text for text in batch[name]]
            odd = next((place for place, text in enumerate(texts) if not isinstance(text, str)), None)
            if odd is not None:
                raise FormatError(path, f"row {first + odd}: {name!r} holds {type(texts[odd]).__name__}, no text")
            lists.append(texts)
        numbers = list(range(first, first + len(lists[0])))
        own = None
        if ids is not None:
            values = zip(numbers, batch[ids], strict=True)
            own = [_checked_id(path, f"row {number}", ids, value) for number, value in values]
        yield RecordPage(lists, own, numbers)
        first += len(numbers)


def _checked_id(path: Path, where: str, name: str, value: Any) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        what = "nothing" if value is None else type(value).__name__
        raise FormatError(path, f"{where}: {name!r} holds {what}: an id is a text or a whole number")
    return value
