"""`lovevec search`: the texts of an index that answer a query."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.cli.shell import (
    as_path,
    describe,
    late_progress,
    refuse_same_file,
    refuse_unwritable,
    take_options_anywhere,
    tidy_when_killed,
)
from lovevec.cli.terminal import complain, harmless, put
from lovevec.errors import LovevecError, Parameter

if TYPE_CHECKING:
    from lovevec.search import Hit, Index

ABOUT = """The texts of an index that answer a query best, the best first: score (from 0 to 1), id, text, and how
misspelled words of the query were read. Typos cost little: `wireles hedphones` finds what `wireless headphones` does.
`lovevec index` makes an index."""
MORE = """queries: from the command line (its words are one query); a file with -i, or standard input, one a line; a
column of a table. Without any, in a terminal: type one after the other, Ctrl-D ends.

  lines    a line a hit, tab-separated: query, score, id, text; --json: an object a query, {"query": …, "hits": […]}
  a table  (.csv .tsv .jsonl .ndjson .parquet, --column NAME) is written whole, in its own format, with a column
           behind all others, NAME_hits: a JSON list for each row

--why says more of each hit: which words met, how each was read and how probably, and what words, letters in common and
meaning account for of the score.

examples:
  lovevec search shop wireles hedphones
  lovevec search shop -k 3 --why "ketle, 1.5l"
  lovevec search shop --json "runing shoes" | jq '.hits[].id'
  lovevec search shop -i wanted.csv --column item -k 1 -o found.csv
  lovevec search shop                                       # type and see"""
LEAST = 0.1  # score of a hit that is shown to people if no word met; with nothing in common it is about 0.07
PLACES = 6  # of numbers in JSON
NARROWEST = 40  # columns of a terminal
BEFORE_A_WORD = 30  # characters of a long text that are shown before the first word that met
PROMPT = "search> "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    parser.usage = "%(prog)s [options] FOLDER [query ...]"
    take_options_anywhere(parser)
    add("index", metavar="FOLDER", help="an index")
    add("query", nargs="*", default=[], metavar="query", help="a query; without it: -i, standard input, or a prompt")
    add("-m", "--model", help="the model that the index was made with (default: the shipped model)")
    add("-k", type=int, default=10, help="how many hits at most (default 10)")
    add("--why", action="store_true", help="why each was found")
    add("--json", action="store_true", help="a JSON object a query, for programs")
    add("-i", "--input", metavar="FILE", help="queries (- for standard input)")
    add("--column", metavar="NAME", help="where the queries of a table stand")
    add("-o", "--output", metavar="FILE", help="where the hits go (default: standard output)")
    add("-q", "--quiet", action="store_true", help="no progress, no notes")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.search import Index

    if options.query and (options.input or options.column):
        raise LovevecError("a query on the command line and -i or --column: name one of the two")
    if options.json and options.column is not None:
        raise LovevecError("--json is for plain queries: a table gets its hits in a new column")
    if options.k < 1:
        raise LovevecError(f"{Parameter('k')} is {options.k}: must be at least 1, a whole number")
    if options.query and not " ".join(options.query).strip():
        raise LovevecError("the query is empty: say what you look for")
    output = as_path(options.output)
    refuse_unwritable(output, "")
    refuse_encoder(options.index)
    index = Index.load(options.index, LOVE.load(options.model))
    if options.query and output is None:
        query = " ".join(options.query)
        answer(index, query, options)
    elif options.input is None and not options.query and sys.stdin is not None and sys.stdin.isatty():
        if output is not None:
            raise LovevecError("-o without queries: name some, or a file with -i, or send them to standard input")
        ask(index, options)
    elif options.column is not None:
        search_table(index, as_path(options.input), output, options)
    else:
        search_lines(index, as_path(options.input), output, options)


def refuse_encoder(folder: str) -> None:
    """Only Python has the encoder that an index was made with."""
    from lovevec.search import about_index

    if about_index(folder)["encoder"]:
        raise LovevecError(f"{folder}: was made with an encoder of your own: search it from Python, or make it without")


def answer(index: Index, query: str, options: argparse.Namespace) -> None:
    """Print the hits of one query, for people or as JSON."""
    hits = index.search(query, options.k)
    if options.json:
        put(json_line(query, hits, options.why))
        return
    shown = [hit for hit in hits if hit.score >= LEAST or hit.why.met]
    if shown:
        put("".join(f"{line}\n" for line in lines_of(shown, options.why, width_of_terminal())))
    elif not options.quiet:
        complain(f"nothing in {len(index):,} texts has anything to do with it")


def ask(index: Index, options: argparse.Namespace) -> None:
    """Answer queries as somebody types them, until Ctrl-D."""
    with suppress(ImportError):
        import readline  # noqa: F401 - input() then has a history, and arrow keys
    complain(f"{len(index):,} texts; type what you look for, Ctrl-D ends")
    while True:
        try:
            query = input(PROMPT)
        except EOFError:
            put("\n")
            return
        if query.strip():
            answer(index, query, options)


