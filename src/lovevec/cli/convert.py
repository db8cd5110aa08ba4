"""`lovevec convert`: a file of word vectors in another format, or as float16."""

from __future__ import annotations

import argparse
from pathlib import Path

from lovevec.cli.shell import describe, refuse_unwritable, tidy_when_killed
from lovevec.cli.terminal import say
from lovevec.errors import LovevecError
from lovevec.progress import Progress

ABOUT = """Write a file of word vectors anew, in the format that the output's name says. Rows pass through batch by
batch: memory holds the words and a few megabytes, whatever the size of the file. Rows that are no use (NaN, zeros only,
repeated words) are dropped and counted."""
MORE = """Read are word2vec text and binary, GloVe, fastText .vec and .bin, .npy, .npz and safetensors, text also packed
(.gz, .xz, .zip). Written are .vec or .txt, .npy (words in x.words.txt), .npz, .safetensors, .parquet, .jsonl. A
.safetensors or .npy need not be loaded: read_vectors("crawl.safetensors", mmap=True) leaves its rows in the file.

examples:
  lovevec convert crawl-300d-2M.vec.zip crawl.safetensors --dtype float16
  lovevec convert GoogleNews.bin.gz news.npz
  lovevec convert table.npy table.vec --words table.words.txt --limit 100000"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    parser.add_argument("vectors", help="a vector file of any known format")
    parser.add_argument("output", help="the file to write")
    parser.add_argument("--dtype", choices=("float16", "float32"), default="float32", help="(default float32)")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N rows only")
    parser.add_argument("--words", metavar="FILE", help="the word list of an array file, one a line")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.vectors import convert_vectors
    from lovevec.vectors.write import format_of

    output = Path(options.output)
    refuse_unwritable(output, format_of(output))
    if options.limit is not None and options.limit < 1:
        raise LovevecError(f"--limit is {options.limit}: must be at least 1")
    with Progress(options.quiet) as progress, tidy_when_killed():
        report = convert_vectors(
            options.vectors,
            output,
            dtype=options.dtype,
            limit=options.limit,
            words=options.words,
            overwrite=options.overwrite,
            progress=progress,
        )
    size = output.stat().st_size
    say(options.quiet, [*report.lines(), f"{output}: {size / 1e6:,.1f} MB"])
