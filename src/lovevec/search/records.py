"""Records as they are compared: what people give as tables, and its words.

A record is one text, or a cell of text in each of several columns. A word belongs to its column: `Paris` as a town is
another word than `Paris` as a name, with a rarity of its own. So a column counts by what it tells apart: a name that
one record has says much, a town that thousands have says little.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, Parameter
from lovevec.units.ragged import Ragged, offsets_of
from lovevec.units.words import word_list

WORD = re.compile(r"[^\W_]+")
ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")  # what stands in brackets
APOSTROPHES = str.maketrans("", "", "'’ʼ`´")
MAX_CHARACTERS, MAX_WORDS = 1000, 100  # of a cell: what is compared of a longer one is its beginning
LETTERS = 64  # of a record, and of a word, that are aligned: one bit each
ONLY = ""  # the name of the one column of a list


@dataclass(frozen=True, eq=False)
class Table:
    """Records as people give them: the names of the columns, and the cells of each, row for row. A missing cell is an
    empty text."""

    columns: list[str]
    cells: list[list[str]]

    def __len__(self) -> int:
        return len(self.cells[0])

    @property
    def texts(self) -> list[str]:
        """Each record as one text."""
        if len(self.cells) == 1:
            return self.cells[0]
        return [" ".join(filter(None, row)) for row in zip(*self.cells, strict=True)]


def table_of(records: Any, columns: Sequence[str] | None, name: str) -> Table:
    """A list or column of texts, a data frame, or a list of mappings, as a Table. `name` is that of the argument, for
    errors. Without `columns` a frame has all its columns that hold text."""
    if isinstance(columns, str):
        columns = [columns]
    if columns is not None and (not isinstance(columns, (list, tuple)) or not columns):
        raise LovevecError(f"{Parameter('columns')} is {columns!r:.60}: must be a list of names of columns")
    if _is_frame(records):
        names = list(getattr(records, "column_names", None) or records.columns)
        return _of_columns({one: records[one] for one in names}, columns, name)
    items: Sequence[Any] | None = word_list(records) if not isinstance(records, (str, bytes)) else None
    if items is None:
        raise LovevecError(f"{Parameter(name)} is one string: must be a list of texts, a column or a data frame")
    if len(items) and isinstance(items[0], Mapping):
        keys = dict.fromkeys(key for item in items if isinstance(item, Mapping) for key in item)
        for place, item in enumerate(items):
            if not isinstance(item, Mapping):
                raise LovevecError(f"{Parameter(name)}: record {place} is no mapping but {type(item).__name__}")
        return _of_columns({key: [item.get(key) for item in items] for key in keys}, columns, name)
    if columns is not None and len(items):
        raise LovevecError(f"{Parameter('columns')} is for data frames and lists of mappings, not for a list of texts")
    return Table([ONLY], [[_text(item, place, ONLY, name) for place, item in enumerate(items)]])


def _is_frame(records: Any) -> bool:
    return hasattr(type(records), "columns") or hasattr(type(records), "column_names")


def _of_columns(values: Mapping[Any, Any], columns: Sequence[str] | None, name: str) -> Table:
    if columns is None:
        chosen = [key for key in values if isinstance(key, str) and _holds_text(word_list(values[key]))]
        if not chosen:
            raise LovevecError(f"{Parameter(name)}: no column holds text; it has {_listed(values)}")
    else:
        chosen = list(columns)
        if (unknown := next((one for one in chosen if one not in values), None)) is not None:
            raise LovevecError(f"{Parameter(name)}: there is no column {unknown!r} but {_listed(values)}")
    cells = [[_text(value, at, one, name) for at, value in enumerate(word_list(values[one]))] for one in chosen]
    return Table(chosen, cells)


def _listed(names: Mapping[Any, Any]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _holds_text(values: Sequence[Any]) -> bool:
    there = [value for value in values[:1000] if not _is_missing(value)]
    return bool(there) and all(isinstance(value, str) for value in there)


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _text(value: Any, place: int, column: str, name: str) -> str:
    """A cell as text: a number of a data frame by its digits."""
    if isinstance(value, str):
        return str(value)
    if _is_missing(value):
        return ""
    if column != ONLY and isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return str(int(value)) if float(value).is_integer() else str(value)
    of = f"{column!r} of " if column != ONLY else ""
    raise LovevecError(
        f"{Parameter(name)}: {of}record {place} is not a string but {type(value).__name__}: {value!r:.60}"
    )


def plain(text: str) -> str:
    """A text in lower case without marks on letters and apostrophes: that is how words are compared."""
    text = text[:MAX_CHARACTERS].lower().translate(APOSTROPHES)
    if text.isascii():
        return text
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))


@dataclass(frozen=True, eq=False)
class Words:
    """The words of records, by their numbers in a vocabulary that the tables share.

    words   [records] rows of words
    aside   [len(words.values)] whether a word stands in brackets
    cells   [records] which columns have words: a bit each
    """

    words: Ragged
    aside: NDArray[np.bool_]
    cells: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)


class Vocabulary:
    """The words that tables have, each once a column."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def strings(self) -> list[str]:
        return [word for _, word in self.numbers]

    @property
    def columns(self) -> NDArray[np.int64]:
        """[words] the column of each."""
        return np.fromiter((column for column, _ in self.numbers), np.int64, len(self))

    def words_of(self, table: Table) -> Words:
        """The words of a table; those that are not there yet are taken in. A record without words has one that is
        empty."""
        number = self.numbers.setdefault
        values: list[int] = []
        aside: list[bool] = []
        lengths = np.zeros(len(table), np.int64)
        cells = np.zeros(len(table), np.int64)
        for row, record in enumerate(zip(*table.cells, strict=True)):
            before = len(values)
            for column, cell in enumerate(record):
                words = WORD.findall(plain(cell))[:MAX_WORDS]
                if not words:
                    continue
                cells[row] |= 1 << min(column, 62)
                values += [number((column, word[:LETTERS]), len(self.numbers)) for word in words]
                aside += _aside(cell, words)
            if len(values) == before:
                values.append(number((0, ""), len(self.numbers)))
                aside.append(False)
            lengths[row] = len(values) - before
        return Words(Ragged(np.array(values, np.int64), offsets_of(lengths)), np.array(aside, np.bool_), cells)


def _aside(cell: str, words: Sequence[str]) -> list[bool]:
    """Which of the words of a cell stand in brackets; none where all do."""
    if "(" not in cell and "[" not in cell:
        return [False] * len(words)
    outside = WORD.findall(plain(ASIDE.sub(" | ", cell)))
    left = dict.fromkeys(outside, 0)
    for word in outside:
        left[word] += 1
    marks = []
    for word in words:
        is_outside = left.get(word, 0) > 0
        left[word] = left.get(word, 0) - 1
        marks.append(not is_outside)
    return marks if outside else [False] * len(words)


def letters_of(strings: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """[strings, LETTERS] the first letters as numbers above 0, and how many these are: [strings]."""
    lengths = np.minimum(np.fromiter(map(len, strings), np.int64, len(strings)), LETTERS)
    text = "".join(string[:LETTERS] for string in strings)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    small = np.where(codes < 128, codes, 128 + (codes * np.uint32(2654435761) >> np.uint32(25)) % 127).astype(np.uint8)
    width = max(int(lengths.max(initial=1)), 1)
    letters = np.zeros((len(strings), LETTERS), np.uint8)
    letters[:, :width] = Ragged(small, offsets_of(lengths)).padded(width)[:, :width] if len(strings) else 0
    return letters, lengths
