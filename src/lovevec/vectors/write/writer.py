"""What all writers share: the `Sink` they write to, the `Shape` of a table, and the `Writer` that takes its rows."""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.files import atomic_write

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Precision = Literal["float32", "float16"]
DTYPES: dict[Precision, np.dtype[np.float32] | np.dtype[np.float16]] = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
}
BYTES_PER_COPY = 1 << 20
BATCHES_BEHIND = 2  # batches that wait to be written
BYTES_PER_SYNC = 1 << 26  # after which the disk is made to take them, so that the end has little left to wait for


@dataclass(frozen=True)
class Sink:
    """An open binary file; `patchable` when what was written can be changed later, as the count in a header."""

    file: IO[bytes]
    name: str
    path: Path | None
    patchable: bool
    start: int = 0

    def patch(self, content: bytes) -> None:
        self.file.seek(self.start)
        self.file.write(content)
        self.file.seek(0, os.SEEK_END)

    def pass_on(self) -> None:
        """Give what was written to whoever reads at the other end; a file can wait."""
        if not self.patchable:
            self.file.flush()


@contextmanager
def open_sink(path: Path | None) -> Iterator[Sink]:
    """Open `path` (None: standard output) for writing: a file appears whole or not at all; errors name it.

    A device or a named pipe is written to as it is: a rename would put a plain file in its place.
    """
    name = "standard output" if path is None else str(path)
    try:
        if path is None:
            if sys.stdout is not None:
                sys.stdout.flush()
            with open(1, "wb", closefd=False) as file:
                patchable = _is_patchable(file.fileno())
                yield Sink(file, name, None, patchable, file.tell() if patchable else 0)
        elif path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield Sink(file, name, None, False)
        else:
            real = Path(os.path.realpath(path))  # through a link, which stays a link
            with atomic_write(real) as whole:
                yield Sink(whole, name, path, True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LovevecError(f"{name}: cannot be written: {error.strerror or error}") from None


def _is_patchable(handle: int) -> bool:
    """Standard output sent to a plain file can be patched, unless it is opened to append."""
    if os.name == "nt" or not stat.S_ISREG(os.fstat(handle).st_mode):
        return False  # Windows does not say whether a file is opened to append
    import fcntl

    return not fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_APPEND


@dataclass(frozen=True)
class Shape:
    """What is known of the table before its rows come: `count` is None when the rows were not counted; `exact` asks for
    text from which the same float32 is read back; `item` is what a row is the vector of."""

    dim: int
    count: int | None = None
    precision: Precision = "float32"
    exact: bool = False
    item: str = "word"


class Writer:
    """Takes rows, batch after batch; each format has its own."""

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch: n words, their rows [n, dim], and whether each is known, which only jsonl tells."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """What the user should know once all is written, a line each; mostly nothing."""
        return []


def check_count(sink: Sink, count: int | None, rows: int) -> None:
    """An error when the rows are not as many as the header, which is out already, says."""
    if count is not None and count != rows:
        raise LovevecError(f"{sink.name}: {rows:,} words came, {count:,} were counted before: did the input change?")


def join_words(words: Sequence[str], kind: str) -> bytes:
    """Words as bytes with a newline after each; a word that holds one itself would make two."""
    joined = "\n".join([*words, ""])
    if joined.count("\n") != len(words):
        odd = next(word for word in words if "\n" in word)
        raise LovevecError(f"{odd[:40]!r} holds a line end, which {kind} cannot: use jsonl or parquet")
    return joined.encode("utf-8", "surrogateescape")


class _WriteBehind(Writer):
    """Writes one batch while the next is computed: neither the copy of gigabytes nor the disk need be waited for.

    Batches go to a thread, in order; what goes wrong there is raised here, with the next batch or at the end.
    """

    def __init__(self, writer: Writer, file: IO[bytes], thread: ThreadPoolExecutor) -> None:
        self.writer, self.file, self.thread = writer, file, thread
        self.waiting: deque[Future[None]] = deque()
        self.synced = 0

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        self.wait(BATCHES_BEHIND - 1)
        self.waiting.append(self.thread.submit(self._write, words, rows, known))

    def _write(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        self.writer.add(words, rows, known)
        if self.file.tell() - self.synced >= BYTES_PER_SYNC:
            self.file.flush()
            os.fsync(self.file.fileno())
            if hasattr(os, "posix_fadvise"):  # the system need not keep what nobody will read now
                os.posix_fadvise(self.file.fileno(), self.synced, 0, os.POSIX_FADV_DONTNEED)
            self.synced = self.file.tell()

    def notes(self) -> list[str]:
        return self.writer.notes()

    def wait(self, most: int = 0) -> None:
        while len(self.waiting) > most:
            self.waiting.popleft().result()


@contextmanager
def write_behind(writer: Writer, file: IO[bytes]) -> Iterator[Writer]:
    """The same writer with a thread of its own. For plain files: a full pipe would keep the thread, and so Ctrl-C."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        behind = _WriteBehind(writer, file, thread)
        try:
            yield behind
            behind.wait()
        finally:
            thread.shutdown(cancel_futures=True)
