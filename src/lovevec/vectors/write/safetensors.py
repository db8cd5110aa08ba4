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
from lovevec.vectors.write.writer import BYTES_PER_COPY, DTYPES, Shape, Sink, Writer, join_words

HEADER_BYTES = 512  # numbers begin at a multiple of 64, as those who map them like it


class _SafetensorsWriter(Writer):
    def __init__(self, sink: Sink, words: IO[bytes], shape: Shape) -> None:
        self.sink, self.words, self.dim, self.dtype = sink, words, shape.dim, DTYPES[shape.precision]
        self.rows = 0
        sink.file.write(bytes(HEADER_BYTES))

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        self.words.write(join_words(words, "safetensors"))
        self.sink.file.write(np.ascontiguousarray(rows, self.dtype).data)
        self.rows += len(words)

    def finish(self) -> None:
        start, length = self.rows * self.dim * self.dtype.itemsize, self.words.tell()
        self.words.seek(0)
        shutil.copyfileobj(self.words, self.sink.file, BYTES_PER_COPY)
        name = "F16" if self.dtype.itemsize == 2 else "F32"
        header = {
            "vectors": {"dtype": name, "shape": [self.rows, self.dim], "data_offsets": [0, start]},
            "words": {"dtype": "U8", "shape": [length], "data_offsets": [start, start + length]},
        }
        content = json.dumps(header).encode().ljust(HEADER_BYTES - 8)
        self.sink.patch(len(content).to_bytes(8, "little") + content)


@contextmanager
def write_safetensors(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write the tensors `vectors` and `words` to a file; a pipe cannot be patched, and is refused."""
    if not sink.patchable:
        raise LovevecError("safetensors begins with the number of rows, which is filled in at the end: use -o FILE")
    with tempfile.TemporaryFile(dir=None if sink.path is None else sink.path.parent) as words:
        writer = _SafetensorsWriter(sink, words, shape)
        yield writer
        writer.finish()
