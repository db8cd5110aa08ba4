"""Writes that are whole or not there at all: temporary file beside the goal, fsync, rename."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the place of `path` when the block ends well, and vanishes when not."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = str(path)  # what people asked for; a full disk names no file at all
        raise
    sync(path.parent)


def sync(path: str | Path) -> None:
    """Make what was written to a file, or renamed inside a folder, survive a power cut, where the system lets us."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)  # the call has a number only
        raise
    finally:
        os.close(handle)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` atomically as UTF-8; what UTF-8 cannot hold (odd bytes of a file name) is written as an escape."""
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` atomically as readable JSON."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
