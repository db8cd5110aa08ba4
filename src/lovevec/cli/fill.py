"""`lovevec fill`: somebody's vectors, plus rows for the words that they lack."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lovevec.cli.shell import (
    MODEL_HELP,
    as_path,
    describe,
    output_files,
    refuse_same_file,
    refuse_unwritable,
    tidy_when_killed,
)
from lovevec.cli.terminal import complain, for_display, say
from lovevec.errors import LovevecError
from lovevec.progress import Progress

if TYPE_CHECKING:
    from lovevec.attach import Attached
    from lovevec.vectors import VectorTable

ABOUT = """Your own word vectors, plus a row for every word of a text (or a list) that they lack. Your rows come first,
as they are; the new ones follow, the most frequent first, in the same space and at a fitting length."""
MORE = """A word of the text is what stands between white space. If your vectors do not have it as it stands, the
punctuation before and after it is taken off. Words are lower-cased if all of your vectors' words are lower case.
--list takes one word a line, as it is.

The output's format is that of its name: .vec or .txt, .npy (words in x.words.txt), .npz, .safetensors, .parquet,
.jsonl.

examples:
  lovevec fill my.vec --words corpus.txt -o filled.vec
  lovevec fill GoogleNews.bin.gz --words corpus.txt --min-count 5 -o filled.npz
  zcat my.vec.gz | lovevec fill - --words corpus.txt -o filled.vec
  lovevec fill glove.txt --words wordlist.txt --list -m my-model -o filled.parquet"""
BATCH = 16_384
SAMPLE = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    add("vectors", help="a vector file of any known format (- for standard input)")
    add("--words", metavar="FILE", required=True, help="text with the words to have (- for standard input)")
    add("--list", action="store_true", help="FILE is a list, one word a line")
    add("--min-count", type=int, default=1, metavar="N", help="only words that come so often (default 1)")
    add("-o", "--output", metavar="FILE", help="where all vectors go (default: standard output)")
    add("--format", choices=("vec", "npy", "npz", "safetensors", "parquet", "jsonl"), help="if not by the file's name")
    add("-m", "--model", help=MODEL_HELP)
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.attach import Attached
    from lovevec.files.tensors import in_blocks
    from lovevec.love import LOVE
    from lovevec.vectors import read_vectors
    from lovevec.vectors.write import Shape, format_of, open_writer

    output = as_path(options.output)
    kind = format_of(output, options.format)
    if options.min_count < 1:
        raise LovevecError(f"--min-count is {options.min_count}: must be at least 1")
    if as_path(options.vectors) is as_path(options.words) is None:
        raise LovevecError("vectors and words both from standard input: name a file for one of the two")
    inputs = [as_path(options.vectors) or 0, as_path(options.words) or 0]
    refuse_same_file(inputs, output_files(output, kind))
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        raise LovevecError("all rows would scroll over the terminal: name a file with -o, or redirect the output")
    refuse_unwritable(output, kind)
    with Progress(options.quiet) as progress:
        with vector_file(options.vectors) as path:
            table = read_vectors(path, progress=progress, mmap=None)
        with progress.phase("counting words"):
            often, lacking = wanted_words(options, table)
        love = LOVE.load(options.model)
        with progress.phase("attaching"):
            robust = Attached(love, table)
        rows = len(table) + len(lacking)
        with (
            tidy_when_killed(),
            open_writer(output, kind, Shape(table.dim, rows, exact=True)) as writer,
            progress.phase("writing", rows, "rows") as phase,
        ):
            for low, vectors in in_blocks(table.vectors, BATCH):
                words = for_display(table.words[low : low + BATCH], output)
                writer.add(words, vectors.astype("f4", copy=False), [True] * len(words))
                phase.advance(len(words))
            for low in range(0, len(lacking), BATCH):
                batch = lacking[low : low + BATCH]
                writer.add(for_display(batch, output), robust.embed(batch), [False] * len(batch))
                phase.advance(len(batch))
    confidence = mean_confidence(robust, lacking)
    if robust.warning:
        complain(f"warning: {robust.warning}")
    say(
        options.quiet,
        [
            *table.report.lines()[1:],
            f"{robust!r}",
            f"{len(table):,} rows kept; of {len(often):,} words asked for {len(often) - len(lacking):,} are known,"
            f" {len(lacking):,} rows added{confidence}",
            *writer.notes(),
        ],
    )


@contextmanager
def vector_file(name: str) -> Iterator[Path]:
    """The file of this name; what comes from standard input is kept as one, since formats are found out by going back
    and forth in it."""
    if name != "-":
        yield Path(name)
        return
    from lovevec.vectors.read.words import STDIN

    with TemporaryDirectory() as folder:
        path = Path(folder) / STDIN
        with open(0, "rb", closefd=False) as source, open(path, "wb") as copy:
            copyfileobj(source, copy)
        try:
            yield path
        except LovevecError as error:
            raise LovevecError(error.message.replace(str(path), STDIN)) from None


def wanted_words(options: argparse.Namespace, table: VectorTable) -> tuple[list[str], list[str]]:
    """The words to have rows for, the most frequent first; and those of them that the table lacks."""
    from lovevec.vectors.read.words import count_list, count_text, open_words

    have, lowercase = set(table.words), all(word == word.lower() for word in table.words)
    with open_words(as_path(options.words)) as stream:
        counts = count_list(stream, lowercase) if options.list else count_text(stream, have, lowercase)
    often = [word for word, count in counts.most_common() if count >= options.min_count]
    return often, [word for word in often if word not in have]


def mean_confidence(robust: Attached, words: Sequence[str]) -> str:
    """The mean for the summary, if the model was calibrated; some of the words stand for all."""
    values = robust.confidence(words[:: len(words) // SAMPLE + 1])
    return f", mean confidence {values.mean():.2f}" if len(values) and values[0] == values[0] else ""
