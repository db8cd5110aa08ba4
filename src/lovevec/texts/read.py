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

BATCH = 4096
LONGEST_LINE = 1 << 22  # characters, and of a cell too
COLUMNS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


class Texts(NamedTuple):
    """Batches of texts, and how many there are where that is known before."""

    batches: Iterator[list[str]]
    total: int | None = None


@contextmanager
def open_texts(path: Path | None, column: str | None) -> Iterator[Texts]:
    """The texts of a file, or of standard input for None. `column` names them in a file that has columns."""
    suffix = "" if path is None else path.suffix.lower()
    if path is None or suffix not in COLUMNS:
        if column is not None:
            raise LovevecError(
                f"{Parameter('column')} is for files that end in {', '.join(COLUMNS)}: {path or 'standard input'}"
            )
        with open_words(path) as stream:
            yield Texts(stream.batches(BATCH), stream.count())
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
                found = object_texts(path, lines, column)
            else:
                found = table_texts(path, lines, column, "\t" if suffix == ".tsv" else ",")
            yield Texts(_batched(found))
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read: {error.strerror or error}") from None


def _lines(path: Path, file: io.TextIOWrapper) -> Iterator[str]:
    """With their ends; a file without any is refused before memory is full."""
    for number in count(1):
        line = file.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE:
            raise FormatError(path, f"line {number}: has more than {LONGEST_LINE >> 20} million characters")
        yield line


def _batched(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, BATCH)):
        yield batch


def table_texts(
    path: Path, file: Iterable[str], column: str, delimiter: str, names: list[str] | None = None
) -> Iterator[str]:
    """A column of a table in text. `names` are those of the columns where the file's first line is not among these."""
    csv.field_size_limit(LONGEST_LINE)
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
    """What stands under a name in the JSON object of each line."""
    for number, line in enumerate(file, 1):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"line {number}: is no JSON ({reason(error)})") from None
        text = found.get(name) if isinstance(found, dict) else None
        if not isinstance(text, str):
            raise FormatError(path, f"line {number}: has no text under {name!r}")
        yield text


def _parquet(path: Path, column: str) -> Texts:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    open_plain(path).close()
    damage = (ArrowException, OSError, UnicodeDecodeError)  # what pyarrow raises on a damaged file, at any time
    try:
        table: Any = ParquetFile(path)
    except damage as error:
        raise FormatError(path, f"is no parquet file ({reason(error)})") from None
    if column not in table.schema_arrow.names:
        raise FormatError(path, f"has no column {column!r} but {', '.join(map(repr, table.schema_arrow.names))}")

    def pages() -> Iterator[list[Any]]:
        try:
            for batch in table.iter_batches(BATCH, columns=[column]):
                yield batch.column(0).to_pylist()
        except damage as error:
            raise FormatError(path, f"is damaged ({reason(error)})") from None

    def batches() -> Iterator[list[str]]:
        done = 0
        for page in pages():
            texts = ["" if text is None else text for text in page]
            odd = next((place for place, text in enumerate(texts) if not isinstance(text, str)), None)
            if odd is not None:
                raise FormatError(path, f"row {done + odd}: {column!r} holds {type(texts[odd]).__name__}, no text")
            yield texts
            done += len(texts)

    return Texts(batches(), table.metadata.num_rows)
