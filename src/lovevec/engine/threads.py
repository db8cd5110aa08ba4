"""How many threads to compute with, and how they share the words of a call."""

from __future__ import annotations

import os
from collections.abc import Callable

MAX_THREADS = 32  # beyond that, memory is the limit


def usable_cores() -> int:
    """How many cores this process may use, at most MAX_THREADS."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(count, MAX_THREADS)


def engine_threads() -> int:
    """How many threads an engine takes: the usable cores, or fewer where OMP_NUM_THREADS says so. By that variable Ray,
    Spark and Dask tell each of the processes that share a machine how many cores are its own."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(usable_cores(), int(limit)) if limit.isdecimal() and int(limit) else usable_cores()


def in_chunks(run: Callable[[slice], None], count: int, chunk: int, threads: int) -> None:
    """Call `run` with the slices that cut `count` things into chunks, in up to `threads` threads. These live as long as
    this call: a lasting pool would not survive a fork, and starting one costs little beside a chunk."""
    parts = [slice(low, low + chunk) for low in range(0, count, chunk)]
    if min(threads, len(parts)) < 2:
        for part in parts:
            run(part)
        return
    from concurrent.futures import ThreadPoolExecutor  # only here: it imports logging, and loading a model shall not

    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        for _ in pool.map(run, parts):
            pass
