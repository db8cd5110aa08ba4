"""What every command shares: one-line errors, honest exit codes, quiet ends of pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from lovevec.errors import LovevecError


def run_command(command: Callable[[], int | None]) -> int:
    """Run a command: 0 when it went well, 2 with one line for bad input, 130 for Ctrl-C, 141 for a closed pipe."""
    try:
        return command() or 0
    except LovevecError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at exit
        return 141
    except OSError as error:  # a full disk, a folder that may not be written
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return 2


def complain(message: str) -> None:
    """One line on stderr."""
    line = f"lovevec: {message}\n"
    sys.stderr.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))
