"""What every command shares: one-line errors, honest exit codes, quiet ends of pipes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from lovevec.errors import LovevecError


def run_command(command: Callable[[], int | None]) -> int:
    """Run a command: 0 when it went well, 2 with one line for bad input, 130 for Ctrl-C, 141 for a closed pipe."""
    try:
        return _to_the_end(command)
    except LovevecError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    except BrokenPipeError:
        drop_stdout()
        return 141
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
        line = f"lovevec: {message}\n"
        sys.stderr.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))
