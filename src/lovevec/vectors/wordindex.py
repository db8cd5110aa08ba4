"""Words in the order they came, each once: a list, and 8 to 16 bytes a word to know what is in it.

A Python set beside the list would take two to four times that, nearly 3 % of a matrix with 300 columns.
"""

from __future__ import annotations

from array import array


class WordIndex:
    """An ordered set of words; `words` is the plain list. Slots hold row numbers from 1, 0 is free."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._slots = array("i", bytes(4 * 1024))

    def add(self, word: str) -> bool:
        """Put `word` at the end of the list; False when it is there already."""
        words, slots = self.words, self._slots
        mask = len(slots) - 1
        at = hash(word) & mask
        while row := slots[at]:
            if words[row - 1] == word:
                return False
            at = (at + 1) & mask
        words.append(word)
        slots[at] = len(words)
        if len(words) * 2 > mask:
            self._grow()
        return True

    def _grow(self) -> None:
        """Double the slots and put every word in its new place."""
        slots = array("i", bytes(self._slots.itemsize)) * (2 * len(self._slots))
        mask = len(slots) - 1
        for row, word in enumerate(self.words, 1):
            at = hash(word) & mask
            while slots[at]:
                at = (at + 1) & mask
            slots[at] = row
        self._slots = slots
