"""A safetensors file: `vectors` [rows, dim] first, then `words` as UTF-8 bytes with a newline behind each.

The header, which comes first, says how many rows there are: it is padded with spaces, which the format allows, and
filled in at the end. Words wait in a temporary file, since they come second.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.vectors.write.sink import Sink
from lovevec.vectors.write.writer import TYPES, Shape, Writer, join_words

HEADER = 512  # bytes: numbers begin at a multiple of 64, as those who map them like it
COPY = 1 << 20


class SafetensorsWriter:
    """Writes the numbers as they come, and keeps the words."""

    def __init__(self, sink: Sink, words: IO[bytes], shape: Shape) -> None:
        self.sink, self.words, self.dim, self.kind = sink, words, shape.dim, TYPES[shape.precision]
        self.rows = 0
        sink.file.write(bytes(HEADER))

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch."""
        self.words.write(join_words(words, "safetensors"))
        self.sink.file.write(np.ascontiguousarray(rows, self.kind).data)
        self.rows += len(words)

    def finish(self) -> None:
        """Put the words behind the numbers, and the header before them."""
        size, listed = self.rows * self.dim * self.kind.itemsize, self.words.tell()
        self.words.seek(0)
        shutil.copyfileobj(self.words, self.sink.file, COPY)
        kind = "F16" if self.kind.itemsize == 2 else "F32"
        header = {
            "vectors": {"dtype": kind, "shape": [self.rows, self.dim], "data_offsets": [0, size]},
            "words": {"dtype": "U8", "shape": [listed], "data_offsets": [size, size + listed]},
        }
        content = json.dumps(header).encode().ljust(HEADER - 8)
        self.sink.patch(len(content).to_bytes(8, "little") + content)

    def notes(self) -> list[str]:
        """Nothing to say."""
        return []


@contextmanager
def write(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write `vectors` and `words`."""
    if not sink.patchable:
        raise LovevecError("safetensors begins with the number of rows, which is filled in at the end: use -o FILE")
    with tempfile.TemporaryFile(dir=None if sink.path is None else sink.path.parent) as words:
        writer = SafetensorsWriter(sink, words, shape)
        yield writer
        writer.finish()
