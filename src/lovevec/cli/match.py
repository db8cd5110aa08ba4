"""`lovevec match`: two tables in, which of their records are the same thing out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.cli.shell import (
    MODEL_HELP,
    SECONDS_BEFORE_PROGRESS,
    as_flag,
    as_path,
    describe,
    refuse_same_file,
    refuse_unwritable,
    tidy_when_killed,
)
from lovevec.cli.terminal import harmless, say
from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec.search import Matches
    from lovevec.texts.tables import FileTable

ABOUT = """For each record of the second table the record of the first that is most probably the same thing, typos,
missing words and other spellings and all, with a probability. The first table is the one that is looked in: as a rule a
list without duplicates. Nothing is sent anywhere, and nothing has to be labelled."""
MORE = """tables: .csv .tsv .jsonl .parquet (needs lovevec[parquet]), or lines (any other name; - for standard input)
Name what is compared with --column, once for each column; a column counts by what it tells apart. Where the second
table calls it otherwise, name that with --right-column, as often.

The output has a row for each record of the second table, in its order: its own columns, then those of its match in the
first table (with left_ before names that both have), then `probability`. Records without a match have empty ones.

How sure must a match be? --precision 0.95 keeps as many as it can so that 95 of 100 are expected to be right.
--min-probability 0.8 keeps what is as sure as that. --one-to-one gives no record of the first table twice.

examples:
  lovevec match customers.csv leads.csv --column company -o matched.csv
  lovevec match a.csv b.csv --column name --right-column title --precision 0.95 -o matched.csv
  lovevec match a.parquet b.parquet --column name --column city --one-to-one -o matched.parquet
  lovevec match names.txt more.txt --matched"""
PLACES = 4  # of a probability in a file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    add("left", metavar="FIRST", help="the table that is looked in")
    add("right", metavar="SECOND", help="the table whose records are looked for")
    add("-m", "--model", help=MODEL_HELP)
    add("--column", action="append", metavar="NAME", help="what is compared; may be given more than once")
    add("--right-column", action="append", metavar="NAME", help="its name in the second table")
    add("-o", "--output", metavar="FILE", help="where the rows go (default: csv on standard output)")
    add("--precision", type=float, metavar="P", help="share of the matches that shall be right: 0.95")
    add("--min-probability", type=float, metavar="P", help="least probability of a match")
    add("--one-to-one", action="store_true", help="each record of the first table once at most")
    add("--matched", action="store_true", help="leave out records without a match")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.progress import Progress
    from lovevec.search.match import check_precision
    from lovevec.texts.tables import kind_of_table, read_table, refuse_no_table, write_table
    from lovevec.vectors.write.writer import open_sink

    paths = as_path(options.left), as_path(options.right)
    output = as_path(options.output)
    if paths == (None, None):
        raise LovevecError("both tables are standard input: name a file for one of them")
    check_precision(options.precision)
    check_probability(options.min_probability)
    refuse_no_table(output)
    kind = "csv" if output is None else kind_of_table(output)
    refuse_unwritable(output, kind)
    refuse_same_file([0 if path is None else path for path in paths], [output])
    names = column_names(options, paths)
    tables = [read_table(path) for path in paths]
    texts = [
        {f"column {place}": table.texts(name, path) for place, name in enumerate(own)}
        for table, path, own in zip(tables, paths, names, strict=True)
    ]
    love = LOVE.load(options.model)
    progress = Progress(options.quiet, spelling=as_flag, delay=SECONDS_BEFORE_PROGRESS)
    with tidy_when_killed(), progress:
        records = [[dict(zip(own, row, strict=True)) for row in zip(*own.values(), strict=True)] for own in texts]
        matches = love.match(*records, one_to_one=options.one_to_one, precision=options.precision, progress=progress)
        table, count = joined(tables[0], tables[1], matches, options.min_probability, options.matched)
        with open_sink(output) as sink:
            write_shown(table, sink.file, kind, write_table)
            sink.pass_on()
    say(options.quiet, [f"records: {len(tables[1]):,}; matched: {count:,}"])


def column_names(options: argparse.Namespace, paths: tuple[Path | None, Path | None]) -> list[list[str]]:
    """The names of the columns that are compared, of each table."""
    from lovevec.texts.tables import LINES, kind_of_table

    left, right = options.column, options.right_column or options.column
    result = []
    for path, names, flag in zip(paths, (left, right), ("--column", "--right-column"), strict=True):
        if kind_of_table(path) == "lines":
            result.append([LINES])
        elif not names:
            raise LovevecError(f"{path}: has columns; name what is compared with {flag}")
        else:
            result.append(names)
    if len(result[0]) != len(result[1]):
        raise LovevecError(f"{len(result[0])} columns of the first table and {len(result[1])} of the second are named")
    return result


def check_probability(probability: float | None) -> None:
    """Refuse what is no probability."""
    if probability is not None and not 0 <= probability <= 1:
        raise LovevecError(f"--min-probability is {probability!r}: must be a number from 0 to 1")


def joined(
    left: FileTable, right: FileTable, matches: Matches, least: float | None, only_matched: bool
) -> tuple[FileTable, int]:
    """The rows of the right table with those of their matches beside them, and how many have one."""
    from lovevec.texts.tables import FileTable

    kept = {one.right: one for one in matches if least is None or one.probability >= least}
    rows = sorted(kept) if only_matched else list(range(len(right)))
    own = right.take(rows)
    other = left.take([kept[row].left if row in kept else None for row in rows])
    columns, types = dict(own.columns), dict(own.types)
    for name, values in other.columns.items():
        free = name
        while free in columns or (free == name and name in own.columns):
            free = f"left_{free}"
        columns[free] = values
        if name in other.types:
            types[free] = other.types[name]
    free = "probability"
    while free in columns:
        free = f"match_{free}"
    columns[free] = [round(kept[row].probability, PLACES) if row in kept else None for row in rows]
    return FileTable(columns, types), len(kept)


def write_shown(table: FileTable, file: Any, kind: str, write: Any) -> None:
    """Write a table; on a terminal without what makes it act."""
    if not file.isatty():
        write(table, file, kind)
        return
    if kind == "parquet":
        raise LovevecError("parquet is not for a terminal: name a file with -o, or redirect the output")
    import io

    text = io.BytesIO()
    write(table, text, kind)
    file.write(harmless(text.getvalue().decode("utf-8", "replace"), but="\t\n").encode())
