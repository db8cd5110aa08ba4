"""SymSpell and lookup: an unknown word is corrected first, and has the vector of the correction.

Corrections are those of symspellpy: the nearest known word within two edits (two neighboring characters that change
places are one), of words equally near the most frequent. Tables hold no counts, so that Zipf's law stands in: the word
of rank r counts C / r. A word that nothing is near to has no vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.errors import MissingExtra
from lovevec_lab.methods.fallback import FallbackMethod
from lovevec_lab.methods.method import Bools, Floats
from lovevec_lab.methods.table import Table

MOST_EDITS = 2
# Counts must be whole numbers: with this one no two of the first ten million ranks share theirs.
COUNT = 10**15


class SymSpellDictionary:
    """Words, the most frequent first, that others are corrected to."""

    def __init__(self, words: Sequence[str]) -> None:
        try:
            import symspellpy
        except ImportError:
            raise MissingExtra("symspellpy", "rivals") from None
        self._top, self._all = symspellpy.Verbosity.TOP, symspellpy.Verbosity.ALL
        self._library = symspellpy.SymSpell(max_dictionary_edit_distance=MOST_EDITS)
        for rank, word in enumerate(words, 1):
            self._library.create_dictionary_entry(word, COUNT // rank)
        self.words: dict[str, int] = self._library.words

    def correct(self, word: str) -> str | None:
        """The correction, the word itself if it is one of the words; None where none is near."""
        near = self._library.lookup(word, self._top)
        return near[0].term if near else None

    def suggest(self, word: str, k: int = 10) -> list[str]:
        """The first k of all words within two edits: the nearest first, of these the most frequent."""
        return [near.term for near in self._library.lookup(word, self._all)[:k]]


class SymSpell(FallbackMethod):
    """The table, with SymSpell's correction in the place of an unknown word."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "SymSpell")
        self.dictionary = SymSpellDictionary(table.words)

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The vector of each word's correction, if it has one."""
        corrected = [self.dictionary.correct(word) for word in words]
        rows = [-1 if near is None else self.known.row[near] for near in corrected]
        return self.rows_as_vectors(np.array(rows, dtype=np.int64))
