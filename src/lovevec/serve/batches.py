"""Micro-batches: requests that come while others are computed wait together and are then computed as one.

Nothing waits for company: an idle server computes a request at once, a busy one finds what has gathered meanwhile. One
batch is computed at a time, most in a thread of its own, so that the loop goes on to take requests. How much may be
asked and how much may wait is limited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lovevec.errors import LovevecError

Compute = Callable[[list[Any]], Any]  # one result an item: a list, an array, what can be sliced
MEGABYTE = 1 << 20
MOST_COST = 4096  # of one batch: what comes later waits for the next


@dataclass(frozen=True)
class Limits:
    """What a request may hold, and what may wait.

    body     bytes of a request
    inputs   strings of a request
    words    of all its texts together
    length   characters of a word
    waiting  words that may wait to be computed; what comes then is told to come later
    """

    body: int = 4 * MEGABYTE
    inputs: int = 2048
    words: int = 65_536
    length: int = 1024
    waiting: int = 131_072

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise LovevecError(f"the limit of {name} is {value}: must be at least 1")


class Busy(Exception):
    """More is waiting than may wait."""


class Batch:
    """Items that are computed together."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.cost = 0
        self.task: asyncio.Task[Any] | None = None


class Batcher:
    """Collects items by key; items of one key are computed by the same function. Items have a cost, in words: no more
    than `limit` wait, and up to `at_once` are computed in the loop's own thread: to change threads takes longer."""

    def __init__(self, limit: int, at_once: int = 0) -> None:
        self.limit, self.waiting = limit, 0
        self.at_once = at_once
        self._open: dict[Hashable, Batch] = {}
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "compute")

    async def __call__(self, key: Hashable, compute: Compute, items: Sequence[Any], cost: int = 0) -> Any:
        """What `compute` makes of the items, one result each; `cost` is that of all of them, their number without."""
        cost = cost or len(items)
        if self.waiting and self.waiting + cost > self.limit:
            raise Busy
        batch = self._open.get(key)
        if batch is None or batch.cost + cost > MOST_COST:
            batch = self._open[key] = Batch()
            batch.task = asyncio.create_task(self._run(key, compute, batch))
        start = len(batch.items)
        batch.items += items
        batch.cost += cost
        self.waiting += cost
        assert batch.task is not None
        try:
            # Shielded: one client that hangs up does not end what others wait for.
            results = await asyncio.shield(batch.task)
        finally:
            self.waiting -= cost
        return results[start : start + len(items)]

    async def _run(self, key: Hashable, compute: Compute, batch: Batch) -> Any:
        async with self._turn:
            if self._open.get(key) is batch:
                del self._open[key]
            if batch.cost <= self.at_once:
                return compute(batch.items)
            return await asyncio.get_running_loop().run_in_executor(self._thread, compute, batch.items)

    def close(self) -> None:
        """Let what runs end."""
        self._thread.shutdown()
