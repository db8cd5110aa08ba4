"""Locks that a fork does not leave held: a child has no thread that could ever release one that another held.

    lock = ForkLock()
    with lock:
        ...

Pools of processes fork whenever they like, also while other threads compute. What a lock guards must be whole at any
moment: something is made first, and put in its place by one assignment, so that a child finds it or makes it again.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property
from threading import RLock
from types import ModuleType
from typing import Any
from weakref import WeakSet

_LOCKS: WeakSet[ForkLock] = WeakSet()


class ForkLock:
    """A lock that one thread may take several times, and that is free in a forked child. Copies and pickles are locks
    of their own."""

    def __init__(self) -> None:
        self._lock = RLock()
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *failure: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return ForkLock, ()

    def renew(self) -> None:
        """Forget who held it."""
        self._lock = RLock()


def _renew_all() -> None:
    """In a forked child, which has one thread: free every lock of ours."""
    for lock in list(_LOCKS):
        lock.renew()
    if sys.version_info < (3, 12):  # up to there each cached_property has a lock for all objects of its class
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == __package__ and isinstance(module, ModuleType):
                _renew_cached_properties(module)


def _renew_cached_properties(module: ModuleType) -> None:
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            for member in vars(value).values():
                if isinstance(member, cached_property) and hasattr(member, "lock"):
                    member.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
