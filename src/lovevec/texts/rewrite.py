"""A file whose texts are written again as others, or with a column more. All else stays to the letter, in constant
memory.

| file | what changes |
|---|---|
| lines | the line, not its end |
| .csv, .tsv | the one field of a row, quoted if it was |
| .jsonl, .ndjson | the one value of an object |
| .parquet | the one column; types, nulls, metadata and the codec stay, row groups may be cut elsewhere |

    with open_rows(path, "note") as rows, open_sink(output) as sink, rows.writer(sink.file) as write:
        for page in rows.pages():
            write(page, [text.strip() for text in page.texts])
"""

from __future__ import annotations

import csv
import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import BOM, open_plain
from lovevec.texts.parquet import TEXTS_PER_READ, open_parquet
from lovevec.texts.read import (
    DELIMITERS,
    TableRows,
    in_pages,
    kind_of,
    object_rows,
    open_lines,
)
from lovevec.vectors.read.words import WordStream, open_words

MARK = BOM.decode()
SURROGATE = re.compile("[\ud800-\udfff]")
BLANKS = re.compile(r"[ \t\n\r]*")
ROWS_PER_GROUP, BYTES_PER_GROUP = 1 << 17, 1 << 26  # of a parquet file: whichever comes first
CODECS = ("snappy", "gzip", "brotli", "zstd", "lz4")


class Page(NamedTuple):
    """Some rows: their texts, and what else they are written with."""

    texts: list[str]
    rest: Any


Write = Callable[[Page, Sequence[str]], None]


class RowFile(ABC):
    """The rows of a file, page by page, and what writes them again. `total` is their number, None where that is not
    known before."""

    total: int | None = None

    @abstractmethod
    def pages(self) -> Iterator[Page]: ...

    @abstractmethod
    def writer(self, file: IO[bytes], shown: Callable[[str], str] = str) -> AbstractContextManager[Write]:
        """Gives what writes a page to an open file, with a string for each row: its new text, or what the column that
        is added has there. `shown` is called on what goes out, if that is text."""


@contextmanager
def open_rows(path: Path | None, column: str | None, added: str | None = None) -> Iterator[RowFile]:
    """Open the rows of a file, or the lines of standard input for None. `column` is that of the texts in a table;
    `added` names a column that comes behind all others, with JSON in it, while the texts stay as they are."""
    kind = kind_of(path, column)
    if path is None or column is None:
        with open_words(path) as stream:
            yield Lines(stream)
    elif kind == "parquet":
        yield Parquet(path, column, added)
    else:
        with open_lines(path) as lines, open_plain(path) as file:
            mark = MARK if file.read(len(BOM)) == BOM else ""
            yield (
                Objects(path, lines, column, added, mark)
                if kind == "jsonl"
                else Table(path, lines, column, added, mark, DELIMITERS[kind])
            )


class TextFile(RowFile):
    """A file that is text; `head` is what stands before the first row."""

    head = ""

    @abstractmethod
    def row_with(self, value: str, text: str, rest: Any) -> str:
        """A row as it is written, with its end. `rest` is one of those of a page."""

    @contextmanager
    def writer(self, file: IO[bytes], shown: Callable[[str], str] = str) -> Iterator[Write]:
        is_first = True

        def write(page: Page, values: Sequence[str]) -> None:
            nonlocal is_first
            head = self.head if is_first else ""
            is_first = False
            content = head + "".join(map(self.row_with, values, page.texts, page.rest))
            file.write(shown(content).encode("utf-8", "surrogateescape"))

        yield write
        if is_first:  # a table without rows keeps its names
            write(Page([], []), [])


def _pages(rows: Iterator[tuple[str, Any]], length: Callable[[tuple[str, Any]], int]) -> Iterator[Page]:
    """(text, rest) by (text, rest) in pages; `length` is how long what is written for one is."""
    for part in in_pages(rows, length):
        yield Page([text for text, _ in part], [rest for _, rest in part])


