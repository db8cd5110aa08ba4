"""What commands share: one-line errors, honest exit codes, quiet pipes; where words come from, where vectors go."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from lovevec.errors import FUNCTIONS, LovevecError, MissingExtra
from lovevec.progress import Progress

PATIENCE = 1.0  # seconds before progress is shown: what is done sooner needs none
MANY = 100_000  # words for which numpy takes about as long as numba and its import
FULL_PIPE = 4_000  # words that a full pipe of 64 KB holds at least
# What makes a terminal do things, or turns text round: control characters, line separators, marks of direction; half
# surrogates, which UTF-8 cannot hold, and bytes (as surrogateescape has them) that would be one of the former in UTF-8.
UNSAFE = re.compile(
    "[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udc7f\udd00-\udfff]"
    "|\udcc2[\udc80-\udc9f]|\udce2\udc80[\udca8-\udcae]|\udce2\udc81[\udca6-\udca9]"
)
MODEL_HELP = "a model folder, a shipped model's name, or a hub id (default: the shipped model)"


def as_path(name: str | None) -> Path | None:
    """A file, or None for `-` and nothing: the standard stream."""
    return None if name is None or name == "-" else Path(name)


def one_engine(count: int | None, first: int = 0) -> Literal["numpy", "numba"]:
    """The engine for a whole run, so that a word has the same bits in every batch: numba for many words.

    Of words that are not counted, the size of the first batch tells whether many are coming.
    """
    from lovevec.engine.engine import numba_is_there

    many = first >= FULL_PIPE if count is None else count >= MANY
    return "numba" if many and numba_is_there() else "numpy"


def outputs_of(output: Path | None, kind: str) -> list[Path | None]:
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
    read = [_identity(source) for source in inputs]
    for output in outputs:
        if (same := _identity(1 if output is None else output)) and same in read:
            raise LovevecError(f"{output or 'standard output'}: is the input too; write to another file")


def _identity(file: int | Path) -> tuple[int, int] | None:
    """What tells a plain file from all others; None for one that is not there or not plain."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


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
    progress = Progress(quiet or (output is None and os.isatty(1)), delay=PATIENCE)
    with progress, progress.phase(name, total, unit) as phase:
        yield phase.advance


def say(quiet: bool, notes: Sequence[str]) -> None:
    """Notes to stderr, a line each."""
    for note in () if quiet else notes:
        complain(note)


def put(text: str) -> None:
    """Text to standard output, at once, since a program may wait for the answer. What words and models hold is harmless
    to a terminal."""
    out = sys.stdout
    if out is None:
        raise LovevecError("standard output: is closed")
    try:
        out.write(harmless(text, but="\t\n"))
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_stdout()
        raise LovevecError(f"standard output: cannot be written: {error.strerror or error}") from None


def harmless(text: str, but: str = "") -> str:
    """A text with what is unsafe in it spelled out, as `\\x1b`; characters of `but` stay."""

    def spelled(found: re.Match[str]) -> str:
        return found[0] if found[0] in but else found[0].encode("unicode_escape").decode("ascii")

    return text if text.isascii() and text.isprintable() else UNSAFE.sub(spelled, text)


def one_field(word: str) -> str:
    """A word as a field of a tab-separated line: a tab or line end inside it, and what a terminal might act on, is
    spelled out."""
    return harmless(word)


def shown(words: Sequence[str], output: Path | None) -> Sequence[str]:
    """Words as they go out: into files and pipes as they are, onto a terminal without what makes it act."""
    return [harmless(word) for word in words] if output is None and os.isatty(1) else words


def speak_utf8() -> None:
    """Standard output in UTF-8 as all that we write, whatever the system's settings are; words that came as other bytes
    go out as they came in."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def typed(word: str) -> str:
    """A word of the command line: UTF-8 also where the system's settings know only ASCII."""
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate, which Windows lets through
        return word


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
        return _to_the_end(command)
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


def _to_the_end(command: Callable[[], int | None]) -> int:
    """What is written last, the help that argparse prints before it exits, must get out too, or fail here."""
    try:
        return command() or 0
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def drop_stdout() -> None:
    """Let what could not be written go, or the interpreter would try again at exit and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe(parser: argparse.ArgumentParser, about: str, more: str) -> None:
    """What --help says before and behind the options, line for line as it is written."""
    parser.description, parser.epilog = about, more
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def complain(message: str) -> None:
    """One line on stderr, if there is one."""
    if sys.stderr is not None:
        line = "lovevec: " + harmless(message, but="\n") + "\n"
        sys.stderr.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))
