"""`lovevec bulk`: files of words or texts in, a folder of vectors out, on all cores of a machine or a Ray cluster."""

from __future__ import annotations

import argparse
import json
import sys

from lovevec.cli.shell import MODEL_HELP, describe, tidy_when_killed
from lovevec.cli.terminal import put, say

ABOUT = """Vectors for tables of any size: parquet, CSV, JSON lines or plain lines in, a folder of parquet files out, by
Ray Data (needs lovevec[bulk]) on all cores of this machine or of a cluster. Give the same command again after a crash,
Ctrl-C or kill -9: it goes on with the parts that are missing. The same input gives the same bytes, whatever the number
of workers."""
MORE = """input: files, folders, globs; local, or any that pyarrow or fsspec reads (s3://, gs://, hdfs://, …)
  .parquet             the column that --column names
  .csv .tsv            the same, as named in the first line
  .jsonl .ndjson       the same, in each line's object
  any other name       lines, one a row
  The last three also as .gz, .bz2 or .zst, which one worker reads alone.

output: part-00000.parquet … with the column and `vector`, a fixed-size list of floats; the schema's metadata
  (key lovevec) says by which model. A cluster's nodes must reach input and output by the same names.

examples:
  lovevec bulk words.txt -o vectors
  lovevec bulk 'crawl/*.parquet' -o vectors --column token --distinct --precision float16
  lovevec bulk products/ -o vectors --column title --texts
  lovevec bulk s3://bucket/words/ -o s3://bucket/vectors/ --address ray://head:10001 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    add("inputs", nargs="+", metavar="IN", help="files, folders or globs")
    add("-o", "--output", required=True, metavar="OUT", help="the folder of the vectors")
    add("-m", "--model", help=MODEL_HELP)
    add("--column", metavar="NAME", help="of a table (default: word; with --texts: text)")
    add("--texts", action="store_true", help="rows are whole texts: the vector of each, as by encode")
    add("--distinct", action="store_true", help="each word once (with --texts: of those in the texts)")
    add(
        "--near",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="misspellings get the vector of the words that they may stand for; without, one from their spelling",
    )
    add("--precision", choices=("float32", "float16"), default="float32", help="of the vectors")
    add("--batch", type=int, default=16_384, metavar="ROWS", help="at a time (default: 16384)")
    add("--engine", choices=("auto", "numpy", "compiled"), default="auto", help="auto: compiled where it can be")
    add("--address", help="of a Ray cluster: host:port, ray://host:port, auto (default: one of our own)")
    add("--workers", type=int, metavar="N", help="processes, a core each (default: all cores)")
    add("--overwrite", action="store_true", help="replace a job with other input or options")
    add("--json", action="store_true", help="the summary as JSON, on standard output")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.bulk import embed_files

    with tidy_when_killed():
        summary = embed_files(
            options.inputs,
            options.output,
            column=options.column,
            model=options.model,
            texts=options.texts,
            near=options.near,
            precision=options.precision,
            batch=options.batch,
            engine=options.engine,
            distinct=options.distinct,
            address=options.address,
            workers=options.workers,
            overwrite=options.overwrite,
            progress=not options.quiet and sys.stderr is not None and sys.stderr.isatty(),
        )
    if options.json:
        put(json.dumps(summary.as_dict()) + "\n")
    else:
        say(options.quiet, [str(summary)])
