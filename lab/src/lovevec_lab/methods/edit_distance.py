"""Edit distance: an unknown word has the vector of the known word that is spelled most alike.

That is the nearest by Levenshtein distance among the first 20,000 words of the table, as in the paper; of words equally
near the first one, which in most tables is the most frequent. There is always one, however far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.errors import MissingExtra
from lovevec_lab.methods.fallback import FallbackMethod
from lovevec_lab.methods.method import Bools, Floats
from lovevec_lab.methods.table import Table

VOCABULARY_WORDS = 20_000
WORDS_PER_BATCH = 256  # x 20,000 distances of a byte each stay in the processor's cache
MOST_IN_A_BYTE = 255


class EditDistance(FallbackMethod):
    """The table, with its nearest word by spelling in the place of an unknown one."""

    def __init__(self, table: Table, first: int = VOCABULARY_WORDS) -> None:
        super().__init__(table, "Edit Distance")
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist
        except ImportError:
            raise MissingExtra("rapidfuzz", "rivals") from None
        self._cdist, self._distance = cdist, Levenshtein.distance
        self.vocabulary = table.words[:first]
        self._longest = max(map(len, self.vocabulary))

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The vector of each word's nearest."""
        rows = np.empty(len(words), dtype=np.int64)
        for low in range(0, len(words), WORDS_PER_BATCH):
            part = words[low : low + WORDS_PER_BATCH]
            longest = max(self._longest, *map(len, part))
            kind = np.uint8 if longest <= MOST_IN_A_BYTE else np.int32
            table = self._cdist(part, self.vocabulary, scorer=self._distance, dtype=kind, workers=-1)
            rows[low : low + WORDS_PER_BATCH] = table.argmin(axis=1)  # the first of the least
        return self.rows_as_vectors(rows)
