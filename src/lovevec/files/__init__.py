"""Writes that are whole or not there at all: temporary file beside the goal, fsync, rename. One process at a time in a
folder: a lock that the system takes away when its process ends, however that is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK_FILE = ".lock"
LOCK_SECONDS = 0.2  # to wait for a lock: its holder may be about to remove it


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the place of `path` when the block ends well, and vanishes when not."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        raise LovevecError(f"{path}: is no file that could be replaced; write to another one")
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
    write_text(path, as_json(value))


def as_json(value: Any) -> str:
    """`value` as `write_json` writes it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


class Lock:
    """The file `.lock` inside a folder, held from `take` to `release`, or to the end of the process. Its text is the
    number of that process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK_FILE
        self.held: BaseFileLock | None = None

    def take(self) -> None:
        """Take the lock, or raise an error that names the process that has it. Locks of dead processes are free."""
        from filelock import FileLock, Timeout

        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path, timeout=LOCK_SECONDS)
        try:
            lock.acquire()
        except Timeout:
            holder = ""
            with suppress(OSError):  # gone by now, or Windows, which lets nobody read what is locked
                holder = self.path.read_text("ascii", "replace").strip()
            raise LovevecError(
                f"{self.path.parent}: another process{f' ({holder})' if holder else ''} is at work there; "
                "wait until it has ended, or choose another folder"
            ) from None
        with suppress(OSError):
            self.path.write_text(str(os.getpid()))
        self.held = lock

    def release(self) -> None:
        """Give the lock back and remove its file; nothing happens where it is not held."""
        if self.held is not None:
            if os.name != "nt":  # there filelock removes it
                self.path.unlink(missing_ok=True)
            self.held.release()
            self.held = None
