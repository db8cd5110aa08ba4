"""`lovevec correct`: texts in, the same texts without their misspellings out."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from lovevec.cli.terminal import harmless, say
from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec.texts.correct import Correction, Edit
    from lovevec.texts.rewrite import RowFile

ABOUT = """Texts with their misspellings put right, a line a text; or a table with one column corrected, and all else as
it was. The spelling and the sentence decide together. Capitals, blanks and marks stay; numbers, codes and words that
are probably names or new are left alone. Any size in constant memory."""
MORE = """\
The table is written whole and in its own format; its other columns, its rows, quotes and line ends stay as they were.

A correction is made where its probability is at least --threshold: 0.9 makes fewer and surer ones. Words in the file
--keep stay as they are: names, brands, terms. `lovevec with-words` makes a model that knows such words, and what is
misspelled from them is corrected too.

To look at corrections instead of making them: --suggest leaves the column as it is and adds one behind all others,
NAME_suggestions, with a JSON list for each text; --json prints {"text": ..., "edits": [...]} for each plain text. An
edit has start and end (in characters), before, after, probability, reading (near: misspelled; parts: words run
together; known: a word, where another was meant) and suggestions, with probabilities.

examples:
  lovevec correct "Ths is a tset"
  lovevec correct --json "a wonderfull fi1m"
  lovevec correct -i letter.txt -o corrected.txt --keep names.txt
  lovevec correct -i notes.csv --column note -o corrected.csv
  lovevec correct -i notes.csv --column note --suggest --threshold 0.2 -o review.csv
  zcat posts.txt.gz | lovevec correct | gzip > corrected.txt.gz"""
PLACES = 4  # of a probability in a file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, TEXTS_MORE + MORE)
    add_texts(parser, "corrected texts")
    add = parser.add_argument
    add("--suggest", action="store_true", help="a table as it was, with its corrections in a new column")
    add("--json", action="store_true", help="a JSON object for each plain text: text and edits")
    add("--threshold", type=float, metavar="P", help="least probability of a correction (default 0.5)")
    add("--keep", metavar="FILE", help="words that stay as they are, one a line")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.files.lines import read_word_list
    from lovevec.love import LOVE
    from lovevec.texts.read import kind_of
    from lovevec.vectors.write.writer import open_sink

    refuse_contradictions(options)
    source, output = as_path(options.input), as_path(options.output)
    kind = kind_of(source, options.column)
    refuse_other_format(output, "jsonl" if options.json else kind)
    refuse_unwritable(output, kind)
    limits: dict[str, Any] = {} if options.threshold is None else {"threshold": options.threshold}
    if options.keep is not None:
        limits["keep"] = read_word_list(Path(options.keep))
    with open_input(options, source) as rows:
        if not options.texts:
            refuse_same_file([0 if source is None else source], [output])
        love = LOVE.load(options.model)
        love.correct([], **limits)  # limits that make no sense are refused before anything is written
        texts = words = 0
        with (
            tidy_when_killed(),
            open_sink(output) as sink,
            rows.writer(sink.file, for_terminal if sink.file.isatty() else str) as write,
            late_progress(options.quiet, rows.total, output, "correcting", "texts") as advance,
        ):
            for page in rows.pages():
                corrections = love.correct(page.texts, **limits)
                write(page, values_of(corrections, options))
                sink.pass_on()
                texts += len(corrections)
                words += sum(len(correction.edits) for correction in corrections)
                advance(len(corrections))
    say(options.quiet, [f"texts: {texts:,}; words {'to correct' if options.suggest else 'corrected'}: {words:,}"])


def refuse_contradictions(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    refuse_unclear_texts(options)
    if options.suggest and options.column is None:
        raise LovevecError("--suggest adds a column to a table: name that of its texts with --column; or use --json")
    if options.json and options.column is not None:
        raise LovevecError("--json is for plain texts: --suggest adds the corrections to a table")


def refuse_other_format(output: Path | None, kind: str) -> None:
    """Refuse a name that promises another format than that which will be written."""
    from lovevec.texts.read import TABLE_SUFFIXES, kind_of

    if output is not None and output.suffix.lower() in TABLE_SUFFIXES and kind_of(output, "") != kind:
        raise LovevecError(f"{output}: the output is {kind}, as the input is: choose another name")


@contextmanager
def open_input(options: argparse.Namespace, source: Path | None) -> Iterator[RowFile]:
    """The texts of the command line, of a stream, or of a table."""
    from lovevec.texts.read import open_texts
    from lovevec.texts.rewrite import Texts, open_rows

    if options.texts:
        yield Texts([options.texts], len(options.texts))
    elif options.json:
        with open_texts(source, None) as stream:
            yield Texts(stream.batches, stream.total)
    else:
        with open_rows(source, options.column, f"{options.column}_suggestions" if options.suggest else None) as rows:
            yield rows


def values_of(corrections: Sequence[Correction], options: argparse.Namespace) -> list[str]:
    """What is written for each text."""
    if not options.suggest and not options.json:
        return [correction.text for correction in corrections]
    from lovevec.explain import edit_facts

    lists = [[edit_facts(rounded(edit)) for edit in correction.edits] for correction in corrections]
    if options.suggest:
        return [as_json(edits) for edits in lists]
    texts = [correction.text for correction in corrections]
    return [as_json({"text": text, "edits": edits}) for text, edits in zip(texts, lists, strict=True)]


def rounded(edit: Edit) -> Edit:
    """A correction with probabilities that are short to read."""
    suggestions = tuple((word, round(probability, PLACES)) for word, probability in edit.suggestions)
    return edit._replace(probability=round(edit.probability, PLACES), suggestions=suggestions)


def as_json(value: object) -> str:
    """JSON in UTF-8, bytes that are not as escapes."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def for_terminal(text: str) -> str:
    """A text without what makes a terminal act."""
    return harmless(text.replace("\r\n", "\n"), but="\t\n")
