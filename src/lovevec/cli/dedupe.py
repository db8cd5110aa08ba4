"""`lovevec dedupe`: a table in, the same with the group of each record out."""

from __future__ import annotations

import argparse

from lovevec.cli.match import PLACES, write_shown
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
from lovevec.cli.terminal import say
from lovevec.errors import FormatError, LovevecError

ABOUT = """Which records of a table are the same thing, typos, missing words and other spellings and all? Each gets the
number of its group. Two records are in one group if most of their pairs there are probably the same thing, so that no
chain of weak links makes a large one."""
MORE = """table: .csv .tsv .jsonl .parquet (needs lovevec[parquet]), or lines (any other name; - for standard input)
Name what is compared with --column, once for each column; a column counts by what it tells apart.

The output is the table with two columns more: `group`, a number, and `group_probability`, how probably the record
belongs to its group (1 where it is alone). --first leaves only the first record of each group.

examples:
  lovevec dedupe customers.csv --column company -o grouped.csv
  lovevec dedupe customers.csv --column company --column city --precision 0.97 -o grouped.csv
  lovevec dedupe names.txt --first -o unique.csv"""
NAMES = "group", "group_probability"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    add("table", metavar="TABLE", help="the records")
    add("-m", "--model", help=MODEL_HELP)
    add("--column", action="append", metavar="NAME", help="what is compared; may be given more than once")
    add("-o", "--output", metavar="FILE", help="where the rows go (default: csv on standard output)")
    add(
        "--precision", type=float, default=0.9, metavar="P", help="share of the pairs that shall be right (default 0.9)"
    )
    add("--first", action="store_true", help="only the first record of each group")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.progress import Progress
    from lovevec.search.match import check_precision
    from lovevec.texts.tables import LINES, FileTable, kind_of_table, read_table, refuse_no_table, write_table
    from lovevec.vectors.write.writer import open_sink

    path, output = as_path(options.table), as_path(options.output)
    check_precision(options.precision)
    refuse_no_table(output)
    kind = "csv" if output is None else kind_of_table(output)
    refuse_unwritable(output, kind)
    refuse_same_file([0 if path is None else path], [output])
    names = [LINES] if kind_of_table(path) == "lines" else options.column
    if not names:
        raise LovevecError(f"{path}: has columns; name what is compared with --column")
    table = read_table(path)
    if (there := next((name for name in NAMES if name in table.columns), None)) is not None:
        raise FormatError(path or "standard input", f"has a column {there!r} already")
    texts = [table.texts(name, path) for name in names]
    records = [dict(zip(names, row, strict=True)) for row in zip(*texts, strict=True)]
    love = LOVE.load(options.model)
    progress = Progress(options.quiet, spelling=as_flag, delay=SECONDS_BEFORE_PROGRESS)
    with tidy_when_killed(), progress:
        groups = love.dedupe(records, precision=options.precision, progress=progress)
        numbers = {label: number for number, label in enumerate(dict.fromkeys(groups.labels.tolist()), 1)}
        own = [numbers[label] for label in groups.labels.tolist()]
        chances = [round(chance, PLACES) for chance in groups.probabilities.tolist()]
        whole = FileTable(table.columns | dict(zip(NAMES, (own, chances), strict=True)), table.types)
        with open_sink(output) as sink:
            write_shown(whole.take(groups.first) if options.first else whole, sink.file, kind, write_table)
            sink.pass_on()
    again = len(table) - len(groups.first)
    say(options.quiet, [f"records: {len(table):,}; groups of two and more: {len(groups):,}; duplicates: {again:,}"])