def search_lines(index: Index, source: Path | None, output: Path | None, options: argparse.Namespace) -> None:
    """Answer a stream of queries, one a line."""
    from lovevec.texts.read import TextStream, open_texts
    from lovevec.vectors.write.writer import open_sink

    def answered(texts: TextStream, advance: Any) -> Iterator[str]:
        for batch in texts.batches:
            for query, hits in zip(batch, index.search(batch, options.k), strict=True):
                yield json_line(query, hits, options.why) if options.json else tab_lines(query, hits, options.why)
            advance(len(batch))

    def write(texts: TextStream) -> None:
        with (
            tidy_when_killed(),
            open_sink(output) as sink,
            late_progress(options.quiet, texts.total, output, "searching", "queries") as advance,
        ):
            for part in answered(texts, advance):
                sink.file.write(part.encode("utf-8", "surrogateescape"))
                sink.pass_on()

    if options.query:
        write(TextStream(iter([[" ".join(options.query)]]), 1))
        return
    with open_texts(source, None) as texts:
        refuse_same_file([0 if source is None else source], [output])
        write(texts)


def search_table(index: Index, source: Path | None, output: Path | None, options: argparse.Namespace) -> None:
    """Write a table again, with the hits of its queries in a column behind all others."""
    from lovevec.cli.correct import for_terminal, refuse_other_format
    from lovevec.texts.read import kind_of
    from lovevec.texts.rewrite import open_rows
    from lovevec.vectors.write.writer import open_sink

    refuse_other_format(output, kind_of(source, options.column))
    with open_rows(source, options.column, f"{options.column}_hits") as rows:
        refuse_same_file([] if source is None else [source], [output])
        with (
            tidy_when_killed(),
            open_sink(output) as sink,
            rows.writer(sink.file, for_terminal if sink.file.isatty() else str) as write,
            late_progress(options.quiet, rows.total, output, "searching", "queries") as advance,
        ):
            for page in rows.pages():
                found = index.search(page.texts, options.k)
                write(page, [as_json([facts_of(hit, options.why) for hit in hits]) for hits in found])
                sink.pass_on()
                advance(len(page.texts))


def json_line(query: str, hits: Iterable[Hit], why: bool) -> str:
    """A query and its hits as a line of JSON."""
    return as_json({"query": query, "hits": [facts_of(hit, why) for hit in hits]}) + "\n"


def as_json(value: object) -> str:
    """JSON in ASCII, so that it is harmless wherever it goes."""
    return json.dumps(value)


def facts_of(hit: Hit, why: bool) -> dict[str, Any]:
    """A hit for JSON, with numbers that are short to read."""
    from lovevec.search.hits import hit_facts

    facts: dict[str, Any] = rounded(hit_facts(hit, why))
    return facts


def rounded(value: Any) -> Any:
    """Numbers inside of lists and objects, rounded."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, PLACES) if isinstance(value, float) else value


def tab_lines(query: str, hits: Iterable[Hit], why: bool) -> str:
    """A line a hit: query, score, id, text, and with `why` what met."""
    return "".join(
        "\t".join(
            [harmless(query), f"{hit.score:.4f}", harmless(str(hit.id)), on_one_line(hit.text)]
            + ([", ".join(map(shown_met, hit.why.met))] if why else [])
        )
        + "\n"
        for hit in hits
    )


def lines_of(hits: Sequence[Hit], why: bool, width: int | None) -> Iterator[str]:
    """Hits for people: score, id and text in columns; beneath, how misspelled words of the query were read. Lines are
    cut at `width`, if there is one."""
    ids = [harmless(str(hit.id)) for hit in hits]
    wide = max(map(len, ids))
    for hit, own in zip(hits, ids, strict=True):
        head = f"{hit.score:.2f}  {own.rjust(wide) if isinstance(hit.id, int) else own.ljust(wide)}  "
        room = None if width is None else max(width - len(head), NARROWEST)
        yield head + cut_around(on_one_line(hit.text), {met.word for met in hit.why.met}, room)
        margin = " " * len(head)
        if why:
            yield margin + (", ".join(map(shown_met, hit.why.met)) or "no word of the query")
            shares = (f"{name} {getattr(hit.why, name):.2f}" for name in ("words", "letters", "meaning"))
            yield margin + " + ".join(shares)
        elif read := [f"{harmless(met.query)} → {harmless(met.word)}" for met in hit.why.met if met.query != met.word]:
            yield margin + ", ".join(read)


def shown_met(met: Any) -> str:
    """`hedphones → headphones (near 0.99)`, `black`."""
    if met.query == met.word:
        return harmless(met.word)
    return f"{harmless(met.query)} → {harmless(met.word)} ({met.reading} {met.share:.2f})"


def on_one_line(text: str) -> str:
    """A text with single blanks for all white space."""
    return harmless(" ".join(text.split()))


def cut_around(text: str, words: set[str], room: int | None) -> str:
    """What fits of a text into so many characters: its beginning, or from shortly before the first word that met."""
    if room is None or len(text) <= room:
        return text
    low = text.lower()
    first = min((place for word in words if (place := low.find(word.lower())) >= 0), default=0)
    start = 0
    if first + BEFORE_A_WORD > room:
        start = min(text.rfind(" ", 0, max(first - BEFORE_A_WORD, 0)) + 1, len(text) - room + 2)
    before, after = "… " if start else "", " …" if len(text) - start > room else ""
    return before + text[start : start + room - len(before) - len(after)].rstrip() + after


def width_of_terminal() -> int | None:
    """How many characters fit into a line, where a terminal shows it."""
    return shutil.get_terminal_size().columns if os.isatty(1) else None
