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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

from lovevec.errors import FormatError, LovevecError, MissingExtra, Parameter, reason
from lovevec.files.lines import open_plain
from lovevec.vectors.read.words import open_words

TEXTS_PER_READ = 4096
MAX_CHARACTERS = 1 << 22  # of a line, and of a cell too
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


class TextStream(NamedTuple):
    """The texts of a file, batch by batch, and how many there are, None where that is not known before."""

    batches: Iterator[list[str]]
    total: int | None = None


@contextmanager
def open_texts(path: Path | None, column: str | None) -> Iterator[TextStream]:
    """Open the texts of a file, or of standard input for None. `column` names the column of the texts in a table: the
    files of TABLE_SUFFIXES need it, the others, one text a line, have none."""
    suffix = "" if path is None else path.suffix.lower()
    if path is None or suffix not in TABLE_SUFFIXES:
        if column is not None:
            raise LovevecError(
                f"{Parameter('column')} is for files that end in {', '.join(TABLE_SUFFIXES)}: "
                f"{path or 'standard input'}"
            )
        with open_words(path) as stream:
            yield TextStream(stream.batches(TEXTS_PER_READ), stream.count())
        return
    if column is None:
        raise LovevecError(f"{path}: has columns; name that of the texts with {Parameter('column')}")
    try:
        if suffix == ".parquet":
            yield _parquet(path, column)
            return
        with io.TextIOWrapper(open_plain(path), "utf-8-sig", "surrogateescape", newline="") as file:
            lines = _lines(path, file)
            if suffix.endswith(("jsonl", "ndjson")):
                texts = object_texts(path, lines, column)
            else:
                texts = table_texts(path, lines, column, "\t" if suffix == ".tsv" else ",")
            yield TextStream(_batches(texts))
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read: {error.strerror or error}") from None


def _lines(path: Path, file: io.TextIOWrapper) -> Iterator[str]:
    """The lines with their ends; a line of more than MAX_CHARACTERS is an error, before it fills the memory."""
    for number in count(1):
        line = file.readline(MAX_CHARACTERS)
        if not line:
            return
        if len(line) == MAX_CHARACTERS:
            raise FormatError(path, f"line {number}: has more than {MAX_CHARACTERS >> 20} million characters")
        yield line


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, TEXTS_PER_READ)):
        yield batch


def table_texts(
    path: Path, file: Iterable[str], column: str, delimiter: str, names: list[str] | None = None
) -> Iterator[str]:
    """The texts of one column of a table in text, row by row. `names` are those of the columns; None where the first
    line of `file` has them."""
    csv.field_size_limit(MAX_CHARACTERS)
    rows = csv.reader(file, delimiter=delimiter, strict=True)
    try:
        names = next(rows, []) if names is None else names
        if column not in names:
            raise FormatError(path, f"has no column {column!r} but {', '.join(map(repr, names)) or 'none'}")
        place = names.index(column)
        for row in rows:
            if len(row) <= place and row:
                raise FormatError(path, f"line {rows.line_num}: has {len(row)} of {len(names)} columns, not {column!r}")
            yield row[place] if row else ""
    except csv.Error as error:
        raise FormatError(path, f"line {rows.line_num}: is no line of a table ({reason(error)})") from None


def object_texts(path: Path, file: Iterable[str], name: str) -> Iterator[str]:
    """The texts that stand under `name` in JSON objects, one object a line."""
    for number, line in enumerate(file, 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"line {number}: is no JSON ({reason(error)})") from None
        text = value.get(name) if isinstance(value, dict) else None
        if not isinstance(text, str):
            raise FormatError(path, f"line {number}: has no text under {name!r}")
        yield text


def _parquet(path: Path, column: str) -> TextStream:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    open_plain(path).close()
    read_errors = (ArrowException, OSError, UnicodeDecodeError)  # what pyarrow raises on a damaged file, at any time
    try:
        table: Any = ParquetFile(path)
    except read_errors as error:
        raise FormatError(path, f"is no parquet file ({reason(error)})") from None
    if column not in table.schema_arrow.names:
        raise FormatError(path, f"has no column {column!r} but {', '.join(map(repr, table.schema_arrow.names))}")

    def pages() -> Iterator[list[Any]]:
        try:
            for batch in table.iter_batches(TEXTS_PER_READ, columns=[column]):
                yield batch.column(0).to_pylist()
        except read_errors as error:
            raise FormatError(path, f"is damaged ({reason(error)})") from None

    def batches() -> Iterator[list[str]]:
        first = 0
        for page in pages():
            texts = ["" if text is None else text for text in page]
            odd = next((place for place, text in enumerate(texts) if not isinstance(text, str)), None)
            if odd is not None:
                raise FormatError(path, f"row {first + odd}: {column!r} holds {type(texts[odd]).__name__}, no text")
            yield texts
            first += len(texts)

    return TextStream(batches(), table.metadata.num_rows)