class Lines(TextFile):
    """The lines of a stream, each a text; the rest of one is its end."""

    def __init__(self, stream: WordStream) -> None:
        self.stream, self.total = stream, stream.count()

    def pages(self) -> Iterator[Page]:
        is_first = True
        for lines in self.stream.lines(TEXTS_PER_READ):
            if is_first and lines[0].startswith(MARK):
                self.head, lines[0] = MARK, lines[0].removeprefix(MARK)
            is_first = False
            texts = [line.removesuffix("\n").removesuffix("\r") for line in lines]
            yield Page(texts, [line[len(text) :] for line, text in zip(lines, texts, strict=True)])

    def row_with(self, value: str, text: str, rest: str) -> str:
        return value + rest


class Texts(TextFile):
    """Texts that come in lists; what is written is a line each."""

    def __init__(self, lists: Iterable[list[str]], total: int | None = None) -> None:
        self.lists, self.total = lists, total

    def pages(self) -> Iterator[Page]:
        for texts in self.lists:
            yield Page(texts, [None] * len(texts))

    def row_with(self, value: str, text: str, rest: None) -> str:
        return f"{value}\n"


class _Remembered:
    """Lines that pass by; `take` gives those that did since it was called last."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines, self.passed = lines, list[str]()

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.passed.append(line)
            yield line

    def take(self) -> str:
        passed = "".join(self.passed)
        self.passed.clear()
        return passed


class Table(TextFile):
    """A table in text; the rest of a row are its fields and its lines as they stand."""

    def __init__(
        self, path: Path, lines: Iterable[str], column: str, added: str | None, mark: str, delimiter: str
    ) -> None:
        self.path, self.added, self.delimiter = path, added, delimiter
        self.lines = _Remembered(lines)
        self.table = TableRows(path, self.lines, column, delimiter)
        names, raw = self.table.names, self.lines.take()
        if added in names:
            raise FormatError(path, f"has a column {added!r} already")
        self.head = mark + (raw if added is None else self._longer(added, names, raw))

    def pages(self) -> Iterator[Page]:
        return _pages(self._rows(), lambda row: len(row[1][1]))

    def _rows(self) -> Iterator[tuple[str, Any]]:
        columns = len(self.table.names)
        for fields, text in self.table:
            if self.added is not None and len(fields) > columns:
                raise FormatError(self.path, f"line {self.table.line}: has {len(fields)} fields for {columns} columns")
            yield text, (fields, self.lines.take())

    def row_with(self, value: str, text: str, rest: tuple[list[str], str]) -> str:
        fields, raw = rest
        if self.added is not None:
            return self._longer(value, fields, raw)
        return raw if value == text else self._replaced(value, fields, raw)

    def _replaced(self, value: str, fields: Sequence[str], raw: str) -> str:
        """A row in which another value takes the place of the text."""
        end = -len(self.delimiter)
        for field in fields[: self.table.place + 1]:
            start = end + len(self.delimiter)
            is_quoted = raw.startswith('"', start)
            written = _quoted(field) if is_quoted else field
            assert raw.startswith(written, start)
            end = start + len(written)
        return raw[:start] + (_quoted(value) if is_quoted else self._field(value)) + raw[end:]

    def _longer(self, value: str, fields: Sequence[str], raw: str) -> str:
        """A row with a value more, behind the last column."""
        body, columns = raw.removesuffix("\n").removesuffix("\r"), len(self.table.names)
        if not fields and columns > 1:  # a blank line is no row
            return raw
        lacking = self.delimiter * (columns - max(len(fields), 1))
        field = _quoted(value) if body.endswith('"') else self._field(value)
        return body + lacking + self.delimiter + field + raw[len(body) :]

    def _field(self, value: str) -> str:
        """A field, quoted where it has to be."""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiter, lineterminator="\r\n").writerow([value])
        return line.getvalue()[:-2]


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"'


class Objects(TextFile):
    """JSON objects, one a line; the rest of a row is its line as it stands."""

    def __init__(self, path: Path, lines: Iterable[str], column: str, added: str | None, mark: str) -> None:
        self.path, self.lines, self.column, self.added, self.head = path, lines, column, added, mark

    def pages(self) -> Iterator[Page]:
        return _pages(self._rows(), lambda row: len(row[1]))

    def _rows(self) -> Iterator[tuple[str, Any]]:
        for number, (line, text) in enumerate(object_rows(self.path, self.lines, self.column), 1):
            if self.added is not None and self.added in json.loads(line):
                raise FormatError(self.path, f"line {number}: has {self.added!r} already")
            yield text or "", line

    def row_with(self, value: str, text: str, rest: str) -> str:
        if self.added is not None:
            end = rest.rindex("}")
            return f"{rest[:end].rstrip()}, {json.dumps(self.added)}: {value}{rest[end:]}"
        if value == text:
            return rest
        start, end = value_span(rest, self.column)
        return rest[:start] + _as_json(value, rest[start:end]) + rest[end:]


def value_span(line: str, name: str) -> tuple[int, int]:
    """Where the value of a name stands in a line that is a JSON object; the last, where there are several."""
    decoder, span = json.JSONDecoder(), (0, 0)
    at = _behind_blanks(line, line.index("{") + 1)
    while line[at] != "}":
        key, at = decoder.raw_decode(line, at)
        start = _behind_blanks(line, _behind_blanks(line, at) + len(":"))
        at = decoder.raw_decode(line, start)[1]
        if key == name:
            span = start, at
        at = _behind_blanks(line, at)
        if line[at] == ",":
            at = _behind_blanks(line, at + 1)
    return span


def _behind_blanks(line: str, at: int) -> int:
    blanks = BLANKS.match(line, at)
    return blanks.end() if blanks else at


def _as_json(value: str, before: str) -> str:
    """A string as JSON, with such escapes as the one before had: half surrogates stay bytes that are no UTF-8 only
    where they were."""
    written = json.dumps(value, ensure_ascii=before.isascii())
    return SURROGATE.sub(lambda half: half[0] if half[0] in before else f"\\u{ord(half[0]):04x}", written)


class Parquet(RowFile):
    """A parquet file; the rest of a page is its record batch."""

    def __init__(self, path: Path, column: str, added: str | None) -> None:
        self.path, self.column, self.added = path, column, added
        self.table = open_parquet(path, column)
        self.total, self.schema = self.table.rows, self.table.schema
        if added in self.schema.names:
            raise FormatError(path, f"has a column {added!r} already")

    def pages(self) -> Iterator[Page]:
        for page in self.table.pages(whole=True):
            yield Page(*page)

    @contextmanager
    def writer(self, file: IO[bytes], shown: Callable[[str], str] = str) -> Iterator[Write]:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        if file.isatty():
            raise LovevecError("parquet is not for a terminal: name a file with -o, or redirect the output")
        schema, place = self.schema, self.schema.names.index(self.column)
        if self.added is not None:
            schema = schema.append(pyarrow.field(self.added, pyarrow.string()))
        held: list[Any] = []

        def write_group() -> None:
            goal.write_table(pyarrow.Table.from_batches(held, schema))
            held.clear()

        def write(page: Page, values: Sequence[str]) -> None:
            columns = page.rest.columns
            if self.added is not None:
                columns.append(pyarrow.array(values, pyarrow.string()))
            else:
                there = columns[place].is_valid().to_pylist()
                texts = [value if is_there else None for value, is_there in zip(values, there, strict=True)]
                columns[place] = pyarrow.array(texts, schema.field(place).type)
            held.append(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
            rows, size = sum(len(batch) for batch in held), sum(batch.nbytes for batch in held)
            if rows >= ROWS_PER_GROUP or size >= BYTES_PER_GROUP:
                write_group()

        with ParquetWriter(file, schema, compression=self._codec()) as goal:
            yield write
            if held:
                write_group()

    def _codec(self) -> str:
        about = self.table.metadata
        if not about.num_row_groups or not about.num_columns:
            return "snappy"
        codec = about.row_group(0).column(0).compression.lower()
        return codec if codec in CODECS else "none"
