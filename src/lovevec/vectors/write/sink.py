"""Where vectors are written: a file that appears whole or not at all, standard output, or a device."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lovevec.errors import LovevecError
from lovevec.files import atomic_write

STDOUT = "standard output"


@dataclass(frozen=True)
class Sink:
    """An open binary file; `patchable` when what was written can be changed later, as the count in a header."""

    file: IO[bytes]
    name: str
    path: Path | None
    patchable: bool
    start: int = 0

    def patch(self, content: bytes) -> None:
        """Write `content` over the first bytes."""
        self.file.seek(self.start)
        self.file.write(content)
        self.file.seek(0, os.SEEK_END)

    def pass_on(self) -> None:
        """Give what was written to whoever reads at the other end; a file can wait."""
        if not self.patchable:
            self.file.flush()


@contextmanager
def open_sink(path: Path | None) -> Iterator[Sink]:
    """Open `path` (None: standard output) for writing; what goes wrong names it.

    A device or a named pipe is written to as it is: a rename would put a plain file in its place.
    """
    name = STDOUT if path is None else str(path)
    try:
        if path is None:
            if sys.stdout is not None:
                sys.stdout.flush()
            with open(1, "wb", closefd=False) as file:
                yield _sink_of_stdout(file, name)
        elif path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield Sink(file, name, None, False)
        else:
            real = Path(os.path.realpath(path))  # through a link, which stays a link
            with atomic_write(real) as whole:
                yield Sink(whole, name, path, True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LovevecError(f"{name}: cannot be written: {error.strerror or error}") from None


def _sink_of_stdout(file: IO[bytes], name: str) -> Sink:
    """Standard output sent to a plain file can be patched, unless it is opened to append."""
    handle = file.fileno()
    if not stat.S_ISREG(os.fstat(handle).st_mode) or _appends(handle):
        return Sink(file, name, None, False)
    return Sink(file, name, None, True, file.tell())


def _appends(handle: int) -> bool:
    if os.name == "nt":
        return True  # cannot be told, so it is not patched
    import fcntl

    return bool(fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_APPEND)
