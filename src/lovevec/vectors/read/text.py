"""Text files of word vectors: word2vec and fastText `.vec` (with a header `n d`) and GloVe (without)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lovevec.errors import FormatError
from lovevec.vectors.read.job import Job
from lovevec.vectors.read.layout import Layout
from lovevec.vectors.read.source import Source
from lovevec.vectors.read.text_rows import parse_rows
from lovevec.vectors.report import Noted, ReadReport
from lovevec.vectors.table import VectorTable

CHUNK = 1 << 18
LONGEST_LINE = 1 << 26


def read_text(source: Source, job: Job, layout: Layout) -> VectorTable:
    """Read a text file chunk by chunk into one growing matrix."""
    settle_allocator()
    report = ReadReport(format_name(job.path, layout), source.compression, "line", layout.promised, layout.dim)
    line = 1
    if layout.promised is not None:
        source.read(source.head.index(b"\n", source.taken) + 1 - source.taken)
        line = 2
    with job.build(report, possible_rows(source, layout)) as builder:
        for chunk in line_chunks(source):
            rows = parse_rows(chunk, layout.dim, line, job.path)
            if layout.promised is None:
                builder.expect(rows.count, source.share())
            builder.add(rows.words, rows.block, rows.lines)
            if builder.full:
                return builder.finish()
            for blank in rows.blank:
                report.note(Noted.BLANK, blank)
            if rows.error is not None:
                raise rows.error
            line += rows.count
        if layout.promised is not None and report.read < layout.promised:
            problem = f"the file ends here after {report.read:,} rows, its header promises {layout.promised:,}"
            raise FormatError(job.path, problem + job.advice(report.kept), line - 1)
        return builder.finish()


def format_name(path: Path, layout: Layout) -> str:
    """Name the format for the report; fastText's text files differ from word2vec's only by their ending."""
    if layout.promised is None:
        return "GloVe text"
    return "fastText .vec" if ".vec" in path.suffixes else "word2vec text"


def possible_rows(source: Source, layout: Layout) -> int:
    """How many rows to make room for at once: those promised, if a file of this size can hold them."""
    unpacked = source.size * (8 if source.compression else 1)
    return min(layout.promised or 0, unpacked // (2 * layout.dim))


def line_chunks(source: Source) -> Iterator[bytes]:
    """Cut the rest of a file into pieces of whole lines, with plain line ends."""
    parts: list[bytes] = []
    length = 0
    while block := source.read(CHUNK):
        cut = block.rfind(b"\n") + 1
        if cut:
            parts.append(block[:cut])
            yield plain(b"".join(parts))
            parts, length = [], 0
        parts.append(block[cut:])
        length += len(block) - cut
        if length > LONGEST_LINE:
            raise FormatError(source.path, f"a line of more than {LONGEST_LINE >> 20} MB: not word vectors")
    if rest := b"".join(parts):
        yield plain(rest + b"\n")


def plain(lines: bytes) -> bytes:
    """Make Windows line ends plain."""
    return lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines


def settle_allocator() -> None:
    """Allocate and free 16 MB, after which glibc keeps freed memory of that size instead of returning it.

    Without this every temporary array of every chunk is paged in anew, which doubles the time of parsing.
    """
    np.empty(1 << 24, np.uint8)
