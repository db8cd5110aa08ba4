"""What commands share: one-line errors, honest exit codes, checks of inputs and outputs before the work begins."""

from __future__ import annotations

import argparse
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lovevec.cli.terminal import complain, drop_stdout, speak_utf8
from lovevec.errors import FUNCTIONS, LovevecError, MissingExtra
from lovevec.progress import Progress

SECONDS_BEFORE_PROGRESS = 1.0  # what is done sooner needs none
MODEL_HELP = "a model folder, a shipped or installed model's name, or a hub id (default: the shipped one, English)"

TEXTS_MORE = """texts: from the command line, a file or standard input, one a line; or a column of a table
  .csv .tsv       --column NAME, as in the first line
  .jsonl .ndjson  --column NAME, in each line's object
  .parquet        --column NAME (needs lovevec[parquet])
"""


def as_path(name: str | None) -> Path | None:
    """A file, or None for `-` and nothing: the standard stream."""
    return None if name is None or name == "-" else Path(name)


def output_files(output: Path | None, kind: str) -> list[Path | None]:
    """The files that will be written."""
    if kind != "npy" or output is None:
        return [output]
    from lovevec.vectors.write.numpy import words_beside

    return [output, words_beside(output)]


def refuse_terminal(what: str) -> None:
    """Nobody types a list of words: an empty command line is a mistake, not a wait for input."""
    if sys.stdin is not None and sys.stdin.isatty():
        raise LovevecError(f"no words: name {what}, or a file with -i, or send them to standard input")


def refuse_unwritable(output: Path | None, kind: str) -> None:
    """Say at once what would go wrong only when all the work is done: no such folder, no package for the format."""
    if output is not None and not output.exists() and not output.parent.is_dir():
        raise LovevecError(f"{output}: cannot be written: there is no folder {output.parent}")
    if kind == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", "parquet")


def refuse_same_file(inputs: Iterable[int | Path], outputs: Iterable[Path | None]) -> None:
    """Refuse to write where we read from. Inputs are paths or open files, None is standard output."""
    sources = [_identity(source) for source in inputs]
    for output in outputs:
        if (same := _identity(1 if output is None else output)) and same in sources:
            raise LovevecError(f"{output or 'standard output'}: is the input too; write to another file")


def _identity(file: int | Path) -> tuple[int, int] | None:
    """What tells a plain file from all others; None for one that is not there or not plain."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def tidy_when_killed() -> Iterator[None]:
    """`kill` ends the program as Ctrl-C does, with what is half-written taken away; exit code 143."""
    if threading.current_thread() is not threading.main_thread():  # elsewhere Python lets nobody set handlers
        yield
        return
    usual = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


@contextmanager
def late_progress(
    quiet: bool, total: int | None, output: Path | None, name: str = "embedding", unit: str = "words"
) -> Iterator[Callable[[int], None]]:
    """A progress line for work that takes more than a second; gives the function that counts words.

    Vectors that scroll over a terminal are progress enough.
    """
    progress = Progress(quiet or (output is None and os.isatty(1)), delay=SECONDS_BEFORE_PROGRESS)
    with progress, progress.phase(name, total, unit) as phase:
        yield phase.advance


def as_flag(name: str, value: str) -> str:
    """A parameter as it is typed: `--limit`, `--limit 5`, `--overwrite`, `--no-near`, `-k`."""
    if name in FUNCTIONS:
        return f"lovevec train --{name} {value}"
    dashed = name.replace("_", "-")
    if value == "False":
        return f"--no-{dashed}"
    return ("-" if len(name) == 1 else "--") + dashed + (f" {value}" if value not in ("", "True") else "")


def run_command(command: Callable[[], int | None]) -> int:
    """Run a command: 0 when it went well, 2 with one line for bad input, 130 for Ctrl-C, 141 for a closed pipe."""
    try:
        speak_utf8()
        try:
            return command() or 0
        finally:  # what is written last, the help that argparse prints before it exits, must get out too, or fail here
            if sys.stdout is not None:
                sys.stdout.flush()
    except LovevecError as error:
        complain(error.spelled(as_flag))
        return 2
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    except BrokenPipeError:
        drop_stdout()
        return 141
    except MemoryError as error:
        complain(f"not enough memory ({error or 'none is left'}); give it less at a time")
        drop_stdout()
        return 2
    except OSError as error:  # a full disk, a folder that may not be written
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        drop_stdout()
        return 2


def take_options_anywhere(parser: argparse.ArgumentParser) -> None:
    """Let options stand between the first positional argument and the others: `search shop -k 3 kettle`. Before Python
    3.12.7 argparse takes the list of the others for empty there."""

    def parse(arguments: Any = None, namespace: Any = None) -> Any:
        del parser.parse_known_args  # what follows calls that of the class
        try:
            return parser.parse_known_intermixed_args(arguments, namespace)
        finally:
            parser.parse_known_args = parse  # type: ignore[assignment, method-assign]

    parser.parse_known_args = parse  # type: ignore[assignment, method-assign]


def describe(parser: argparse.ArgumentParser, about: str, more: str) -> None:
    """What --help says before and behind the options, line for line as it is written."""
    parser.description, parser.epilog = about, more
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def add_texts(parser: argparse.ArgumentParser, results: str) -> None:
    """The options of a command that reads texts (TEXTS_MORE says which) and writes `results`."""
    add = parser.add_argument
    parser.usage = "%(prog)s [options] [text ...]"
    add("texts", nargs="*", metavar="text", help="any texts; without them: -i, or standard input")
    add("-m", "--model", help=MODEL_HELP)
    add("-i", "--input", metavar="FILE", help="texts (- for standard input)")
    add("--column", metavar="NAME", help="where the texts of a table stand")
    add("-o", "--output", metavar="FILE", help=f"where the {results} go (default: standard output)")


def refuse_unclear_texts(options: argparse.Namespace) -> None:
    """Refuse texts from two places, and from none."""
    if options.texts and (options.input or options.column):
        raise LovevecError("texts on the command line and -i or --column: name one of the two")
    if not options.texts and options.input is None:
        refuse_terminal("some texts")
