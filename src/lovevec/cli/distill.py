"""`lovevec distill`: one vector a word out of a transformer that gives it another one in every sentence."""

from __future__ import annotations

import argparse
from pathlib import Path

from lovevec.cli.shell import as_flag, describe
from lovevec.errors import LovevecError
from lovevec.progress import Progress

ABOUT = """Static word vectors out of a BERT-like model: what it makes of a word in many sentences, pooled to one.
The result is a vector file that `lovevec train` learns from."""
MORE = """In one sentence a word's vector is the mean of the states of its pieces (mis ##pel ##led); over sentences it
is the mean, or in each dimension the largest value. Words are what the tokenizer takes as one word; those of an uncased
model are lower-cased. Without --words they come from the corpus, which is then read twice.

The corpus is UTF-8 text of any size, plain or packed (gzip, xz, zip), one sentence or paragraph a line. Lines longer
than the model can take are cut between words. Once every word has its --most occurrences, the rest is not read.

The output's format is that of its name: .npz (which also keeps where the vectors came from), .vec, .npy, .parquet,
.jsonl. Meanwhile what is done stands in OUTPUT.parts: after Ctrl-C, a crash or kill -9 the same command goes on there.
(Not so when the text comes from standard input.)

examples:
  lovevec distill bert-base-uncased --corpus text.txt -o distilled.npz
  lovevec distill bert-base-cased --corpus part-*.txt.gz --words words.txt --fill-missing -o distilled.npz
  lovevec distill roberta-base --corpus text.txt --pooling max --layer 1 --most 50 --precision bfloat16 -o max.npz
  zcat text.gz | lovevec distill my-model --corpus - --words words.txt -o distilled.npz
  lovevec distill all-mpnet-base-v2 --single --specials --words words.txt -o single.npz
  lovevec train distilled.npz -o my-love"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    add = parser.add_argument
    parser.usage = (
        "%(prog)s MODEL --corpus FILE … -o FILE [options]\n       %(prog)s MODEL --single --words FILE -o FILE"
    )
    add("model", metavar="transformer", help="a transformers model: its folder, or its id on the Hugging Face hub")
    add("--corpus", nargs="+", default=[], metavar="FILE", help="text to read (- for standard input)")
    add("-o", "--output", metavar="FILE", required=True, help="where the vectors go")
    add("--overwrite", action="store_true", help="replace the output and what is left of a stopped run")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")
    add = parser.add_argument_group("the words").add_argument
    add("--words", metavar="FILE", help="the words to have, one a line (default: those of the corpus)")
    add("--min-count", type=int, metavar="N", help="of the corpus's words take those that occur so often (default 5)")
    add("--limit", type=int, metavar="N", help="only the first so many words: of the list, or by frequency")
    add(
        "--fill-missing", action="store_true", default=None, help="words that never occur: take them alone, as --single"
    )
    add = parser.add_argument_group("the vectors").add_argument
    add("--pooling", choices=("mean", "max"), help="over a word's occurrences (default mean)")
    add("--most", type=int, metavar="N", help="of each word take the first so many occurrences, 0 all (default 100)")
    add("--layer", type=int, metavar="N", help="whose states: 0 the first layer's input, -1 the last (default -1)")
    add("--single", action="store_true", default=None, help="each word alone, without context and without a corpus")
    add(
        "--specials",
        action="store_true",
        default=None,
        help="with --single: the mean over all positions, [CLS] and [SEP] too, as sentence encoders pool",
    )
    add = parser.add_argument_group("the work").add_argument
    add("--length", type=int, metavar="N", help="pieces of a text that are seen together (default: the model's limit)")
    add("--batch", type=int, metavar="N", help="pieces that are computed at a time (default 8192)")
    add("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1 … (default auto)")
    add("--precision", choices=("float32", "bfloat16", "float16"), help="of the model's arithmetic (default float32)")
    add("--checkpoint-minutes", type=float, metavar="X", help="keep so often what going on needs (default 2)")


def run(options: argparse.Namespace) -> None:
    from dataclasses import fields

    from lovevec.cli.shell import as_path, refuse_same_file
    from lovevec.transformer.distill import DistillSettings, distill

    if options.words is not None and options.min_count is not None:
        raise LovevecError("--words and --min-count: name one of the two")
    chosen = {field.name: getattr(options, field.name) for field in fields(DistillSettings)}
    settings = DistillSettings(**{name: value for name, value in chosen.items() if value is not None})
    output = Path(options.output)
    inputs = [as_path(name) or 0 for name in options.corpus] + ([Path(options.words)] if options.words else [])
    refuse_same_file(inputs, [output])
    with Progress(options.quiet, spelling=as_flag) as progress:
        try:
            words = None if options.words is None else read_words(Path(options.words), progress)
            distill(
                options.model,
                options.corpus,
                words=words,
                settings=settings,
                output=output,
                overwrite=options.overwrite,
                progress=progress,
            )
        except KeyboardInterrupt:
            if Path(f"{output}.parts").is_dir():
                progress.say("the same command goes on from what was kept last")
            raise


def read_words(path: Path, progress: Progress) -> list[str]:
    """The words of a list, one a line, without the white space around them; what is not UTF-8 is told."""
    from lovevec.vectors.read.source import open_raw
    from lovevec.vectors.read.words import split_words

    with open_raw(path) as file:
        listed = split_words(file.read())
    words = [word.strip() for word in listed if word is not None]
    if len(words) < len(listed):
        progress.say(f"{path}: {len(listed) - len(words):,} words that are not UTF-8: left out")
    return words
