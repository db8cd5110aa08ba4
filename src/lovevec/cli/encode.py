"""`lovevec encode`: a stream of texts in, a stream of vectors out."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lovevec.cli.shell import (
    TEXTS_MORE,
    add_texts,
    as_path,
    describe,
    late_progress,
    refuse_same_file,
    refuse_unclear_texts,
    refuse_unwritable,
    tidy_when_killed,
)
from lovevec.cli.terminal import for_display, harmless, put, say
from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec.love import LOVE
    from lovevec.vectors.write import Format

ABOUT = """Vectors for whole texts (titles, queries, messages), one row a text, in their order: the mean of their words'
vectors by how much each word counts. A misspelled word counts as the word that was meant, so that a mistyped text is
near its right spelling. Any size in constant memory. A text without words has a row of zeros."""
MORE = """
formats, by the end of the output's name or --format:
  npy      numpy array [texts, dim]
  parquet  columns text and vector, for pandas, polars, duckdb (needs lovevec[parquet])
  jsonl    {"text": …, "vector": […]} a line; standard output has this one unless you say otherwise

examples:
  lovevec encode "definately a grat film" "a great film, definitely"
  lovevec encode --tokens "definately a grat film"
  lovevec encode -i queries.txt -o queries.npy
  lovevec encode -i products.csv --column title -o titles.parquet --precision float16"""
FORMATS: dict[str, Format] = {".npy": "npy", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, TEXTS_MORE + MORE)
    add_texts(parser, "vectors")
    add = parser.add_argument
    add("--format", choices=("npy", "parquet", "jsonl"), help="see below")
    add("--precision", choices=("float32", "float16"), default="float32", help="of npy and parquet")
    add(
        "--tokens",
        action="store_true",
        help="no vectors, but what was seen, a line a word: text, reading, word, weight",
    )
    add("-q", "--quiet", action="store_true", help="no progress, no notes")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.texts.read import TextStream, open_texts
    from lovevec.vectors.write import Shape, open_writer

    source, output = as_path(options.input), as_path(options.output)
    kind: Format = "jsonl" if options.tokens else format_of(options.output if output else None, options.format)
    refuse_unclear_texts(options)
    if options.tokens and output:
        raise LovevecError("--tokens prints lines to standard output: leave out -o")
    refuse_unwritable(output, kind)
    with ExitStack() as stack:
        texts = TextStream(iter([options.texts]), len(options.texts))
        if not options.texts:
            texts = stack.enter_context(open_texts(source, options.column))
            refuse_same_file([0 if source is None else source], [output])
        love = LOVE.load(options.model)
        if options.tokens:
            for batch in texts.batches:
                put("".join(token_lines(love, text) for text in batch))
            return
        with (
            tidy_when_killed(),
            open_writer(output, kind, Shape(love.dim, texts.total, options.precision, item="text")) as writer,
            late_progress(options.quiet, texts.total, output, "encoding", "texts") as advance,
        ):
            empty = 0
            for batch in texts.batches:
                rows = love.encode(batch, show_progress_bar=False)
                writer.add(for_display(batch, output), rows, ())
                empty += len(rows) - int(rows.any(axis=1).sum())
                advance(len(batch))
    notes = [f"texts without words: {empty:,}; their rows are zeros"] if empty else []
    say(options.quiet, notes + writer.notes())


def format_of(name: str | None, named: Format | None) -> Format:
    """The format that is named, or the one that the end of the file's name says; jsonl on standard output."""
    if named or name is None:
        return named or "jsonl"
    suffix = next((suffix for suffix in FORMATS if name.lower().endswith(suffix)), None)
    if suffix is None:
        raise LovevecError(f"{name}: its name does not say the format; end it in {', '.join(FORMATS)}, or use --format")
    return FORMATS[suffix]


def token_lines(love: LOVE, text: str) -> str:
    """A line a word, and an empty one behind the text."""
    lines = [
        "\t".join([harmless(token.text), token.reading, harmless(token.word or "-"), f"{token.weight:.2f}"])
        for token in love.tokens(text)
    ]
    return "\n".join([*lines, "", ""])
