"""navec's tables of Russian words, as its project publishes them: a .tar of three files, numbers little-endian.

    meta.json    {"id": …, "protocol": 1}
    vocab.bin    gzip of: how many words, a uint32; how often each was seen, uint32; the words, a newline between two
    pq.bin       four uint32: words w, dimensions d, parts q, codes c; a code for each part of each word, uint8 [w, q];
                 what the codes stand for, float32 [q, c, d / q]

A vector is its q parts side by side, each one of the c that this part may be (product quantisation): 300 numbers in 100
bytes. Words stand there in the order of the alphabet; the table has them by how often they were seen.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.vectors.read.builder import ReadRequest
from lovevec.vectors.read.source import DAMAGE, ByteSource, check_compression, damage_report
from lovevec.vectors.read.words import split_words
from lovevec.vectors.table import ReadReport, VectorTable

META, VOCABULARY, CODES = "meta.json", "vocab.bin", "pq.bin"
PROTOCOL = 1
MAX_META = 1 << 16  # bytes
MOST_CODES = 256
NO_WORDS = ("<unk>", "<pad>")
ROWS_PER_BLOCK = 4096


def read_navec(source: ByteSource, request: ReadRequest) -> VectorTable:
    """Read the three files out of the archive; nothing is unpacked to the disk."""
    path = request.path
    try:
        source.raw.seek(0)
        with tarfile.open(fileobj=source.raw, mode="r:") as archive:
            meta = json.loads(_member(request, archive, META, MAX_META))
            vocabulary = _unpacked(request, _member(request, archive, VOCABULARY))
            table = _member(request, archive, CODES)
    except (*DAMAGE, tarfile.TarError, RecursionError) as error:
        raise FormatError(path, damage_report(error)) from None
    protocol = meta.get("protocol") if isinstance(meta, dict) else None
    if protocol != PROTOCOL:
        raise FormatError(path, f"navec's protocol {protocol!r:.20}; {PROTOCOL} can be read")
    words, counts = _words(request, vocabulary)
    codes, values = _codes(request, table, len(words))
    report = ReadReport("navec", dim=values.shape[0] * values.shape[2])
    order = np.argsort(-counts.astype(np.int64), kind="stable")
    order = order[[words[place] not in NO_WORDS for place in order.tolist()]]
    return request.fill(report, [words[place] for place in order.tolist()], _rows(codes, values, order))


def _member(request: ReadRequest, archive: tarfile.TarFile, name: str, most: int | None = None) -> bytes:
    """A file of the archive, which cannot be longer than the archive itself."""
    try:
        member = archive.getmember(name)
    except KeyError:
        raise FormatError(request.path, f"a .tar without {name}: of these only navec's are read") from None
    size = request.path.stat().st_size if most is None else most
    file = archive.extractfile(member) if member.isreg() and not member.issparse() and member.size <= size else None
    if file is None:
        raise FormatError(request.path, f"damaged: {name} is no plain file of this archive")
    content = file.read()
    if len(content) != member.size:
        raise FormatError(request.path, f"the file is cut: {name} is not whole")
    return content


def _unpacked(request: ReadRequest, content: bytes) -> bytes:
    """A gzip's content, if it is no larger than words can be."""
    parts, size = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        while part := file.read(1 << 20):
            size += len(part)
            check_compression(request.path, size, len(content))
            parts.append(part)
    return b"".join(parts)


def _words(request: ReadRequest, content: bytes) -> tuple[list[str | None], NDArray[np.uint32]]:
    size = int.from_bytes(content[:4], "little")
    if size < 1 or 4 + 4 * size > len(content):
        raise FormatError(request.path, f"damaged: {VOCABULARY} tells of {size:,} words")
    words = split_words(content[4 + 4 * size :])
    if len(words) != size:
        raise FormatError(request.path, f"damaged: {VOCABULARY} tells of {size:,} words and has {len(words):,}")
    return words, np.frombuffer(content, "<u4", size, 4)


def _codes(request: ReadRequest, content: bytes, words: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """The codes [words, parts], and what they stand for [parts, codes, numbers of a part]."""
    rows, dim, parts, codes = (int(number) for number in np.frombuffer(content[:16].ljust(16, b"\0"), "<u4"))
    if rows != words:
        raise FormatError(request.path, f"damaged: {words:,} words, but vectors of {rows:,}")
    if not 0 < parts <= dim or dim % parts or not 0 < codes <= MOST_CODES:
        raise FormatError(request.path, f"damaged: {dim} dimensions in {parts} parts of {codes} codes")
    expected = 16 + rows * parts + 4 * codes * dim
    if len(content) != expected:
        raise FormatError(request.path, f"damaged: {CODES} should have {expected:,} bytes, has {len(content):,}")
    chosen = np.frombuffer(content, np.uint8, rows * parts, 16).reshape(rows, parts)
    if int(chosen.max()) >= codes:
        raise FormatError(request.path, f"damaged: code {int(chosen.max())} of {codes}")
    values = np.frombuffer(content, "<f4", codes * dim, 16 + rows * parts)
    return chosen, values.reshape(parts, codes, dim // parts)


def _rows(
    codes: NDArray[np.uint8], values: NDArray[np.float32], order: NDArray[np.int64]
) -> Iterator[NDArray[np.float32]]:
    parts = np.arange(len(values))
    for start in range(0, len(order), ROWS_PER_BLOCK):
        chosen = codes[order[start : start + ROWS_PER_BLOCK]]
        yield values[parts, chosen].reshape(len(chosen), -1)
