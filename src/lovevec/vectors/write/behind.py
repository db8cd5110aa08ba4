"""Writes one batch while the next is computed: neither the copy of gigabytes nor the disk need be waited for."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lovevec.vectors.write.writer import Writer

AHEAD = 2  # batches that wait to be written
SYNC = 1 << 26  # bytes after which the disk is made to take them, so that the end has little left to wait for


class WriteBehind:
    """Hands batches to a thread, in order; what goes wrong there is raised here, with the next batch or at the end."""

    def __init__(self, writer: Writer, file: IO[bytes], thread: ThreadPoolExecutor) -> None:
        self.writer, self.file, self.thread = writer, file, thread
        self.waiting: deque[Future[None]] = deque()
        self.synced = 0

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Take one batch; waits while too many are not written yet."""
        self.settle(AHEAD - 1)
        self.waiting.append(self.thread.submit(self._write, words, rows, known))

    def _write(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        self.writer.add(words, rows, known)
        if self.file.tell() - self.synced >= SYNC:
            self.file.flush()
            os.fsync(self.file.fileno())
            if hasattr(os, "posix_fadvise"):  # the system need not keep what nobody will read now
                os.posix_fadvise(self.file.fileno(), self.synced, 0, os.POSIX_FADV_DONTNEED)
            self.synced = self.file.tell()

    def settle(self, most: int = 0) -> None:
        """Wait until at most so many batches are not written."""
        while len(self.waiting) > most:
            self.waiting.popleft().result()

    def notes(self) -> list[str]:
        """Those of the writer."""
        return self.writer.notes()


@contextmanager
def write_behind(writer: Writer, file: IO[bytes]) -> Iterator[Writer]:
    """The same writer with a thread of its own. For plain files: a full pipe would keep the thread, and so Ctrl-C."""
    with ThreadPoolExecutor(1) as thread:
        behind = WriteBehind(writer, file, thread)
        try:
            yield behind
            behind.settle()
        finally:
            thread.shutdown(cancel_futures=True)
