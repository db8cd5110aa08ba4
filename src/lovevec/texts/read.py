"""Texts out of files, a batch at a time, in constant memory.

| file | its texts |
|---|---|
| lines (any name, standard input) | one a line; an empty line is an empty text, so that row i belongs to line i |
| .csv, .tsv | the column that is named in the first line, quoted as spreadsheets quote: line ends inside are fine |
| .jsonl, .ndjson | what stands under the name in each line's object |
| .parquet | the column (needs lovevec[parquet]) |
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lovevec.errors import FormatError, LovevecError, Parameter, reason
from lovevec.files.lines import MARK_BYTES, open_plain, refuse_packed, unreadable
from lovevec.texts.parquet import TEXTS_PER_READ, open_parquet
from lovevec.vectors.read.words import open_words

Row = TypeVar("Row")
MAX_CHARACTERS = 1 << 22  # of a line, and of a cell too
CHARACTERS_PER_PAGE = 1 << 22  # of texts that are held at once
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
DELIMITERS = {"csv": ",", "tsv": "\t"}


class TextStream(NamedTuple):
    """The texts of a file, batch by batch, and how many there are, None where that is not known before."""

    batches: Iterator[list[str]]
    total: int | None = None


@contextmanager
def open_texts(path: Path | None, column: str | None) -> Iterator[TextStream]:
    """Open the texts of a file, or of standard input for None. `column` names the column of the texts in a table: the
    files of TABLE_SUFFIXES need it, the others, one text a line, have none."""
    kind = kind_of(path, column)
    if path is None or column is None:
        with open_words(path) as stream:
            yield TextStream(stream.batches(TEXTS_PER_READ), stream.count())
    elif kind == "parquet":
        table = open_parquet(path, column)
        yield TextStream((page.texts for page in table.pages()), table.rows)
    else:
        with open_lines(path) as lines:
            texts = object_texts if kind == "jsonl" else partial(table_texts, delimiter=DELIMITERS[kind])
            yield TextStream(in_pages(texts(path, lines, column)))


def kind_of(path: Path | None, column: str | None) -> str:
    """What a file is by its name: csv, tsv, jsonl, parquet, or lines. An error where it has no columns and one is
    named, or has some and none is."""
    suffix = "" if path is None else path.suffix.lower()
    if path is None or suffix not in TABLE_SUFFIXES:
        if column is not None:
            raise LovevecError(
                f"{Parameter('column')} is for files that end in {', '.join(TABLE_SUFFIXES)}: "
                f"{path or 'standard input'}"
            )
        return "lines"
    if column is None:
        raise LovevecError(f"{path}: has columns; name that of the texts with {Parameter('column')}")
    return "jsonl" if suffix == ".ndjson" else suffix[1:]


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a table in text with their ends, and without the mark of UTF-8."""
    try:
        file = io.TextIOWrapper(open_plain(path), "utf-8-sig", "surrogateescape", newline="")
    except OSError as error:
        raise unreadable(path, error) from None
    with file:
        refuse_packed(path, file.buffer.peek(MARK_BYTES)[:MARK_BYTES])  # type: ignore[attr-defined]
        yield limited_lines(path, file)


def limited_lines(path: Path, file: io.TextIOWrapper) -> Iterator[str]:
    """The lines with their ends; a line of more than MAX_CHARACTERS is an error, before it fills the memory."""
    for number in count(1):
        try:
            line = file.readline(MAX_CHARACTERS)
        except OSError as error:
            raise unreadable(path, error) from None
        if not line:
            return
        if len(line) == MAX_CHARACTERS:
            raise FormatError(path, f"line {number}: has more than {MAX_CHARACTERS >> 20} million characters")
        yield line


def in_pages(rows: Iterator[Row], length: Callable[..., int] = len, most: int = TEXTS_PER_READ) -> Iterator[list[Row]]:
    """Rows in lists of up to `most`, and of about CHARACTERS_PER_PAGE: a list ends with the row that exceeds them."""
    page, characters = list[Row](), 0
    for row in rows:
        page.append(row)
        characters += length(row)
        if len(page) >= most or characters >= CHARACTERS_PER_PAGE:
            yield page
            page, characters = [], 0
    if page:
        yield page


class TableRows:
    """The rows of a table in text, each with the text that one column has: iterate over (fields, text).

    :param lines: of the table, with their ends.
    :param names: those of the columns; None where the first of the lines has them.
    """

    def __init__(
        self, path: Path, lines: Iterable[str], column: str, delimiter: str, names: list[str] | None = None
    ) -> None:
        csv.field_size_limit(MAX_CHARACTERS)
        self.path, self.column = path, column
        self._rows = csv.reader(lines, delimiter=delimiter, strict=True)
        self.names = next(self._checked(), []) if names is None else names
        self.place = self.place_of(column)

    def place_of(self, column: str) -> int:
        """Where a column stands in a row."""
        if column not in self.names:
            raise FormatError(self.path, f"has no column {column!r} but {', '.join(map(repr, self.names)) or 'none'}")
        return self.names.index(column)

    @property
    def line(self) -> int:
        """The number of the line that was read last."""
        return self._rows.line_num

    def __iter__(self) -> Iterator[tuple[list[str], str]]:
        place = self.place
        for row in self._checked():
            if len(row) <= place and row:
                problem = f"has {len(row)} of {len(self.names)} columns, not {self.column!r}"
                raise FormatError(self.path, f"line {self.line}: {problem}")
            yield row, row[place] if row else ""

    def _checked(self) -> Iterator[list[str]]:
        try:
            yield from self._rows
        except csv.Error as error:
            raise FormatError(self.path, f"line {self.line}: is no line of a table ({reason(error)})") from None


def table_texts(
    path: Path, file: Iterable[str], column: str, delimiter: str, names: list[str] | None = None
) -> Iterator[str]:
    """The texts of one column of a table in text, row by row; `names` as for TableRows."""
    for _, text in TableRows(path, file, column, delimiter, names):
        yield text


def object_rows(path: Path, file: Iterable[str], name: str) -> Iterator[tuple[str, str | None]]:
    """JSON objects, one a line: the lines, each with the text that stands under `name`, None for null."""
    for number, line in enumerate(file, 1):
        value = json_in(path, number, line)
        if not isinstance(value, dict) or name not in value or not isinstance(value[name], str | None):
            raise FormatError(path, f"line {number}: has no text under {name!r}")
        yield line, value[name]


def json_in(path: Path, number: int, line: str) -> Any:
    """What a line of JSON holds."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"line {number}: is no JSON ({reason(error)})") from None


def object_texts(path: Path, file: Iterable[str], name: str) -> Iterator[str]:
    """The texts that stand under `name` in JSON objects, one object a line."""
    for number, (_, text) in enumerate(object_rows(path, file, name), 1):
        if text is None:
            raise FormatError(path, f"line {number}: has no text under {name!r}")
        yield text
