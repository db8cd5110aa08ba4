"""Text that comes in from a terminal or a pipe and goes out to one: UTF-8, and nothing that makes a terminal act."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from lovevec.errors import LovevecError

# What makes a terminal do things, or turns text round: control characters, line separators, marks of direction; half
# surrogates, which UTF-8 cannot hold, and bytes (as surrogateescape has them) that would be one of the former in UTF-8.
UNSAFE = re.compile(
    "[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udc7f\udd00-\udfff]"
    "|\udcc2[\udc80-\udc9f]|\udce2\udc80[\udca8-\udcae]|\udce2\udc81[\udca6-\udca9]"
)


def complain(message: str) -> None:
    """One line on stderr, if there is one."""
    if sys.stderr is not None:
        line = "lovevec: " + harmless(message, but="\n") + "\n"
        sys.stderr.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))


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
    """A text with what is unsafe in it spelled out, as `\\x1b`; characters of `but` stay. So a word also fits into a
    field of a tab-separated line."""

    def escape(match: re.Match[str]) -> str:
        return match[0] if match[0] in but else match[0].encode("unicode_escape").decode("ascii")

    return text if text.isascii() and text.isprintable() else UNSAFE.sub(escape, text)


def for_display(words: Sequence[str], output: Path | None) -> Sequence[str]:
    """Words as they go out: into files and pipes as they are, onto a terminal without what makes it act."""
    return [harmless(word) for word in words] if output is None and os.isatty(1) else words


def speak_utf8() -> None:
    """Standard output in UTF-8 as all that we write, whatever the system's settings are; words that came as other bytes
    go out as they came in."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def decode_argument(word: str) -> str:
    """A word of the command line: UTF-8 also where the system's settings know only ASCII."""
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate, which Windows lets through
        return word


def drop_stdout() -> None:
    """Let what could not be written go, or the interpreter would try again at exit and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
