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


def complain(message: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"lovevec: {message}\n")
