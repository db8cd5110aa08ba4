"""How a text file of vectors is laid out: is there a header, and how many numbers follow each word?"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from lovevec.errors import FormatError
from lovevec.vectors.read.numbers import to_number

SAMPLE = 50
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?")
FIELD = re.compile(rb"[^ \t]+")


@dataclass(frozen=True)
class Layout:
    """The number of columns, and the number of rows where a header promises one."""

    dim: int
    promised: int | None


def find_layout(path: Path, lines: list[bytes]) -> Layout | None:
    """Work the layout out from the first lines of a file; None when they do not look like word vectors.

    Words may hold spaces and numbers ("in 2009"), so the count that most lines share decides. Where two tie
    the larger one does: a row that is then too short is reported, and never read with its columns shifted.
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
    fields = FIELD.findall(line)
    first = 0 if line[:1] in (b" ", b"\t") else 1
    count = 0
    for field in reversed(fields[first:]):
        if to_number(field) is None:
            break
        count += 1
    return count
