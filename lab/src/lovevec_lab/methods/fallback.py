"""What the rivals behind a table share: known words keep their own vectors, every other word is imputed once.

Words are compared in Unicode's composed form and, where the table's words are in lower case (but for one in a hundred),
in lower case; of a word over 100 characters the first and the last 50 count, as for LOVE. A word of white space alone
has no vector.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import normalise
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters
from lovevec_lab.methods.table import Table

CASED = 0.01  # tables called lower-case have a few rows that are not


class FallbackMethod(Method):
    """A table, and behind it a way to impute what it lacks."""

    def __init__(self, table: Table, name: str, parameters: Parameters | None = None) -> None:
        self.known, self.name, self.dim = table, name, table.dim
        self.words, self.table = table.words, table.table
        self.parameters = parameters or table.parameters
        self.lowercase = sum(word != word.lower() for word in table.words) <= CASED * len(table.words)

    @abstractmethod
    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """Vectors of distinct words that the table lacks, none of them empty, and which of these count as covered."""

    def covers(self, words: Sequence[str]) -> Bools:
        """Known words, and those that can be imputed."""
        return self._both(words)[1]

    def embed(self, words: Sequence[str]) -> Floats:
        """Their own rows, or imputed ones."""
        return self._both(words)[0]

    def _both(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        result, rows = self.known.embed(words), self.known.rows(words)
        covered: Bools = rows >= 0
        place: dict[str, int] = {}
        asked, places = [], []
        for number in np.flatnonzero(~covered).tolist():
            spelled = normalise(words[number], self.lowercase)
            row = self.known.row.get(spelled, -1)
            if row >= 0:
                result[number], covered[number] = self.known.vectors[row], True
            elif spelled.strip():
                asked.append(number)
                places.append(place.setdefault(spelled, len(place)))
        if place:
            vectors, found = self.impute(list(place))
            result[asked], covered[asked] = vectors[places], found[places]
        return result, covered

    def rows_as_vectors(self, rows: NDArray[np.int64]) -> tuple[Floats, Bools]:
        """The vectors of the words that stand in for others; -1 is none."""
        found: Bools = rows >= 0
        return self.known.vectors[np.maximum(rows, 0)] * found[:, None], found
