"""numpy's array files, never a pickle: `.npy` with a word list beside it, `.npz` with `vectors` and `words` inside.

An array is a header with type, order and shape, then its numbers; both are read as a stream. An .npz that lovevec
wrote may also hold `origin`, where its vectors came from, as JSON.
"""

from __future__ import annotations

import json
import math
import tokenize
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.vectors.read.builder import ARRAY_BLOCK_BYTES, CONVERT_ADVICE, ReadRequest
from lovevec.vectors.read.source import DAMAGE, ByteSource, check_compression, damage_report, open_member
from lovevec.vectors.read.words import check_count, find_word_list, mask_surrogates, split_words
from lovevec.vectors.table import Oddity, ReadReport, VectorTable

MAX_HEADER = 10_000  # that of numpy; its parser is not for longer ones
MAX_SIDE = 10**18
MAX_SIDES = 32
MAX_DEFLATE = 1100  # deflate cannot pack tighter than 1032 to 1
MAX_ORIGIN = 1 << 20

# What numpy's header code raises when the header is damaged: it parses a Python literal and makes a type of it.
PARSER_ERRORS = (SyntaxError, tokenize.TokenError, RecursionError, MemoryError)
HEADER_ERRORS = (ValueError, TypeError, LookupError, OverflowError, *PARSER_ERRORS)

Read = Callable[[int], bytes]


def read_npy(source: ByteSource, request: ReadRequest) -> VectorTable:
    """Read an array file; its words come from the list that the caller names, or from one beside the file."""
    header = read_header(request.path, source.read)
    request.check_table(header.shape)
    missing = header.length + header.bytes - source.size
    if missing > 0:
        raise FormatError(request.path, f"the file is cut: {missing:,} bytes of numbers are missing")
    words = find_word_list(request.path, request.words)
    check_count(request.path, words, header.shape[0])
    report = ReadReport("numpy .npy", dim=header.shape[1])
    if missing < 0:
        report.note(Oddity.TRAILING, count=-missing)
    blocks = row_blocks(request.path, source.read, header)
    if not request.mmap:
        return request.fill(report, words, blocks)
    if header.fortran:
        raise FormatError(request.path, f"is stored column by column, and cannot be mapped{CONVERT_ADVICE}")
    return request.map(report, words, blocks, header.dtype, header.length)


def read_npz(source: ByteSource, request: ReadRequest) -> VectorTable:
    """Read an archive of arrays without unpacking all of it at once."""
    path = request.path
    try:
        with zipfile.ZipFile(source.raw) as archive:
            names = archive.namelist()
            if "vectors.npy" not in names or ("words.npy" not in names and request.words is None):
                arrays = ", ".join(name.removesuffix(".npy") for name in names)
                raise FormatError(path, f"an .npz needs the arrays vectors and words, this one has {arrays}")
            read, header = _open_array(path, archive, "vectors")
            check_compression(path, header.bytes, archive.getinfo("vectors.npy").compress_size)
            request.check_table(header.shape)
            rows = header.shape[0]
            words = find_word_list(path, request.words) if request.words else _npz_words(path, archive, rows)
            check_count(path, words, rows)
            return request.fill(ReadReport("numpy .npz", dim=header.shape[1]), words, row_blocks(path, read, header))
    except DAMAGE as error:
        raise FormatError(path, damage_report(error)) from None


