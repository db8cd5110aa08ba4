"""Greedy longest-match WordPiece over many words at once, with numpy alone.

All pieces hang in one trie with two roots: one for pieces that start a word, one for pieces that go on (`##ing`).
The words of a batch walk it side by side, a character per pass, so Python's cost is per pass, not per word. A step
of the walk is one look-up of (node, character) in an open-addressing hash table of plain arrays. Kept by hand, since
tokenizers splits a word at a time, with Python objects for each; the numba engine walks the same arrays.
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
        kept = np.flatnonzero((missing == 0) & (lengths > 0) & (lengths - 2 * continues <= LONGEST))
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
        mixed: NDArray[np.uint64] = keys.astype(np.uint64) * np.uint64(HASH)
        slots: NDArray[np.int64] = (mixed >> np.uint64(64 - self.bits)).astype(np.int64)
        return slots

    def child(self, nodes: NDArray[np.integer], characters: NDArray[np.integer]) -> NDArray[np.int32]:
        """The node that each (node, character) leads to, or -1."""
        keys = nodes.astype(np.int64) << 20 | characters
        slots = self._slot(keys)
        there, out = self.keys[slots], self.values[slots]
        wrong = np.flatnonzero((there != keys) & (there != EMPTY))
        while len(wrong):
            slots[wrong] = (slots[wrong] + 1) & (len(self.keys) - 1)
            there, out[wrong] = self.keys[slots[wrong]], self.values[slots[wrong]]
            wrong = wrong[(there != keys[wrong]) & (there != EMPTY)]
        return out

    def split(self, words: Ragged, unknown: int) -> Ragged:
        """Words as rows of character ids -> rows of piece ids; a word that cannot be split whole is [unknown]."""
        word = np.flatnonzero(words.lengths)
        at, end = words.offsets[word], words.offsets[word + 1]
        node = np.full(len(word), START, dtype=np.int64)
        best = np.full(len(word), EMPTY, dtype=np.int32)  # the longest piece met since the last cut …
        best_end = at.copy()  # … and where it ends
        empty = np.empty(0, dtype=np.int64)
        owners, pieces, failed = [empty], [empty.astype(np.int32)], [empty]  # words and their pieces, words without
        characters = np.append(words.values.astype(np.int64), 0)
        while len(word):
            child = self.child(node, characters[at])
            walks = (child != EMPTY) & (at < end)
            node, at = np.where(walks, child, node), at + walks
            piece = self.piece_at[node]
            ends_piece = walks & (piece != EMPTY)
            best, best_end = np.where(ends_piece, piece, best), np.where(ends_piece, at, best_end)

            stuck = np.flatnonzero(~walks)
            if not len(stuck):
                continue
            dead = stuck[best[stuck] == EMPTY]  # no piece fits here: the whole word is unknown
            failed.append(word[dead])
            cut = stuck[best[stuck] != EMPTY]
            owners.append(word[cut])
            pieces.append(best[cut])
            at[cut], node[cut], best[cut] = best_end[cut], CONTINUE, EMPTY
            done = np.concatenate([dead, cut[at[cut] == end[cut]]])
            if len(done):
                keep = np.ones(len(word), dtype=bool)
                keep[done] = False
                word, at, end, node = word[keep], at[keep], end[keep], node[keep]
                best, best_end = best[keep], best_end[keep]
        owner, piece, bad = np.concatenate(owners), np.concatenate(pieces), np.concatenate(failed)
        good = np.ones(len(words), dtype=bool)
        good[bad] = False
        kept = good[owner]
        owner = np.concatenate([owner[kept], bad])
        piece = np.concatenate([piece[kept], np.full(len(bad), unknown, dtype=np.int32)])
        order = np.argsort(owner, kind="stable")  # passes emit in reading order, so stable keeps it
        return Ragged(piece[order], offsets_of(np.bincount(owner, minlength=len(words))))
