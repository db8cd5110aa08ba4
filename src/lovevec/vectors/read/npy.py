"""numpy's array files as a stream: a header with type and shape, then the numbers. Never a pickle."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 16
ROWS_BYTES = 1 << 22
DESCR = re.compile(r"""['"]descr['"]\s*:\s*(?:['"]([<>|=]?[a-zA-Z]\d*)['"]|(\[))""")
ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([\d\s,]*)\)""")
NUMBERS = re.compile(r"[<>|=]?[fiu][1248]")

Read = Callable[[int], bytes]


@dataclass(frozen=True)
class ArrayHeader:
    """Type, shape and order of a stored array, and how many bytes its header took."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    fortran: bool
    length: int

    @property
    def bytes(self) -> int:
        """The size of the numbers that follow."""
        size = self.dtype.itemsize
        for count in self.shape:
            size *= count
        return size


def read_header(path: Path, read: Read) -> ArrayHeader:
    """Read the header of an array; the types taken are numbers and text, never Python objects."""
    start = read(8)
    if start[:6] != MAGIC or len(start) < 8 or start[6] not in (1, 2, 3):
        raise FormatError(path, "not a numpy array, or of an unknown version")
    wide = 2 if start[6] == 1 else 4
    length = int.from_bytes(read(wide), "little")
    if length > LONGEST_HEADER:
        raise FormatError(path, f"damaged: a numpy header of {length:,} bytes")
    text = read(length).decode("latin-1")
    descr, order, shape = DESCR.search(text), ORDER.search(text), SHAPE.search(text)
    if len(text) < length or not (descr and order and shape):
        raise FormatError(path, "damaged: the numpy header does not name type, order and shape")
    kind = descr[1] or "a record"
    if kind.lstrip("<>|=").startswith("O"):
        raise FormatError(path, "an array of Python objects, which only a pickle can load: save words as text or uint8")
    if not NUMBERS.fullmatch(kind) and not re.fullmatch(r"[<>]U\d{1,6}", kind):
        raise FormatError(path, f"an array of type {kind}, neither numbers nor text")
    sides = [side for side in re.split(r"[\s,]+", shape[1]) if side]
    if any(len(side) > 18 for side in sides):
        raise FormatError(path, f"damaged: an array of shape ({shape[1]})")
    return ArrayHeader(np.dtype(kind), tuple(map(int, sides)), order[1] == "True", 8 + wide + length)


def check_table(path: Path, shape: tuple[int, ...]) -> None:
    """See that a shape is that of a table: two sides, both at least 1."""
    if len(shape) != 2 or min(shape) < 1:
        raise FormatError(path, f"vectors must be a table [words, numbers], this array has the shape {shape}")


def read_blocks(path: Path, read: Read, header: ArrayHeader, rows: int) -> Iterator[NDArray[np.generic]]:
    """Give the first `rows` rows of a table in blocks of a few MB."""
    if header.dtype.kind == "U":
        raise FormatError(path, "vectors must be numbers, this array holds text")
    total, dim = header.shape
    if header.fortran:
        table = np.frombuffer(read_exactly(path, read, header.bytes), header.dtype)
        yield table.reshape(header.shape, order="F")[:rows]
        return
    step = max(1, ROWS_BYTES // (dim * header.dtype.itemsize))
    for start in range(0, rows, step):
        count = min(step, rows - start)
        data = read_exactly(path, read, count * dim * header.dtype.itemsize)
        yield np.frombuffer(data, header.dtype).reshape(count, dim)
    if rows == total:
        read(1)  # lets a zip notice that its checksum is wrong


def read_exactly(path: Path, read: Read, count: int) -> bytes:
    """Read `count` bytes or say that the file is cut."""
    data = read(count)
    if len(data) < count:
        raise FormatError(path, f"the file is cut: {count - len(data):,} bytes of numbers are missing")
    return data
