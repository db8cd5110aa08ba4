"""Greedy longest-match WordPiece over many words at once, with numpy alone.

All pieces hang in one trie with two roots: one for pieces that start a word, one for pieces that go on (`##ing`).
All characters of a batch walk it side by side, each from its own place on, a character per pass, so Python's cost is
per pass, not per word; a word's pieces are then a chain from its first character on. A step of the walk is one look-up
of (node, character) in an open-addressing hash table of plain arrays. Kept by hand, since tokenizers splits a word at a
time, with Python objects for each; the compiled core walks the same arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import LONGEST, codes_of
from lovevec.units.ragged import Ragged, offsets_of, spread

START, CONTINUE = 0, 1
EMPTY = -1
HASH = 0x9E3779B97F4A7C15
HASH_SIGN = ord("#")


class PieceTrie:
    """Pieces as rows of character ids, each with the id it stands for and whether it starts or continues a word."""

    def __init__(self, pieces: Ragged, continues: NDArray[np.bool_], ids: NDArray[np.integer]) -> None:
        self.bits = max(4, len(pieces.values).bit_length())  # more slots than there can be nodes: never full
        self.keys = np.full(1 << self.bits, EMPTY, dtype=np.int64)
        self.values = np.full(1 << self.bits, EMPTY, dtype=np.int32)
        node, nodes = np.where(continues, CONTINUE, START).astype(np.int64), 2
        lengths = pieces.lengths
        growing = np.argsort(-lengths, kind="stable")
        for depth in range(int(lengths.max(initial=0))):  # all pieces grow by a character in each pass
            growing = growing[: np.count_nonzero(lengths[growing] > depth)]
            slots = self._insert(node[growing] << 20 | pieces.values[pieces.offsets[growing] + depth])
            fresh = slots[self.values[slots] == EMPTY]
            self.values[fresh] = np.arange(len(fresh))  # of pieces that share a slot the last stays, and numbers it
            fresh = fresh[self.values[fresh] == np.arange(len(fresh))]
            self.values[fresh] = np.arange(nodes, nodes + len(fresh))
            node[growing] = self.values[slots]
            nodes += len(fresh)
        self.piece_at = np.full(nodes, EMPTY, dtype=np.int32)
        self.piece_at[node] = ids

    @classmethod
    def of(cls, units: Sequence[str], character: NDArray[np.int32], first: int, unknown: int) -> PieceTrie:
        """The trie of the units from the `first` on. `character` has the id of each code point; units with a character
        that has none (`unknown`), or longer than the words that are read, cannot be reached and are left out."""
        lengths = np.fromiter(map(len, units[first:]), dtype=np.int64, count=len(units) - first)
        codes = np.append(codes_of("".join(units[first:])), [0, 0])
        starts = offsets_of(lengths)[:-1]
        continues = (lengths > 2) & (codes[starts] == HASH_SIGN) & (codes[starts + 1] == HASH_SIGN)
        spelled = Ragged(character[codes[:-2]], offsets_of(lengths))
        missing = np.bincount(spelled.owners[spelled.values == unknown], minlength=len(lengths))
        missing -= continues * (2 * (character[HASH_SIGN] == unknown))
        kept = ((missing == 0) & (lengths > 0) & (lengths - 2 * continues <= LONGEST)).nonzero()[0]
        cut = 2 * continues[kept]
        lengths, starts = lengths[kept] - cut, starts[kept] + cut
        offsets = offsets_of(lengths)
        values = spelled.values[spread(starts - offsets[:-1], lengths) + np.arange(offsets[-1])]
        return cls(Ragged(values, offsets), continues[kept], kept + first)

    def _insert(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The slot of each key; a key that has none yet is put into a free one."""
        slots = self._slot(keys)
        left = np.arange(len(keys))
        while len(left):
            at, new = slots[left], keys[left]
            free = self.keys[at] == EMPTY
            self.keys[at[free]] = new[free]  # of several that want one slot, the last stays
            left = left[self.keys[at] != new]
            slots[left] = (slots[left] + 1) & (len(self.keys) - 1)
        return slots

    def _slot(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        mixed: NDArray[np.uint64] = keys.view(np.uint64) * np.uint64(HASH)
        slots: NDArray[np.int64] = (mixed >> np.uint64(64 - self.bits)).view(np.int64)
        return slots

    def child(self, nodes: NDArray[np.integer], characters: NDArray[np.integer]) -> NDArray[np.int32]:
        """The node that each (node, character) leads to, or -1."""
        keys = nodes.astype(np.int64) << 20 | characters
        slots = self._slot(keys)
        there, out = self.keys[slots], self.values[slots]
        wrong = ((there != keys) & (there != EMPTY)).nonzero()[0]
        while len(wrong):
            slots[wrong] = (slots[wrong] + 1) & (len(self.keys) - 1)
            there, out[wrong] = self.keys[slots[wrong]], self.values[slots[wrong]]
            wrong = wrong[(there != keys[wrong]) & (there != EMPTY)]
        return out

    def split(self, words: Ragged, unknown: int) -> Ragged:
        """Words as rows of character ids -> rows of piece ids; a word that cannot be split whole is [unknown]."""
        piece, following = self._longest(words)
        word = words.lengths.nonzero()[0]
        at, end = words.offsets[word], words.offsets[word + 1]
        owners, pieces = [word[:0]], [piece[:0]]
        good = np.ones(len(words), dtype=np.bool_)
        while len(word):  # all words go on by a piece in each pass
            owners.append(word)
            pieces.append(piece[at])
            good[word[piece[at] == EMPTY]] = False
            at = following[at]
            going = (at < end).nonzero()[0]
            word, at, end = word[going], at[going], end[going]
        owner, chosen, bad = np.concatenate(owners), np.concatenate(pieces), (~good).nonzero()[0]
        kept = good[owner]
        owner = np.concatenate([owner[kept], bad])
        chosen = np.concatenate([chosen[kept], np.full(len(bad), unknown, dtype=np.int32)])
        order = np.argsort(owner, kind="stable")  # passes emit in reading order, so stable keeps it
        return Ragged(chosen[order], offsets_of(np.bincount(owner, minlength=len(words))))

    def _longest(self, words: Ragged) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """For each character of the words: the longest piece that is spelled from there on, EMPTY where there is none,
        and where that ends; then the word's end. They are looked for side by side, a character further in each pass."""
        size = len(words.values)
        end, piece = spread(words.offsets[1:], words.lengths), np.full(size, EMPTY, dtype=np.int32)
        following, begin, node = end.copy(), np.arange(size), np.full(size, CONTINUE, dtype=np.int32)
        node[words.offsets[:-1][words.lengths > 0]] = START
        at = begin
        while len(begin):
            child = self.child(node, words.values[at])
            going = (child != EMPTY).nonzero()[0]
            begin, at, node = begin[going], at[going] + 1, child[going]
            found = self.piece_at[node]
            ends = (found != EMPTY).nonzero()[0]
            piece[begin[ends]], following[begin[ends]] = found[ends], at[ends]
            inside = (at < end[begin]).nonzero()[0]
            begin, at, node = begin[inside], at[inside], node[inside]
        return piece, following
