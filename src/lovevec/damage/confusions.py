"""Characters that are taken for others: by a finger that hits the next key, by a scanner. Many at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Confusions:
    """For each character of a table those that may stand in its place."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self.codes = np.array(sorted(map(ord, table)), dtype=np.uint32)
        rows = [table[chr(code)] for code in self.codes.tolist()]
        self.count = np.array([*map(len, rows), 0], dtype=np.int64)  # the last: of a character that is not there
        self.others = np.zeros((len(rows) + 1, max(map(len, rows), default=1)), dtype=np.uint32)
        for place, others in enumerate(rows):
            self.others[place, : len(others)] = [ord(other) for other in others]

    def _rows(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        place = np.searchsorted(self.codes, values)
        there = np.append(self.codes, 0)[place] == values
        rows: NDArray[np.int64] = np.where(there, place, len(self.codes))
        return rows

    def counts(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """How many characters may stand in the place of each of `values`."""
        counts: NDArray[np.int64] = self.count[self._rows(values)]
        return counts

    def replaced(self, values: NDArray[np.integer], picks: NDArray[np.float64]) -> NDArray[np.uint32]:
        """One of those for each of `values`, chosen by numbers from 0 to 1; what has none stays as it is."""
        rows = self._rows(values)
        chosen = self.others[rows, (picks * self.count[rows]).astype(np.int64)]
        result: NDArray[np.uint32] = np.where(self.count[rows] > 0, chosen, values).astype(np.uint32)
        return result


def table_of(name: str) -> Mapping[str, str]:
    """A data file's characters, each with those that are taken for it."""
    raw: Any = json.loads((files("lovevec.damage") / "data" / f"{name}.json").read_text("utf-8"))["neighbors"]
    table: Mapping[str, str] = raw
    return table


@cache
def confusions(name: str) -> Confusions:
    """Those of a data file: keyboard, scan, ocr."""
    return Confusions(table_of(name))
