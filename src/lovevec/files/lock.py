"""One process at a time in a folder: a lock that the system takes away when its process ends, however that is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from lovevec.errors import LovevecError

NAME = ".lock"


class Lock:
    """The file `.lock` inside a folder, held from `take` to `release`, or to the end of the process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.file: IO[str] | None = None

    def take(self) -> None:
        """Take it; an error names the process that has it. Locks of dead processes are free."""
        while self.file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = open(self.path, "a+", encoding="ascii", errors="replace")  # noqa: SIM115
            try:
                _take(file)
            except OSError:
                file.seek(0)
                holder = file.read().strip()
                file.close()
                raise LovevecError(
                    f"{self.path.parent}: another process{f' ({holder})' if holder else ''} is at work there; "
                    "wait until it has ended, or choose another folder"
                ) from None
            if self._is_ours(file):
                file.truncate(0)
                file.write(str(os.getpid()))
                file.flush()
                self.file = file
            else:  # its holder ended and removed it meanwhile
                file.close()

    def release(self) -> None:
        """Give it back; the file goes."""
        if self.file is not None:
            if self._is_ours(self.file) and os.name != "nt":
                self.path.unlink(missing_ok=True)
            self.file.close()
            self.file = None

    def _is_ours(self, file: IO[str]) -> bool:
        try:
            there, held = os.stat(self.path), os.fstat(file.fileno())
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def _take(file: IO[str]) -> None:
    """OSError where another has it."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
