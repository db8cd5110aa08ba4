"""Whole tables out of files and into files, with all their columns.

| file | read | written |
|---|---|---|
| .csv, .tsv | fields as text; a missing one is empty | what is no text as JSON; None as an empty field |
| .jsonl, .ndjson | an object a line | the same |
| .parquet | as pyarrow gives it (needs lovevec[parquet]) | columns keep their types |
| other names | the lines, as a column `text` | – |
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lovevec.errors import FormatError, LovevecError, MissingExtra, reason
from lovevec.files.lines import open_plain, unreadable
from lovevec.texts.read import (
    DELIMITERS,
    MAX_CHARACTERS,
    TABLE_SUFFIXES,
    kind_of,
    open_lines,
    open_texts,
)

LINES = "text"  # the one column of a file of lines
ROWS_PER_WRITE = 4096


@dataclass
class FileTable:
    """Columns by their names, all of one length, and for parquet their types."""

    columns: dict[str, list[Any]]
    types: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def texts(self, name: str, path: Path | None) -> list[str]:
        """The texts of a column: what is missing is empty, a number is its digits."""
        if name not in self.columns:
            listed = ", ".join(map(repr, self.columns)) or "none"
            raise FormatError(path or "standard input", f"has no column {name!r} but {listed}")
        return [
            "" if value is None else value if isinstance(value, str) else str(value) for value in self.columns[name]
        ]

    def take(self, rows: Sequence[int | None]) -> FileTable:
        """These rows, in this order; None stands for one in which all is missing."""
        columns = {
            name: [None if row is None else values[row] for row in rows] for name, values in self.columns.items()
        }
        return FileTable(columns, self.types)


def kind_of_table(path: Path | None) -> str:
    """csv, tsv, jsonl, parquet, or lines."""
    return "lines" if path is None or path.suffix.lower() not in TABLE_SUFFIXES else kind_of(path, "")


def read_table(path: Path | None) -> FileTable:
    """A whole file; standard input for None, which has lines."""
    kind = kind_of_table(path)
    if path is None or kind == "lines":
        with open_texts(path, None) as stream:
            return FileTable({LINES: [text for batch in stream.batches for text in batch]})
    if kind == "parquet":
        return _read_parquet(path)
    with open_lines(path) as lines:
        return _read_objects(path, lines) if kind == "jsonl" else _read_fields(path, lines, DELIMITERS[kind])


def _read_fields(path: Path, lines: Iterator[str], delimiter: str) -> FileTable:
    csv.field_size_limit(MAX_CHARACTERS)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = next(rows, [])
        if not names:
            raise FormatError(path, "has no names of columns in its first line")
        if len(set(names)) != len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise FormatError(path, f"has two columns {twice!r}")
        columns: list[list[Any]] = [[] for _ in names]
        for row in rows:
            if len(row) > len(names):
                raise FormatError(path, f"line {rows.line_num}: has {len(row)} fields for {len(names)} columns")
            if not row and len(names) > 1:  # a blank line is no row
                continue
            for column, value in zip(columns, [*row, *[""] * (len(names) - len(row))], strict=True):
                column.append(value)
    except csv.Error as error:
        raise FormatError(path, f"line {rows.line_num}: is no line of a table ({reason(error)})") from None
    return FileTable(dict(zip(names, columns, strict=True)))


def _read_objects(path: Path, lines: Iterator[str]) -> FileTable:
    columns: dict[str, list[Any]] = {}
    count = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"line {number}: is no JSON ({reason(error)})") from None
        if not isinstance(value, dict):
            raise FormatError(path, f"line {number}: is no object")
        for name in value.keys() - columns.keys():
            columns[name] = [None] * count
        for name, own in columns.items():
            own.append(value.get(name))
        count += 1
    return FileTable(columns)


def _read_parquet(path: Path) -> FileTable:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    try:
        open_plain(path).close()
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        table = ParquetFile(path).read()
        values = [table.column(place).to_pylist() for place in range(table.num_columns)]
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(path, f"is no parquet file that can be read ({reason(error)})") from None
    names = table.column_names
    types = {name: table.schema.field(place).type for place, name in enumerate(names)}
    return FileTable(dict(zip(names, values, strict=True)), types)


def refuse_no_table(path: Path | None, kinds: Sequence[str] = TABLE_SUFFIXES) -> None:
    """Refuse an output whose name does not say its format."""
    if path is not None and kind_of_table(path) == "lines":
        raise LovevecError(f"{path}: its name does not say the format; end it in {', '.join(kinds)}")


def write_table(table: FileTable, file: IO[bytes], kind: str) -> None:
    """A table into an open file."""
    if kind == "parquet":
        import pyarrow
        from pyarrow.parquet import write_table as write_parquet

        arrays = {name: pyarrow.array(own, table.types.get(name)) for name, own in table.columns.items()}
        write_parquet(pyarrow.table(arrays), file)
        return
    names, values = list(table.columns), list(table.columns.values())
    text = io.StringIO()
    if kind != "jsonl":
        writer = csv.writer(text, delimiter=DELIMITERS[kind], lineterminator="\n")
        writer.writerow(names)
    for row in range(len(table)):
        if kind == "jsonl":
            text.write(
                json.dumps({name: own[row] for name, own in table.columns.items()}, ensure_ascii=False, default=str)
            )
            text.write("\n")
        else:
            writer.writerow([_field(own[row]) for own in values])
        if row % ROWS_PER_WRITE == ROWS_PER_WRITE - 1:
            file.write(text.getvalue().encode("utf-8", "surrogateescape"))
            text.seek(0)
            text.truncate()
    file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _field(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
