"""`lovevec embed`: a stream of words in, a stream of vectors out."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from itertools import chain

from lovevec.cli.shell import (
    MODEL_HELP,
    as_path,
    describe,
    late_progress,
    output_files,
    refuse_same_file,
    refuse_terminal,
    tidy_when_killed,
)
from lovevec.cli.terminal import for_display, say
from lovevec.errors import LovevecError

ABOUT = """Vectors for words, one row a word, in their order: from the command line, a file, or standard input,
one word a line. Any size in constant memory. Any string has a vector: misspelled, new, empty."""
MORE = """formats, by the end of the file's name or --format:
  vec      text as word2vec and fastText write it (also .txt). Standard output has this one unless you say otherwise.
           Its first line `rows dim` is left out only when words come from a pipe and vectors go into one
           (gensim: no_header=True)
  npy      numpy array; the words go to x.words.txt beside x.npy, one a line
  npz      numpy archive with the arrays vectors and words
  safetensors  the same two as tensors, which can be memory-mapped
  parquet  columns word and vector, for pandas, polars, duckdb (needs lovevec[parquet])
  jsonl    {"word": …, "vector": […], "known": true or false} a line

A line ends at \\n or \\r\\n; an empty line is a word too, so that row i belongs to line i. A byte-order mark is
dropped. Words that are not UTF-8 come out as they went in. A file appears only when it is whole.

examples:
  lovevec embed mispelling oxgen --format jsonl
  lovevec embed < words.txt > vectors.vec
  lovevec embed -i words.txt -o vectors.npy --precision float16"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    parser.usage = "%(prog)s [options] [word ...]"
    add("words", nargs="*", metavar="word", help="any strings; without them: -i, or standard input")
    add("-m", "--model", help=MODEL_HELP)
    add("-i", "--input", metavar="FILE", help="words, one a line (- for standard input)")
    add("-o", "--output", metavar="FILE", help="where the vectors go (default: standard output)")
    add("--format", choices=("vec", "npy", "npz", "safetensors", "parquet", "jsonl"), help="see below")
    add("--precision", choices=("float32", "float16"), default="float32", help="of npy, npz, safetensors and parquet")
    add("-q", "--quiet", action="store_true", help="no progress, no notes")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.vectors.read.words import open_words
    from lovevec.vectors.write import Shape, format_of, open_writer

    output = as_path(options.output)
    kind = format_of(output, options.format)
    with ExitStack() as stack:
        stream = None
        if options.words and options.input:
            raise LovevecError("words on the command line and -i: name one of the two")
        if not options.words:
            if options.input is None:
                refuse_terminal("some")
            stream = stack.enter_context(open_words(as_path(options.input)))
            refuse_same_file([stream.file.fileno()], output_files(output, kind))
        count = len(options.words) if stream is None else stream.count()
        words = iter([options.words]) if stream is None else stream.batches()
        first: list[str] = next(words, [])
        love = LOVE.load(options.model)
        with (
            tidy_when_killed(),
            open_writer(output, kind, Shape(love.dim, count, options.precision)) as writer,
            late_progress(options.quiet, count, output) as advance,
        ):
            empty = 0
            for batch in chain([first] if first else [], words):
                known = [word in love for word in batch] if kind == "jsonl" else []
                writer.add(for_display(batch, output), love.embed(batch, progress=False), known)
                empty += batch.count("")
                advance(len(batch))
    notes = [f"empty lines: {empty:,}; their rows hold the vector of the empty word"] if empty else []
    say(options.quiet, notes + writer.notes())
