"""numpy's array file with room in its header for the true count, and the words in a text file beside it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.vectors.write.sink import Sink, open_sink
from lovevec.vectors.write.writer import TYPES, Shape, Writer, check_count, join_words


def array_header(kind: np.dtype[Any], *sides: int) -> bytes:
    """The first 128 bytes of an array file: numpy pads them, so that they are as many for any count of rows."""
    header = io.BytesIO()
    npy_format.write_array_header_1_0(header, {"descr": kind.str, "fortran_order": False, "shape": sides})
    return header.getvalue()


def words_beside(path: Path) -> Path:
    """Where the words of `x.npy` go: `x.words.txt`."""
    return path.with_suffix(".words.txt")


class NpyWriter:
    """Writes the numbers as they come."""

    def __init__(self, sink: Sink, shape: Shape, words: Sink | None) -> None:
        self.sink, self.words, self.count, self.dim = sink, words, shape.count, shape.dim
        self.kind = TYPES[shape.precision]
        self.rows = 0
        if not sink.patchable and shape.count is None:
            raise LovevecError("npy begins with the number of rows, which a pipe of words does not tell: use -o FILE")
        sink.file.write(array_header(self.kind, shape.count or 0, self.dim))

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch."""
        if self.words is not None:
            self.words.file.write(join_words(words, "a list of words"))
        self.sink.file.write(np.ascontiguousarray(rows, self.kind).data)
        self.sink.pass_on()
        self.rows += len(words)

    def finish(self) -> None:
        """Fill in the count."""
        if self.sink.patchable:
            self.sink.patch(array_header(self.kind, self.rows, self.dim))
        else:
            check_count(self.sink, self.count, self.rows)

    def notes(self) -> list[str]:
        """Where the words are."""
        return [] if self.words is None else [f"the words are in {self.words.name}, one a line"]


@contextmanager
def write(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write an array; on standard output without its words, and never with texts."""
    if sink.path is None or shape.item == "text":
        writer = NpyWriter(sink, shape, None)
        yield writer
        writer.finish()
        return
    with open_sink(words_beside(sink.path)) as words:
        writer = NpyWriter(sink, shape, words)
        yield writer
        writer.finish()
