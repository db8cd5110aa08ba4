"""Binary files of word2vec: a header line `n d`, then for each word its bytes, a space, and d float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lovevec.errors import FormatError, Parameter
from lovevec.vectors.read.builder import ReadRequest
from lovevec.vectors.read.source import HEAD_BYTES, ByteSource
from lovevec.vectors.read.text import HEADER, trailing_numbers
from lovevec.vectors.read.words import decode_words
from lovevec.vectors.table import ReadReport, VectorTable

ROW_BLOCK_BYTES = 1 << 20
MAX_WORD_BYTES = 1 << 20


def is_word2vec_bin(path: Path, head: bytes, lines: list[bytes]) -> bool:
    """Whether what follows a header `n d` is binary: no rows of numbers, and bytes that text has not."""
    header = HEADER.fullmatch(lines[0])
    if header is None or b"\n" not in head:
        return False
    rows = [line for line in lines[1:] if line]
    enough = min(2, int(header[2]))
    if sum(trailing_numbers(row) >= enough for row in rows) * 2 > len(rows):
        return False
    body = head[len(lines[0]) : HEAD_BYTES]
    has_control = any(byte in body for byte in range(9)) or any(byte in body for byte in range(14, 32))
    return has_control or path.suffix == ".bin"


def read_word2vec_bin(source: ByteSource, request: ReadRequest) -> VectorTable:
    """Read the rows one after the other; each word ends at its first space, so words cannot hold one."""
    header = source.head[source.taken : source.head.index(b"\n", source.taken)]
    source.read(len(header) + 1)
    match = HEADER.fullmatch(header)
    assert match is not None, "only files with a header come here"
    promised, dim = int(match[1]), int(match[2])
    _check_size(source, request, promised, dim)
    report = ReadReport("word2vec binary", source.compression, "row", promised, dim)
    width = 4 * dim
    buffer, at = b"", 0
    with request.build(report, min(promised, source.size // width + 1)) as builder:
        ended = False
        while not ended and not builder.full:
            block = source.read(ROW_BLOCK_BYTES + width)
            ended = not block
            buffer, at = buffer[at:] + block, 0
            words: list[bytes] = []
            vectors: list[bytes] = []
            while (space := buffer.find(b" ", at)) >= 0 and space + 1 + width <= len(buffer):
                words.append(buffer[at:space].lstrip(b"\n"))
                at = space + 1 + width
                vectors.append(buffer[space + 1 : at])
            if space < 0 and len(buffer) - at > MAX_WORD_BYTES:
                raise FormatError(request.path, f"row {report.read + len(words) + 1}: a word without end: damaged")
            if words:
                rows = np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dim)
                first = report.read + 1
                builder.add(decode_words(words), rows, range(first, first + len(words)))
        if not builder.full:
            _check_end(request, report, buffer[at:])
        return builder.finish()


def _check_size(source: ByteSource, request: ReadRequest, promised: int, dim: int) -> None:
    if promised == 0 or dim == 0:
        raise FormatError(request.path, f"no rows of vectors: the header says {promised} × {dim}")
    if dim > 1 << 24:
        raise FormatError(request.path, f"the header says {dim:,} numbers a row: damaged")
    least = (min(promised, request.limit) if request.limit else promised) * (4 * dim + 1)
    if source.compression is None and least > source.size:
        raise FormatError(
            request.path,
            f"the header promises {promised:,} × {dim:,} numbers, at least {least:,} bytes; the file has "
            f"{source.size:,}: cut or damaged; {Parameter('limit', 'N')} takes the first N rows",
        )


def _check_end(request: ReadRequest, report: ReadReport, rest: bytes) -> None:
    if rest.strip(b"\n"):
        problem = f"the file ends in the middle of row {report.read + 1:,}"
        raise FormatError(request.path, problem + request.advice(report.kept))
    if report.promised is not None and report.read < report.promised:
        problem = f"the file ends after {report.read:,} rows, its header promises {report.promised:,}"
        raise FormatError(request.path, problem + request.advice(report.kept))
