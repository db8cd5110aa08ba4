"""word2vec's and fastText's text: a first line `rows dim`, then a word and its numbers a line.

Where the rows are counted only at the end, the first line is padded with spaces, and filled in then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.write.numbers import format_rows
from lovevec.vectors.write.sink import Sink
from lovevec.vectors.write.writer import Shape, Writer, check_count, join_words

WIDTH = 31
SPACE = re.compile(r"\s")


class VecWriter:
    """Writes text rows."""

    def __init__(self, sink: Sink, shape: Shape) -> None:
        self.sink, self.shape = sink, shape
        self.rows = self.spaced = 0
        self.headless = not sink.patchable and shape.count is None
        if not self.headless:
            sink.file.write(self.header(shape.count or 0))

    def header(self, rows: int) -> bytes:
        """The first line."""
        line = f"{rows} {self.shape.dim}"
        return (f"{line:<{WIDTH}}\n" if self.sink.patchable else f"{line}\n").encode()

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch."""
        names = join_words(words, "vec").split(b"\n")
        parts = [b"\n"] * (3 * len(words))
        parts[::3], parts[1::3] = names[:-1], format_rows(rows, exact=self.shape.exact)
        self.sink.file.write(b"".join(parts))
        self.sink.pass_on()
        self.rows += len(words)
        if SPACE.search("".join(words)):
            self.spaced += sum(SPACE.search(word) is not None for word in words)

    def finish(self) -> None:
        """Fill in the count."""
        if self.sink.patchable:
            self.sink.patch(self.header(self.rows))
        else:
            check_count(self.sink, self.shape.count, self.rows)

    def notes(self) -> list[str]:
        """Words with white space inside are a trap for other readers."""
        if not self.spaced:
            return []
        return [
            f"words with white space inside: {self.spaced:,}; lovevec reads them, but fastText and others"
            " take the space for the end of the word"
        ]


@contextmanager
def write(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write text rows."""
    writer = VecWriter(sink, shape)
    yield writer
    writer.finish()
