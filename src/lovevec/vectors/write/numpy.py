"""numpy's files: an array (`.npy`) with the words in a text file beside it, and an archive of arrays (`.npz`).

The header of an array says how many rows there are; numpy pads it, so there is room to fill in the true count. The
archive is not compressed: nothing is to be gained with noise. A file inside a zip cannot be changed once it is written,
and an array begins with its count. So numbers whose count is not known wait in a temporary file, and words always do:
they come second.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.vectors.write.writer import BYTES_PER_COPY, DTYPES, Shape, Sink, Writer, check_count, join_words, open_sink


def array_header(dtype: np.dtype[Any], *sides: int) -> bytes:
    """The first 128 bytes of an array file: numpy pads them, so that they are as many for any count of rows."""
    header = io.BytesIO()
    npy_format.write_array_header_1_0(header, {"descr": dtype.str, "fortran_order": False, "shape": sides})
    return header.getvalue()


def words_beside(path: Path) -> Path:
    """The file that holds the words of `x.npy`: `x.words.txt`, in the same folder."""
    return path.with_suffix(".words.txt")


class _NpyWriter(Writer):
    def __init__(self, sink: Sink, shape: Shape, words: Sink | None) -> None:
        self.sink, self.words, self.count, self.dim = sink, words, shape.count, shape.dim
        self.dtype = DTYPES[shape.precision]
        self.rows = 0
        if not sink.patchable and shape.count is None:
            raise LovevecError("npy begins with the number of rows, which a pipe of words does not tell: use -o FILE")
        sink.file.write(array_header(self.dtype, shape.count or 0, self.dim))

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        if self.words is not None:
            self.words.file.write(join_words(words, "a list of words"))
        self.sink.file.write(np.ascontiguousarray(rows, self.dtype).data)
        self.sink.pass_on()
        self.rows += len(words)

    def finish(self) -> None:
        if self.sink.patchable:
            self.sink.patch(array_header(self.dtype, self.rows, self.dim))
        else:
            check_count(self.sink, self.count, self.rows)

    def notes(self) -> list[str]:
        return [] if self.words is None else [f"the words are in {self.words.name}, one a line"]


@contextmanager
def write_npy(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write an array; on standard output without its words, and never with texts."""
    with ExitStack() as stack:
        alone = sink.path is None or shape.item == "text"
        words = None if alone else stack.enter_context(open_sink(words_beside(cast("Path", sink.path))))
        writer = _NpyWriter(sink, shape, words)
        yield writer
        writer.finish()


class _NpzWriter(Writer):
    def __init__(self, numbers: IO[bytes], words: IO[bytes], shape: Shape) -> None:
        self.numbers, self.words, self.dtype = numbers, words, DTYPES[shape.precision]
        self.rows = 0

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        self.words.write(join_words(words, "npz"))
        self.numbers.write(np.ascontiguousarray(rows, self.dtype).data)
        self.rows += len(words)


@contextmanager
def write_npz(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write an archive of `vectors` and `words`, these as UTF-8 bytes."""
    folder = None if sink.path is None else sink.path.parent
    with ExitStack() as stack:
        target = sink.file if sink.patchable else _Unseekable(sink.file)
        archive = stack.enter_context(zipfile.ZipFile(cast("IO[bytes]", target), "w"))
        words = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        dtype, count = DTYPES[shape.precision], shape.count
        if count is None:
            numbers = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            writer = _NpzWriter(numbers, words, shape)
            yield writer
            _copy(archive, "vectors.npy", array_header(dtype, writer.rows, shape.dim), numbers)
        else:
            with archive.open("vectors.npy", "w", force_zip64=True) as member:
                member.write(array_header(dtype, count, shape.dim))
                writer = _NpzWriter(member, words, shape)
                yield writer
                check_count(sink, count, writer.rows)
        _copy(archive, "words.npy", array_header(np.dtype(np.uint8), words.tell()), words)


class _Unseekable:
    """Hides `tell` and `seek` of a pipe or device, which may be there and lie: /dev/null is always at 0."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush


def _copy(archive: zipfile.ZipFile, name: str, header: bytes, content: IO[bytes]) -> None:
    content.seek(0)
    with archive.open(name, "w", force_zip64=True) as member:
        member.write(header)
        shutil.copyfileobj(content, member, BYTES_PER_COPY)
