"""Lists of real misspellings with the words that they stand for, in the formats that such lists come in:

    $accommodate            the right word, then its misspellings, one a line (Birkbeck, aspell);
    accomodate              a number behind one says how often it was seen (Holbrook): each counts once
    acommadate 3

    accommodate<TAB>accomodate      or two columns: the right word, its misspelling

Misspellings are lower-cased. An underscore, which stands for a space in these lists (`all_right`), stays as it is: so
tables write phrases, and the misspelling is what somebody has to make sense of. What stands below `$?` is of words that
nobody could make out, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lovevec.errors import FormatError
from lovevec.files.lines import filled_lines

MARK, UNCLEAR = "$", "?"
COUNT = re.compile(r"(?<!\s)\s+\d+$")  # begins where white space does, else many spaces would take forever


def read_misspellings(path: Path) -> list[tuple[str, str]]:
    """(right word, misspelling) pairs; an error names the file and the line."""
    lines = [(number, line.strip().lower()) for number, line in filled_lines(path)]
    pairs = list(_below_marks(path, lines) if lines[0][1].startswith(MARK) else _columns(path, lines))
    if not pairs:
        raise FormatError(path, "holds no misspellings")
    return pairs


def _below_marks(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    right = ""
    for number, line in lines:
        if line.startswith(MARK):
            right = line[len(MARK) :].strip()
            if not right:
                raise FormatError(path, "a right word is missing behind $", number)
        elif right != UNCLEAR:
            yield right, COUNT.sub("", line)


def _columns(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    for number, line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            below = "$ and a right word with its misspellings in the lines below"
            beside = "in each line a right word, a tab and its misspelling"
            raise FormatError(path, f"expected {below}, or {beside}, not {line[:60]!r}", number)
        yield cells[0], cells[1]