def _npz_words(path: Path, archive: zipfile.ZipFile, rows: int) -> list[str | None]:
    """Read the array of words: text, or uint8 that is UTF-8 with a newline between two words.

    Text has the longest word's room for each word, and packs tightly: it is read a few MB at a time.
    """
    read, header = _open_array(path, archive, "words")
    if header.dtype.kind == "U":
        if header.shape != (rows,):
            raise FormatError(path, f"{rows:,} vectors, but the words have the shape {header.shape!s:.100}")
        width = header.dtype.itemsize
        step = max(1, ARRAY_BLOCK_BYTES // max(width, 1))
        counts = (min(step, rows - start) for start in range(0, rows, step))
        blocks = (_read_exactly(path, read, count * width) for count in counts)
        return mask_surrogates(word for block in blocks for word in np.frombuffer(block, header.dtype).tolist())
    if header.dtype != np.uint8:
        raise FormatError(path, f"words must be text or uint8, this array is {header.dtype}")
    check_compression(path, header.bytes, archive.getinfo("words.npy").compress_size)
    return split_words(_read_exactly(path, read, header.bytes))


def read_origin(path: Path) -> dict[str, Any] | None:
    """Where the vectors of an .npz came from, if lovevec wrote that into it; None for any other file."""
    if path.suffix != ".npz":
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            read, header = _open_array(path, archive, "origin")
            origin = json.loads(read(header.bytes)) if header.bytes <= MAX_ORIGIN else None
    except (*DAMAGE, KeyError, FormatError):
        return None
    return origin if isinstance(origin, dict) else None


def _open_array(path: Path, archive: zipfile.ZipFile, name: str) -> tuple[Read, ArrayHeader]:
    member = archive.getinfo(f"{name}.npy")
    file = open_member(path, archive, member)
    header = read_header(path, file.read)
    stated = header.length + header.bytes
    if member.file_size != stated or stated > (member.compress_size + 1) * MAX_DEFLATE:
        raise FormatError(path, f"damaged: {name}.npy should have {stated:,} bytes, has {member.file_size:,}")
    return file.read, header


@dataclass(frozen=True)
class ArrayHeader:
    """Type, shape and order of a stored array, and how many bytes its header took."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    length: int

    @property
    def bytes(self) -> int:
        return math.prod(self.shape, start=self.dtype.itemsize)


class _HeaderBytes:
    def __init__(self, read: Read) -> None:
        self._read = read
        self.length = 0

    def read(self, count: int = MAX_HEADER, /) -> bytes:
        data = self._read(min(count, MAX_HEADER - self.length))
        self.length += len(data)
        return data


def read_header(path: Path, read: Read) -> ArrayHeader:
    """Read the header of an array; the types taken are numbers and text, never Python objects."""
    start = _HeaderBytes(read)
    try:
        version = npy_format.read_magic(start)
    except ValueError:
        version = (0, 0)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise FormatError(path, "not a numpy array, or of an unknown version")
    # Version 3 is 2 with names of columns in UTF-8, and tables with such names are refused below.
    parse = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old spellings, by which nobody is helped here
            shape, fortran, dtype = parse(start)
    except HEADER_ERRORS:
        raise FormatError(path, "damaged: the numpy header does not name type, order and shape") from None
    if dtype.hasobject:
        raise FormatError(path, "an array of Python objects, which only a pickle can load: save words as text or uint8")
    if not (dtype.kind == "U" or (dtype.kind in "fiu" and dtype.itemsize <= 8)):
        raise FormatError(path, f"an array of type {dtype}, neither numbers nor text")
    if len(shape) > MAX_SIDES or not all(0 <= side < MAX_SIDE for side in shape):
        raise FormatError(path, f"damaged: an array of shape {shape!s:.100}")
    return ArrayHeader(dtype, shape, fortran, start.length)


def row_blocks(path: Path, read: Read, header: ArrayHeader) -> Iterator[NDArray[np.generic]]:
    """The rows of an array [rows, dim] whose header is read, a few MB at a time."""
    if header.dtype.kind == "U":
        raise FormatError(path, "vectors must be numbers, this array holds text")
    rows, dim = header.shape
    if header.fortran:
        table = np.frombuffer(_read_exactly(path, read, header.bytes), header.dtype)
        yield table.reshape(header.shape, order="F")
        return
    step = max(1, ARRAY_BLOCK_BYTES // (dim * header.dtype.itemsize))
    for start in range(0, rows, step):
        count = min(step, rows - start)
        data = _read_exactly(path, read, count * dim * header.dtype.itemsize)
        yield np.frombuffer(data, header.dtype).reshape(count, dim)
    read(1)  # lets a zip notice that its checksum is wrong


def _read_exactly(path: Path, read: Read, count: int) -> bytes:
    data = read(count)
    if len(data) < count:
        raise FormatError(path, f"the file is cut: {count - len(data):,} bytes of numbers are missing")
    return data
