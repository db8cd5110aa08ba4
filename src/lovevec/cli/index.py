"""`lovevec index`: texts in, a folder to search in out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.cli.shell import (
    MODEL_HELP,
    as_path,
    describe,
    late_progress,
    refuse_terminal,
    refuse_unwritable,
    tidy_when_killed,
)
from lovevec.cli.terminal import say
from lovevec.errors import FormatError, LovevecError

if TYPE_CHECKING:
    from lovevec.search import Index
    from lovevec.texts.records import RecordPage, RecordStream

ABOUT = """An index of texts (titles, names, messages, pages of help), to search in with `lovevec search` or `lovevec
serve --index`. The words of the texts become known words, so that a query finds what it means in spite of its typos."""
MORE = """texts: a file or standard input, one a line; or columns of a table
  .csv .tsv       --column NAME, as in the first line
  .jsonl .ndjson  --column NAME, in each line's object
  .parquet        --column NAME (needs lovevec[parquet])
Several columns are searched together; with --column title:2 --column body a word of the title counts twice as much as
one of the body. What --id names is told of each hit; without it the number of the row, from 0.

examples:
  lovevec index products.csv --column title --id sku -o shop
  lovevec index help.jsonl --column title:2 --column body -o help
  cut -f2 companies.tsv | lovevec index -o companies
  lovevec search shop wireles hedphones"""
ROWS_PER_ADDITION = 65_536
MAX_WEIGHT = 100.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    add("texts", nargs="?", metavar="FILE", help="texts, or a table (default: standard input)")
    add("--column", action="append", default=[], metavar="NAME[:WEIGHT]", help="a column of texts; repeat for more")
    add("--id", metavar="NAME", help="the column of the ids")
    add("-o", "--output", metavar="FOLDER", required=True, help="the new index")
    add("-m", "--model", help=MODEL_HELP)
    add("--overwrite", action="store_true", help="replace the index that is there")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.texts.records import open_records

    if options.texts is None:
        refuse_terminal("some texts")
    fields = fields_of(options.column)
    source, output = as_path(options.texts), Path(options.output)
    if options.id is not None and not fields:
        raise LovevecError("--id is for tables: name the columns of their texts with --column")
    refuse_unwritable(output, "")
    refuse_other_folder(output, options.overwrite)
    with open_records(source, list(fields), options.id) as records, tidy_when_killed():
        index = index_of(records, LOVE.load(options.model), fields, source, options)
        index.save(output)
    say(options.quiet, [f"{len(index):,} texts; {output}: {size_of(output)}"])


def fields_of(columns: list[str]) -> dict[str, float]:
    """Columns with their weights, of NAME or NAME:WEIGHT."""
    fields: dict[str, float] = {}
    for column in columns:
        name, colon, number = column.rpartition(":")
        try:
            weight = float(number) if colon and name else 1.0
        except ValueError:  # a colon of the name itself
            colon, weight = "", 1.0
        name = name if colon and name else column
        if not 0 < weight <= MAX_WEIGHT:
            raise LovevecError(f"--column {column}: a weight is a number above 0, at most {MAX_WEIGHT:g}")
        if name in fields:
            raise LovevecError(f"--column {name}: is there twice; a weight makes it count more, as {name}:2")
        fields[name] = weight
    return fields


def index_of(
    records: RecordStream, love: object, fields: dict[str, float], source: Path | None, options: argparse.Namespace
) -> Index:
    """An index of all rows, which are added many at a time."""
    from lovevec.search import Index

    has_fields = len(fields) > 1 or any(weight != 1 for weight in fields.values())
    index = Index(love, [], fields=fields if has_fields else None)  # type: ignore[arg-type]
    seen: dict[str | int, int] = {}
    held: list[RecordPage] = []

    def add() -> None:
        texts: object = [text for page in held for text in page.columns[0]]
        if has_fields:
            rows = (row for page in held for row in zip(*page.columns, strict=True))
            texts = [dict(zip(fields, row, strict=True)) for row in rows]
        index.add(texts, None if options.id is None else [one for page in held for one in page.ids or ()])
        held.clear()

    with late_progress(options.quiet, records.total, Path(options.output), "indexing", "texts") as advance:
        for page in records.pages:
            for one, number in zip(page.ids or (), page.numbers, strict=False):
                if (first := seen.setdefault(one, number)) != number:
                    problem = f"{records.unit} {number}: the id {one!r:.60} is that of {records.unit} {first} too"
                    raise FormatError(source or "standard input", problem)
            held.append(page)
            if sum(len(page.numbers) for page in held) >= ROWS_PER_ADDITION:
                add()
            advance(len(page.numbers))
        if held:
            add()
    if not len(index):
        raise FormatError(source or "standard input", "has no texts")
    return index


def refuse_other_folder(folder: Path, overwrite: bool) -> None:
    """Write over nothing but an index, and over that only where it is asked for."""
    from lovevec.search import is_index

    if is_index(folder):
        if not overwrite:
            raise LovevecError(f"{folder}: holds an index already; choose another place, or --overwrite it")
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise LovevecError(f"{folder}: is there already, and is no index; choose another place")


def size_of(folder: Path) -> str:
    """How large a folder is."""
    return f"{sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()) / 1e6:.1f} MB"
