"""What all writers share: the shape of a table, the `Writer` that takes its rows, and one that writes in a thread."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.vectors.write.sink import Sink

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Precision = Literal["float32", "float16"]
TYPES: dict[Precision, np.dtype[np.float32] | np.dtype[np.float16]] = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
}
AHEAD = 2  # batches that wait to be written
SYNC = 1 << 26  # bytes after which the disk is made to take them, so that the end has little left to wait for


@dataclass(frozen=True)
class Shape:
    """What is known of the table before its rows come: `count` is None when the rows were not counted; `item` is what
    a row is the vector of."""

    dim: int
    count: int | None = None
    precision: Precision = "float32"
    exact: bool = False
    item: str = "word"


class Writer(Protocol):
    """Takes rows, batch after batch."""

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch; `known` is looked at by jsonl alone."""

    def notes(self) -> list[str]:
        """What the user should know once all is written."""


def check_count(sink: Sink, promised: int | None, rows: int) -> None:
    """Say so when the rows are not as many as the header, which is out already, promises."""
    if promised is not None and promised != rows:
        raise LovevecError(f"{sink.name}: {rows:,} words came, {promised:,} were counted before: did the input change?")


def join_words(words: Sequence[str], kind: str) -> bytes:
    """Words as bytes with a newline after each; a word that holds one itself would make two."""
    joined = "\n".join([*words, ""])
    if joined.count("\n") != len(words):
        odd = next(word for word in words if "\n" in word)
        raise LovevecError(f"{odd[:40]!r} holds a line end, which {kind} cannot: use jsonl or parquet")
    return joined.encode("utf-8", "surrogateescape")


class WriteBehind:
    """Writes one batch while the next is computed: neither the copy of gigabytes nor the disk need be waited for.

    Batches go to a thread, in order; what goes wrong there is raised here, with the next batch or at the end.
    """

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
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        behind = WriteBehind(writer, file, thread)
        try:
            yield behind
            behind.settle()
        finally:
            thread.shutdown(cancel_futures=True)
