"""Records of one table that are the same thing: `love.dedupe(records)`.

Each pair that shares rare words and letters is judged by itself. Groups grow by average linkage: two groups are joined
while the mean probability of all pairs between them is high enough, where a pair that was never compared counts as 0.
So a chain of weak links (A like B, B like C) makes no group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, MissingExtra
from lovevec.progress import Progress
from lovevec.search.blocking import Candidates
from lovevec.search.comparison import compare_within, equal_records, progress_of
from lovevec.search.judge import Judge, of_each, surest
from lovevec.search.match import check_precision
from lovevec.search.records import Table, Vocabulary, table_of
from lovevec.search.terms import Model

CANDIDATES = 10  # other records that a record is compared with
PRECISION = 0.9  # of the pairs of a group
WEAKEST = 0.05  # probability of a pair: weaker ones hardly move a mean, and are most of all
LEAST = 0.5  # mean probability by which groups are joined, whatever precision is asked for


class Groups(Sequence[list[int]]):
    """What `dedupe` found: the groups of two and more records, as lists of their places in the table, those of the
    first record first.

    labels         [records] the number of each record's group; every record that is alone has one of its own
    probabilities  [records] how probably each record belongs to its group: the mean over the others of it; 1 alone
    """

    def __init__(self, labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
        self.labels, self.probabilities = labels, probabilities
        order = np.argsort(labels, kind="stable")
        cuts = np.flatnonzero(np.diff(labels[order])) + 1
        groups = [part.tolist() for part in np.split(order, cuts) if len(part) > 1]
        self._groups = tuple(sorted(groups))

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, place: int) -> list[int]: ...
    @overload
    def __getitem__(self, place: slice) -> list[list[int]]: ...
    def __getitem__(self, place: int | slice) -> list[int] | list[list[int]]:
        return [list(one) for one in self._groups[place]] if isinstance(place, slice) else list(self._groups[place])

    def __iter__(self) -> Iterator[list[int]]:
        return (list(one) for one in self._groups)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        same = np.array_equal(self.labels, other.labels)
        return same and np.array_equal(self.probabilities, other.probabilities)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Groups({len(self):,} groups; {len(self.first):,} of {len(self.labels):,} records stay)"

    @property
    def first(self) -> list[int]:
        """The places of the first record of each group and of all that are alone: what stays of the table."""
        return sorted(np.unique(self.labels, return_index=True)[1].tolist())

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row a record: group, probability."""
        try:
            import pandas
        except ImportError:
            raise LovevecError("this needs pandas: pip install pandas") from None
        return pandas.DataFrame({"group": self.labels, "probability": self.probabilities})

    def to_arrow(self) -> Any:
        """A pyarrow Table with a row a record: group, probability (extra `frames`)."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("pyarrow", "frames") from None
        return pyarrow.table({"group": self.labels, "probability": self.probabilities})


def dedupe(
    model: Model,
    records: Any,
    *,
    columns: Sequence[str] | None = None,
    precision: float = PRECISION,
    progress: Progress | bool | None = None,
) -> Groups:
    """Groups of records that are the same thing: see `LOVE.dedupe`."""
    check_precision(precision)
    table = table_of(records, columns, "records")
    shown = progress_of(progress, len(table))
    vocabulary = Vocabulary()
    words = vocabulary.words_of(table)
    first, own = equal_records(words, vocabulary.strings)
    distinct = Table(table.columns, [[cells[row] for row in first.tolist()] for cells in table.cells])
    pairs = compare_within(model, distinct, CANDIDATES, shown)
    probabilities = of_each(Judge.load("dedupe").utilities(pairs.features))
    least = max(threshold_for(probabilities, precision), LEAST)
    with shown.phase("grouping", unit="pairs"):
        groups = grouped(pairs.candidates, probabilities, least, len(distinct))
    return _of_all(own, len(distinct), groups, pairs.candidates, probabilities)


def threshold_for(probabilities: NDArray[np.float64], precision: float) -> float:
    """The least probability by which so large a share of the pairs above it is expected to be right."""
    keep = surest(probabilities, precision)
    return float(probabilities[keep].min()) if keep.any() else 1.1


def grouped(
    pairs: Candidates, probabilities: NDArray[np.float64], least: float, count: int, weakest: float = WEAKEST
) -> NDArray[np.int64]:
    """[count] the number of each record's group, that of its first record, by average linkage of at least `least`.
    Pairs below `weakest` count as 0."""
    links: list[dict[int, float]] = [{} for _ in range(count)]  # of groups: the sum of the probabilities between them
    members = [[row] for row in range(count)]
    strong = probabilities >= weakest
    some = zip(*(one[strong].tolist() for one in (pairs.queries, pairs.records, probabilities)), strict=True)
    heap = []
    for high, low, chance in some:
        links[high][low] = links[low][high] = chance
        if chance >= least:
            heap.append((-chance, low, high))
    heapify(heap)
    gone = [False] * count
    while heap:
        negative, low, high = heappop(heap)
        if gone[low] or gone[high]:
            continue
        if -negative != _mean(links, members, low, high):
            continue  # it was of these groups before they grew
        gone[high] = True
        members[low] += members[
            high
        ]  # `low` is the lower one of both, so that a group has the name of its first record
        for other, chance in links[high].items():
            if other == low or gone[other]:
                continue
            links[low][other] = links[other][low] = links[low].get(other, 0.0) + chance
            links[other].pop(high, None)
        links[low].pop(high, None)
        links[high] = {}
        for other in links[low]:
            if not gone[other] and (mean := _mean(links, members, low, other)) >= least:
                heappush(heap, (-mean, min(low, other), max(low, other)))
    labels = np.arange(count)
    for row in range(count):
        if not gone[row]:
            labels[members[row]] = row
    return labels


def _mean(links: list[dict[int, float]], members: list[list[int]], one: int, other: int) -> float:
    return links[one].get(other, 0.0) / (len(members[one]) * len(members[other]))


def _of_all(
    own: NDArray[np.int64], count: int, groups: NDArray[np.int64], pairs: Candidates, probabilities: NDArray[np.float64]
) -> Groups:
    """The groups of all records, from those of the `count` distinct ones; `own` [records] says which of these each is,
    -1 for none."""
    there = own >= 0
    rows = np.flatnonzero(there)
    name = np.full(count, len(own))  # of a group: its first record
    np.minimum.at(name, groups[own[there]], rows)
    labels = np.arange(len(own))
    labels[there] = name[groups[own[there]]]
    sizes = np.bincount(own[there], minlength=count).astype(np.float64)  # records of each distinct one
    together = groups[pairs.queries] == groups[pairs.records]
    queries, records, chances = pairs.queries[together], pairs.records[together], probabilities[together]
    sums = sizes - 1
    np.add.at(sums, queries, chances * sizes[records])
    np.add.at(sums, records, chances * sizes[queries])
    others = np.bincount(groups, sizes, count)[groups] - 1 if count else sums
    chance = np.where(others > 0, sums / np.maximum(others, 1), 1.0)
    result = np.ones(len(own))
    result[there] = np.minimum(chance[own[there]], 1.0)
    return Groups(labels, result)
