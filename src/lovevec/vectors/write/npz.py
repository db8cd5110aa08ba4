"""numpy's archive of arrays, unpacked inside the zip so that nothing is lost to compressing noise.

A file inside a zip cannot be changed once it is written, and an array begins with its count. So numbers whose count
is not known wait in a temporary file, and words always do: they come second.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.write.numpy import array_header
from lovevec.vectors.write.sink import Sink
from lovevec.vectors.write.writer import TYPES, Shape, Writer, check_count, join_words

COPY = 1 << 20
BYTES = np.dtype(np.uint8)


class Unseekable:
    """Hides `tell` and `seek` of a pipe or device, which may be there and lie: /dev/null is always at 0."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush


class NpzWriter:
    """Writes the numbers into the archive, or into `waiting` where their count is not known."""

    def __init__(self, numbers: IO[bytes], words: IO[bytes], shape: Shape) -> None:
        self.numbers, self.words, self.kind = numbers, words, TYPES[shape.precision]
        self.rows = 0

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch."""
        self.words.write(join_words(words, "npz"))
        self.numbers.write(np.ascontiguousarray(rows, self.kind).data)
        self.rows += len(words)

    def notes(self) -> list[str]:
        """Nothing to say."""
        return []


@contextmanager
def write(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write `vectors` and `words`."""
    folder = None if sink.path is None else sink.path.parent
    with ExitStack() as stack:
        target = sink.file if sink.patchable else Unseekable(sink.file)
        archive = stack.enter_context(zipfile.ZipFile(cast("IO[bytes]", target), "w"))
        words = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        kind, count = TYPES[shape.precision], shape.count
        if count is None:
            waiting = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            writer = NpzWriter(waiting, words, shape)
            yield writer
            _copy(archive, "vectors.npy", array_header(kind, writer.rows, shape.dim), waiting)
        else:
            with archive.open("vectors.npy", "w", force_zip64=True) as numbers:
                numbers.write(array_header(kind, count, shape.dim))
                writer = NpzWriter(numbers, words, shape)
                yield writer
                check_count(sink, count, writer.rows)
        _copy(archive, "words.npy", array_header(BYTES, words.tell()), words)


def _copy(archive: zipfile.ZipFile, name: str, header: bytes, content: IO[bytes]) -> None:
    content.seek(0)
    with archive.open(name, "w", force_zip64=True) as member:
        member.write(header)
        shutil.copyfileobj(content, member, COPY)
