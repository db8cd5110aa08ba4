"""The rows of one chunk of text: regular ones all at once, odd ones with care."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.vectors.read.layout import FIELD
from lovevec.vectors.read.numbers import PAD, parse_numbers, parse_odd
from lovevec.vectors.read.words import decode_words

SPACE, NEWLINE = 32, 10


@dataclass
class TextRows:
    """The rows before the first mistake (or all), with their lines; `count` is the number of all lines."""

    words: list[str | None]
    block: NDArray[np.float32]
    lines: list[int]
    blank: list[int]
    error: FormatError | None
    count: int


def parse_rows(chunk: bytes, dim: int, first_line: int, path: Path) -> TextRows:
    """Parse whole lines `word n n n … n`, each ended by a newline.

    A line with exactly `dim` spaces, and perhaps one at its end as word2vec and fastText write it, is
    regular: its fields lie between them. Any other line, and any line with a field that is no number, goes
    through `parse_line`.
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
        block, careful = parse_grid(text, data, marks.reshape(count, dim + 1))
    else:
        grid = marks[first_marks[regular, None] + np.arange(dim + 1)]
        values, wrong = parse_grid(text, data, grid)
        block = np.zeros((count, dim), np.float32)
        block[regular] = values
        careful = np.union1d(np.delete(np.arange(count), regular), regular[wrong])

    starts, ends = [len(PAD), *(newlines[:-1] + 1).tolist()], line_ends.tolist()
    words = [text[start:end] for start, end in zip(starts, marks[first_marks].tolist(), strict=True)]
    rows = TextRows([], block, list(range(first_line, first_line + count)), [], None, count)
    for row in careful.tolist():
        line = text[starts[row] : ends[row]]
        if not line.strip(b" \t"):
            rows.blank.append(first_line + row)
            continue
        try:
            with np.errstate(over="ignore"):
                words[row], block[row] = parse_line(line, dim)
        except ValueError as problem:
            rows.error = FormatError(path, str(problem), first_line + row)
            words, rows.block, rows.lines = words[:row], block[:row], rows.lines[:row]
            break
    if rows.blank:
        gone = [line - first_line for line in rows.blank]
        rows.block = np.delete(rows.block, gone, axis=0)
        for row in reversed(gone):
            del words[row], rows.lines[row]
    rows.words = decode_words(words)
    return rows


def parse_grid(
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


def parse_line(line: bytes, dim: int) -> tuple[bytes, list[float]]:
    """Parse one line of any spacing: the last `dim` fields are the vector, what stands before is the word.

    Raises ValueError with the problem in words.
    """
    line = line.rstrip(b" \t")
    word, *fields = line.replace(b"\t", b" ").rsplit(b" ", dim)
    end = len(word)
    if len(fields) < dim or not all(fields):  # too few, or more than one space between two
        found = list(FIELD.finditer(line))
        if len(found) < dim or (len(found) == dim and found[0].start() == 0):
            raise ValueError(f"a word and {dim} numbers expected, found {max(len(found) - 1, 0)} fields after the word")
        end = found[-dim].start()
        fields = [field[0] for field in found[-dim:]]
    values, wrong = parse_odd(fields)
    if wrong:
        shown = fields[wrong[0]][:40].decode(errors="replace")
        raise ValueError(f"the last {dim} fields of a row must be numbers, this one is not: {shown!r}")
    return line[:end].rstrip(b" \t"), values
