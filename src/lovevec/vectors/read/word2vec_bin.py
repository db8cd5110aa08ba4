"""Binary files of word2vec: a header line `n d`, then for each word its bytes, a space, and d float32."""

from __future__ import annotations

import numpy as np

from lovevec.errors import FormatError, Parameter
from lovevec.vectors.read.builder import Job
from lovevec.vectors.read.source import Source
from lovevec.vectors.read.text import HEADER
from lovevec.vectors.read.words import decode_words
from lovevec.vectors.table import ReadReport, VectorTable

BLOCK = 1 << 20
LONGEST_WORD = 1 << 20


def read_word2vec_bin(source: Source, job: Job) -> VectorTable:
    """Read the rows one after the other; each word ends at its first space, so words cannot hold one."""
    header = source.head[source.taken : source.head.index(b"\n", source.taken)]
    source.read(len(header) + 1)
    match = HEADER.fullmatch(header)
    assert match is not None, "only files with a header come here"
    promised, dim = int(match[1]), int(match[2])
    check_size(source, job, promised, dim)
    report = ReadReport("word2vec binary", source.compression, "row", promised, dim)
    width = 4 * dim
    buffer, at = b"", 0
    with job.build(report, min(promised, source.size // width + 1)) as builder:
        ended = False
        while not ended and not builder.full:
            block = source.read(BLOCK + width)
            ended = not block
            buffer, at = buffer[at:] + block, 0
            words: list[bytes] = []
            vectors: list[bytes] = []
            while (space := buffer.find(b" ", at)) >= 0 and space + 1 + width <= len(buffer):
                words.append(buffer[at:space].lstrip(b"\n"))
                at = space + 1 + width
                vectors.append(buffer[space + 1 : at])
            if space < 0 and len(buffer) - at > LONGEST_WORD:
                raise FormatError(job.path, f"row {report.read + len(words) + 1}: a word without end: damaged")
            if words:
                rows = np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dim)
                first = report.read + 1
                builder.add(decode_words(words), rows, range(first, first + len(words)))
        if not builder.full:
            check_end(job, report, buffer[at:])
        return builder.finish()


def check_size(source: Source, job: Job, promised: int, dim: int) -> None:
    """Refuse sizes that the file cannot hold, before any memory is taken for them."""
    if promised == 0 or dim == 0:
        raise FormatError(job.path, f"no rows of vectors: the header says {promised} × {dim}")
    if dim > 1 << 24:
        raise FormatError(job.path, f"the header says {dim:,} numbers a row: damaged")
    least = (min(promised, job.limit) if job.limit else promised) * (4 * dim + 1)
    if source.compression is None and least > source.size:
        raise FormatError(
            job.path,
            f"the header promises {promised:,} × {dim:,} numbers, at least {least:,} bytes; the file has "
            f"{source.size:,}: cut or damaged; {Parameter('limit', 'N')} takes the first N rows",
        )


def check_end(job: Job, report: ReadReport, rest: bytes) -> None:
    """See that the file ends after a whole row, and not before the last promised one."""
    if rest.strip(b"\n"):
        problem = f"the file ends in the middle of row {report.read + 1:,}"
        raise FormatError(job.path, problem + job.advice(report.kept))
    if report.promised is not None and report.read < report.promised:
        problem = f"the file ends after {report.read:,} rows, its header promises {report.promised:,}"
        raise FormatError(job.path, problem + job.advice(report.kept))
