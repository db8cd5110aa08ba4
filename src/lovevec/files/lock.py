"""One process at a time in a folder: a lock that the system takes away when its process ends, however that is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from filelock import BaseFileLock

NAME = ".lock"
PATIENCE = 0.2  # seconds: its holder may be about to remove it


class Lock:
    """The file `.lock` inside a folder, held from `take` to `release`, or to the end of the process. Its text is the
    number of that process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.held: BaseFileLock | None = None

    def take(self) -> None:
        """Take the lock, or raise an error that names the process that has it. Locks of dead processes are free."""
        from filelock import FileLock, Timeout

        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path, timeout=PATIENCE)
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
