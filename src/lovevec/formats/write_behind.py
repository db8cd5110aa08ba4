"""Writes one batch while the next is computed: a copy of gigabytes into the page cache need not be waited for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lovevec.formats.write import Writer

AHEAD = 2  # batches that wait to be written


class WriteBehind:
    """Hands batches to a thread, in order; what goes wrong there is raised here, with the next batch or at the end."""

    def __init__(self, writer: Writer, thread: ThreadPoolExecutor) -> None:
        self.writer, self.thread = writer, thread
        self.waiting: deque[Future[None]] = deque()

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Take one batch; waits while too many are not written yet."""
        self.settle(AHEAD - 1)
        self.waiting.append(self.thread.submit(self.writer.add, words, rows, known))

    def settle(self, most: int = 0) -> None:
        """Wait until at most so many batches are not written."""
        while len(self.waiting) > most:
            self.waiting.popleft().result()

    def notes(self) -> list[str]:
        """Those of the writer."""
        return self.writer.notes()


@contextmanager
def write_behind(writer: Writer) -> Iterator[Writer]:
    """The same writer with a thread of its own. For plain files: a full pipe would keep the thread, and so Ctrl-C."""
    with ThreadPoolExecutor(1) as thread:
        behind = WriteBehind(writer, thread)
        try:
            yield behind
            behind.settle()
        finally:
            thread.shutdown(cancel_futures=True)
