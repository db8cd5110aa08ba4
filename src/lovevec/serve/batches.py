"""Micro-batches: requests that come while others are computed wait together and are then computed as one.

Nothing waits for company: an idle server computes a request at once, a busy one finds what has gathered meanwhile. One
batch is computed at a time, most in a thread of its own, so that the loop goes on to take requests. A large one is
computed in slices, between which others have their turn. How much may be asked and how much may wait is limited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from lovevec.errors import LovevecError

Compute = Callable[[list[Any]], Any]  # one result an item: a list, an array, what can be sliced and joined
MEGABYTE = 1 << 20
MAX_BATCH_COST = 4096  # words: what comes later waits for the next batch
SLICE_COST = 256  # words that are computed at a time; larger slices are not faster


@dataclass(frozen=True)
class Limits:
    """What a request may hold, and what may wait.

    body     bytes of a request
    inputs   strings of a request
    words    of all its texts together; 16 characters count as one at least
    length   characters of a word
    waiting  words that may wait to be computed; what comes then is told to come later
    room     bytes that requests and answers under way may take; what comes then is told to come later
    """

    body: int = 4 * MEGABYTE
    inputs: int = 2048
    words: int = 65_536
    length: int = 1024
    waiting: int = 131_072
    room: int = 256 * MEGABYTE

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise LovevecError(f"the limit of {name} is {value}: must be at least 1")


class Busy(Exception):
    """Raised for a request when as many words wait as may: the client should come again later."""


class _OpenBatch:
    """Items that wait to be computed together, and the task that will do so."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.cost = 0
        self.clients = 0  # that still wait
        self.task: asyncio.Task[Any] | None = None

    def slices(self) -> Iterator[list[Any]]:
        """The items, of about SLICE_COST words at a time."""
        size = max(1, len(self.items) * SLICE_COST // max(self.cost, 1))
        return (self.items[start : start + size] for start in range(0, len(self.items), size))


class Batcher:
    """Collects items by key; items of one key are computed by the same function. Items have a cost, in words: no more
    than `limit` wait, and a batch of up to `in_loop` is computed in the event loop's own thread, because changing
    threads would take longer."""

    def __init__(self, limit: int, in_loop: int = 0) -> None:
        self.limit, self.waiting = limit, 0
        self.in_loop = in_loop
        self._open: dict[Hashable, _OpenBatch] = {}
        self._turn = asyncio.Lock()  # who has waited longest is next: so batches of several slices take turns
        self._thread = ThreadPoolExecutor(1, "compute")

    async def __call__(self, key: Hashable, compute: Compute, items: Sequence[Any], cost: int = 0) -> Any:
        """What `compute` makes of the items, one result each. `cost` is that of all items together (default: one
        each)."""
        cost = cost or len(items)
        if self.waiting and self.waiting + cost > self.limit:
            raise Busy
        batch = self._open.get(key)
        if batch is None or batch.cost + cost > MAX_BATCH_COST:
            batch = self._open[key] = _OpenBatch()
            batch.task = asyncio.create_task(self._run(key, compute, batch))
        start = len(batch.items)
        batch.items += items
        batch.cost += cost
        batch.clients += 1
        self.waiting += cost
        assert batch.task is not None
        try:
            # Shielded: one client that hangs up does not end what others wait for.
            results = await asyncio.shield(batch.task)
        finally:
            batch.clients -= 1
            self.waiting -= cost
        return results[start : start + len(items)]

    async def _run(self, key: Hashable, compute: Compute, batch: _OpenBatch) -> Any:
        async with self._turn:
            if self._open.get(key) is batch:
                del self._open[key]
            if batch.cost <= self.in_loop:
                return compute(batch.items)
            first, *others = batch.slices()
            results = [await self._in_thread(compute, first)]
        for items in others:
            async with self._turn:
                if not batch.clients:
                    return []  # all have hung up
                results.append(await self._in_thread(compute, items))
        return _joined(results)

    async def _in_thread(self, compute: Compute, items: list[Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, compute, items)

    def close(self) -> None:
        """Wait until what is being computed is done, and end the thread."""
        self._thread.shutdown()


def _joined(results: list[Any]) -> Any:
    """The results of slices as one."""
    first = results[0]
    if len(results) == 1:
        return first
    if isinstance(first, np.ndarray):
        return np.concatenate(results)
    return list(chain.from_iterable(results)) if isinstance(first, list) else type(first).joined(results)
