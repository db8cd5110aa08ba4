"""Text files of word vectors: word2vec and fastText `.vec` (with a header `n d`) and GloVe (without).

First the layout: is there a header, and how many numbers follow each word? Then chunk by chunk the rows: regular ones
all at once, odd ones with care.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.files.lines import plain_ends, whole_lines
from lovevec.vectors.read.builder import ReadRequest
from lovevec.vectors.read.numbers import PAD, parse_numbers, parse_odd, to_number
from lovevec.vectors.read.source import HEAD_BYTES, ByteSource
from lovevec.vectors.read.words import decode_words
from lovevec.vectors.table import Oddity, ReadReport, VectorTable

LINES_PER_SAMPLE = 50
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?")
FIELD = re.compile(rb"[^ \t]+")
BYTES_PER_CHUNK = 1 << 18
SPACE, NEWLINE = 32, 10


@dataclass(frozen=True)
class Layout:
    """The number of columns, and the number of rows where a header promises one."""

    dim: int
    promised: int | None


def first_lines(head: bytes) -> list[bytes]:
    """The first whole lines of a file, at most 50, by which its layout is told."""
    lines = head.split(b"\n", LINES_PER_SAMPLE)
    if len(lines) > LINES_PER_SAMPLE or (len(head) >= HEAD_BYTES and len(lines) > 1):
        lines.pop()
    return [line.rstrip(b"\r \t") for line in lines]


def find_layout(path: Path, lines: list[bytes]) -> Layout | None:
    """Work the layout out from the first lines of a file; None when they do not look like word vectors.

    Without a header words may hold spaces and numbers ("in 2009"), so the count that most lines share decides. Where
    two tie the larger one does: a row that is then too short is reported, and never read with its columns shifted.
    """
    header = HEADER.fullmatch(lines[0])
    counts = Counter(trailing_numbers(line) for line in lines[1 if header else 0 :] if line)
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    if header is None:
        return Layout(usual, None) if usual else None
    promised, dim = int(header[1]), int(header[2])
    if promised == 0 or dim == 0 or not counts:
        raise FormatError(path, f"no rows of vectors: the header says {promised} × {dim}", line=1)
    if dim not in counts:
        raise FormatError(path, f"the header promises {dim} numbers a row, but the rows hold {usual}", line=1)
    return Layout(dim, promised)


def trailing_numbers(line: bytes) -> int:
    """Count the numbers at the end of a line; the first field is the word, unless a space leads."""
    fields = FIELD.findall(line)[0 if line[:1] in (b" ", b"\t") else 1 :]
    return sum(1 for _ in takewhile(lambda field: to_number(field) is not None, reversed(fields)))


def read_text(source: ByteSource, request: ReadRequest, layout: Layout) -> VectorTable:
    """Read the rows of a text file, chunk by chunk, into one growing matrix."""
    _settle_allocator()
    line, kind = 1, "GloVe text"
    if layout.promised is not None:  # fastText's files differ from word2vec's by the ends of their names alone
        source.read(source.head.index(b"\n", source.taken) + 1 - source.taken)
        line, kind = 2, "fastText .vec" if ".vec" in request.path.suffixes else "word2vec text"
    report = ReadReport(kind, source.compression, "line", layout.promised, layout.dim)
    unpacked = source.size * (8 if source.compression else 1)
    hint = min(layout.promised or 0, unpacked // (2 * layout.dim))  # the rows promised, if such a file can hold them
    blocks = iter(lambda: source.read(BYTES_PER_CHUNK), b"")
    with request.build(report, hint) as builder:
        for chunk in map(plain_ends, whole_lines(blocks, source.path)):
            rows = _parse_rows(chunk, layout.dim, line, request.path, exact=layout.promised is not None)
            if layout.promised is None:
                builder.expect(rows.count, source.share())
            builder.add(rows.words, rows.block, rows.lines)
            if builder.full:
                return builder.finish()
            for oddity, lines in ((Oddity.BLANK, rows.blank), (Oddity.TOO_LONG, rows.long)):
                for at in lines:
                    report.note(oddity, at)
            report.read += len(rows.long)
            if rows.error is not None:
                raise rows.error
            line += rows.count
        if layout.promised is not None and report.read < layout.promised:
            problem = f"the file ends here after {report.read:,} rows, its header promises {layout.promised:,}"
            raise FormatError(request.path, problem + request.advice(report.kept), line - 1)
        return builder.finish()


def _settle_allocator() -> None:
    """Allocate and free 16 MB, after which glibc keeps freed memory of that size instead of returning it.

    Without this every temporary array of every chunk is paged in anew, which doubles the time of parsing.
    """
    np.empty(1 << 24, np.uint8)


@dataclass
class _TextRows:
    """The rows before the first mistake (or all), with their lines; `count` is the number of all lines."""

    words: list[str | None]
    block: NDArray[np.float32]
    lines: list[int]
    blank: list[int]
    long: list[int]
    error: FormatError | None
    count: int


def _parse_rows(chunk: bytes, dim: int, first_line: int, path: Path, exact: bool = False) -> _TextRows:
    """Parse whole lines `word n n n … n`, each ended by a newline.

    With `exact` (a header says how many numbers there are) a row with more of them is too long: `b 1 2 3 4` is no word
    `b 1` with three numbers.

    A line with exactly `dim` spaces, and perhaps one at its end as word2vec and fastText write it, is
    regular: its fields lie between them. Any other line, and any line with a field that is no number, goes
    through `_parse_line`.
    """
    text = PAD + chunk + PAD
    data = np.frombuffer(text, np.uint8)
    newlines = np.flatnonzero(data == NEWLINE)
    spaced = data[newlines - 1] == SPACE
    line_ends = newlines - spaced
    is_mark = data == SPACE
    is_mark[newlines] = ~spaced  # each line ends with one mark: its newline, or the space before it
    marks = np.flatnonzero(is_mark)
    last_marks = np.searchsorted(marks, line_ends)
    first_marks = np.concatenate([[0], last_marks[:-1] + 1])

    regular = np.flatnonzero(last_marks - first_marks == dim)
    count = len(newlines)
    if len(regular) == count:
        block, careful = _parse_grid(text, data, marks.reshape(count, dim + 1))
    else:
        grid = marks[first_marks[regular, None] + np.arange(dim + 1)]
        values, wrong = _parse_grid(text, data, grid)
        block = np.zeros((count, dim), np.float32)
        block[regular] = values
        careful = np.union1d(np.delete(np.arange(count), regular), regular[wrong])

    starts, ends = [len(PAD), *(newlines[:-1] + 1).tolist()], line_ends.tolist()
    words = [text[start:end] for start, end in zip(starts, marks[first_marks].tolist(), strict=True)]
    rows = _TextRows([], block, list(range(first_line, first_line + count)), [], [], None, count)
    for row in careful.tolist():
        line = text[starts[row] : ends[row]]
        if not line.strip(b" \t"):
            rows.blank.append(first_line + row)
            continue
        try:
            with np.errstate(over="ignore"):
                words[row], block[row] = _parse_line(line, dim)
        except ValueError as problem:
            rows.error = FormatError(path, str(problem), first_line + row)
            words, rows.block, rows.lines = words[:row], block[:row], rows.lines[:row]
            break
    if exact and (len(careful) or b"\t" in chunk):  # no other word holds white space
        rows.long = [first_line + row for row, word in enumerate(words) if _ends_in_number(word)]
    if unused := sorted(line - first_line for line in rows.blank + rows.long):
        rows.block = np.delete(rows.block, unused, axis=0)
        for row in reversed(unused):
            del words[row], rows.lines[row]
    rows.words = decode_words(words)
    return rows


def _ends_in_number(word: bytes) -> bool:
    """Whether white space and a number end what stands before a vector; `nan` and `inf` are words there."""
    _, space, last = word.replace(b"\t", b" ").rpartition(b" ")
    number = to_number(last) if space else None
    return number is not None and math.isfinite(number)


def _parse_grid(
    text: bytes, data: NDArray[np.uint8], grid: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Parse the fields between the marks of `grid` [n, dim + 1]; also give the rows with a non-number."""
    rows, dim = len(grid), grid.shape[1] - 1
    starts, ends = (grid[:, :-1] + 1).ravel(), grid[:, 1:].ravel()
    values, odd = parse_numbers(data, starts, ends)
    wrong = odd[:0]
    if len(odd):
        spans = zip(starts[odd].tolist(), ends[odd].tolist(), strict=True)
        numbers, failed = parse_odd([text[start:end] for start, end in spans])
        with np.errstate(over="ignore"):
            values[odd] = numbers
        wrong = np.unique(odd[failed] // dim)
    return values.reshape(rows, dim), wrong


def _parse_line(line: bytes, dim: int) -> tuple[bytes, list[float]]:
    """Parse one line of any spacing: the last `dim` fields are the vector, what stands before is the word.

    Raises ValueError with the problem in words.
    """
    line = line.rstrip(b" \t")
    word, *fields = line.replace(b"\t", b" ").rsplit(b" ", dim)
    end = len(word)
    if len(fields) < dim or not all(fields):  # too few, or more than one space between two
        matches = list(FIELD.finditer(line))
        if len(matches) < dim or (len(matches) == dim and matches[0].start() == 0):
            after = max(len(matches) - 1, 0)
            raise ValueError(f"a word and {dim} numbers expected, found {after} fields after the word")
        end = matches[-dim].start()
        fields = [match[0] for match in matches[-dim:]]
    values, wrong = parse_odd(fields)
    if wrong:
        field = fields[wrong[0]][:40].decode(errors="replace")
        raise ValueError(f"the last {dim} fields of a row must be numbers, this one is not: {field!r}")
    return line[:end].rstrip(b" \t"), values
