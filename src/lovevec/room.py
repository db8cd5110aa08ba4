"""How much memory there is, so that work that cannot be done is refused before it begins, in one line."""

from __future__ import annotations

import os
from pathlib import Path

from lovevec.errors import LovevecError

CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """The bytes that this process may still take: what the machine has left, its container, and its own limit allow.
    None where the system does not say."""
    known = [free for free in (_of_the_machine(), _of_the_container(), _of_the_process()) if free is not None]
    return max(min(known), 0) if known else None


def refuse_more_than_there_is(needed: int, what: str, advice: str) -> None:
    """Raise an error where `what` needs more memory than there is."""
    free = free_memory()
    if free is not None and needed > free:
        sizes = f"{needed / 2**30:.1f} GB of memory, and {free / 2**30:.1f} GB are free"
        raise LovevecError(f"not enough memory for this run: {what} needs about {sizes}; {advice}")


def _of_the_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _of_the_container() -> int | None:
    try:
        most, now = ((CGROUP / f"memory.{name}").read_text("ascii").strip() for name in ("max", "current"))
        return None if most == "max" else int(most) - int(now)
    except (OSError, ValueError):
        return None


def _of_the_process() -> int | None:
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return None if most == resource.RLIM_INFINITY else most - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
