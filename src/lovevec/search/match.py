"""Records of one table that are the same thing as records of another: `love.match(left, right)`.

Candidates are what shares rare words and letters (blocking.py), pairs are described by what speaks for and against them
(pairs.py), and a learned rule says how probably each candidate is the one (judge.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from lovevec.errors import LovevecError, MissingExtra, Parameter
from lovevec.progress import Progress
from lovevec.search.assignment import assign
from lovevec.search.comparison import compare, progress_of
from lovevec.search.judge import Judge, of_one, surest
from lovevec.search.records import ONLY, Table, table_of
from lovevec.search.terms import Model

CANDIDATES = 25  # left records that a right one is compared with
LEAST = 1e-3  # probability of a candidate that an assignment looks at
Columns = Sequence[str | tuple[str, str]]


class Match(NamedTuple):
    """A right record and the left record that is most probably the same thing.

    left, right            their places in the tables, from 0
    left_text, right_text  what stands there; of several columns joined by blanks
    probability            that they are the same thing
    """

    left: int
    right: int
    left_text: str
    right_text: str
    probability: float


class Matches(Sequence[Match]):
    """What `match` found, in the order of the right records: a list of Match.

    unmatched  the places of the right records that have none
    """

    def __init__(self, matches: Sequence[Match], unmatched: Sequence[int]) -> None:
        self._matches, self.unmatched = tuple(matches), list(unmatched)

    def __len__(self) -> int:
        return len(self._matches)

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> list[Match]: ...
    def __getitem__(self, place: int | slice) -> Match | list[Match]:
        return list(self._matches[place]) if isinstance(place, slice) else self._matches[place]

    def __iter__(self) -> Iterator[Match]:
        return iter(self._matches)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matches):
            return NotImplemented
        return (self._matches, self.unmatched) == (other._matches, other.unmatched)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Matches({len(self):,} matches, {len(self.unmatched):,} right records without one)"

    @property
    def expected_precision(self) -> float:
        """The share of the matches that is expected to be right: the mean of their probabilities; 1 for none."""
        return float(np.mean([match.probability for match in self])) if len(self) else 1.0

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns left, right, left_text, right_text, probability."""
        return {name: [getattr(match, name) for match in self] for name in Match._fields}

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row a match."""
        try:
            import pandas
        except ImportError:
            raise LovevecError("this needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.to_dict())

    def to_arrow(self) -> Any:
        """A pyarrow Table with a row a match (extra `frames`)."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("pyarrow", "frames") from None
        types = pyarrow.int64(), pyarrow.int64(), pyarrow.string(), pyarrow.string(), pyarrow.float64()
        schema = pyarrow.schema(list(zip(Match._fields, types, strict=True)))
        return pyarrow.table(self.to_dict(), schema=schema)


def match(
    model: Model,
    left: Any,
    right: Any,
    *,
    columns: Columns | None = None,
    one_to_one: bool = False,
    precision: float | None = None,
    progress: Progress | bool | None = None,
) -> Matches:
    """For each right record the left one that is most probably the same thing: see `LOVE.match`."""
    check_precision(precision)
    tables = tables_of(left, right, columns)
    shown = progress_of(progress, len(tables[0]) + len(tables[1]))
    pairs = compare(model, *tables, CANDIDATES, shown)
    found = pairs.candidates
    probabilities = of_one(Judge.load("match").utilities(pairs.features), found.queries)
    if one_to_one:
        likely = np.flatnonzero(probabilities >= LEAST)
        best = likely[assign(found.some(likely), probabilities[likely])]
    else:
        order = np.lexsort((-probabilities, found.queries))
        best = order[np.append(True, found.queries[order][1:] != found.queries[order][:-1])[: len(order)]]
    best = best[np.argsort(found.queries[best], kind="stable")]
    if precision is not None:
        best = best[surest(probabilities[best], precision)]
    texts = tables[0].texts, tables[1].texts
    rows = zip(found.records[best].tolist(), found.queries[best].tolist(), probabilities[best].tolist(), strict=True)
    matches = [Match(own, other, texts[0][own], texts[1][other], chance) for own, other, chance in rows]
    with_one = {one.right for one in matches}
    return Matches(matches, [row for row in range(len(tables[1])) if row not in with_one])


def check_precision(precision: float | None) -> None:
    """Refuse a share that is none."""
    is_number = isinstance(precision, (int, float, np.number)) and not isinstance(precision, bool)
    if precision is not None and not (is_number and 0 < float(precision) <= 1):
        raise LovevecError(
            f"{Parameter('precision')} is {precision!r:.60}: must be a number above 0, at most 1, as 0.95"
        )


def tables_of(left: Any, right: Any, columns: Columns | None) -> tuple[Table, Table]:
    """Both tables with the same columns, by the names that they have on the left."""
    names: list[list[str] | None] = [None, None]
    if columns is not None:
        if isinstance(columns, str):
            columns = [columns]
        pairs = [one if isinstance(one, tuple) else (one, one) for one in columns]
        if not pairs or not all(len(one) == 2 and all(isinstance(name, str) for name in one) for one in pairs):
            problem = "must name columns: a name each, or two where they differ, as ('name', 'title')"
            raise LovevecError(f"{Parameter('columns')} is {columns!r:.60}: {problem}")
        names = [[one[side] for one in pairs] for side in range(2)]
    one = table_of(left, None if _is_plain(left) else names[0], "left")
    other = table_of(right, None if _is_plain(right) else names[1], "right")
    if not len(one) or not len(other):  # a list of nothing does not say what it has columns of
        columns_ = one.columns if len(one) else other.columns
        return one if len(one) else _empty(columns_), other if len(other) else _empty(columns_)
    if names[0] is not None or one.columns == other.columns:
        if len(one.columns) != len(other.columns):
            raise LovevecError(f"{Parameter('columns')}: one of the tables is a list of texts, which has one column")
        return one, other
    if len(one.columns) == len(other.columns) == 1:
        return one, other
    common = [name for name in one.columns if name in other.columns and name != ONLY]
    if not common:
        left_names, right_names = (", ".join(map(repr, table.columns)) for table in (one, other))
        hint = Parameter("columns", f"[({one.columns[0]!r}, {other.columns[0]!r})]")
        raise LovevecError(f"no column of text is in both tables ({left_names}; {right_names}): name them, as {hint}")
    return _with_columns(one, common), _with_columns(other, common)


def _empty(columns: Sequence[str]) -> Table:
    return Table(list(columns), [[] for _ in columns])


def _is_plain(records: Any) -> bool:
    """Whether it is a list or a column of texts, which has no names of columns."""
    if hasattr(type(records), "columns") or hasattr(type(records), "column_names"):
        return False
    return not (isinstance(records, (list, tuple)) and len(records) and hasattr(records[0], "keys"))


def _with_columns(table: Table, names: Sequence[str]) -> Table:
    return Table(list(names), [table.cells[table.columns.index(name)] for name in names])
