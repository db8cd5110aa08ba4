"""Greedy longest-match WordPiece over many words at once, with numpy alone.

All pieces hang in one trie with two roots: one for pieces that start a word, one for pieces that go on (`##ing`).
The words of a batch walk it side by side, a character per pass, so Python's cost is per pass, not per word. A step
of the walk is one look-up of (node, character) in an open-addressing hash table of plain arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.ragged import Ragged, offsets_of

START, CONTINUE = 0, 1
EMPTY = -1


class PieceTrie:
    """Pieces as rows of character ids, each with the id it stands for and whether it starts or continues a word."""

    def __init__(self, pieces: Sequence[Sequence[int]], continues: Sequence[bool], ids: Sequence[int]) -> None:
        children: dict[int, int] = {}
        nodes = 2
        ends: list[tuple[int, int]] = []
        for piece, go_on, piece_id in zip(pieces, continues, ids, strict=True):
            node = CONTINUE if go_on else START
            for character in piece:
                key = node << 20 | character
                child = children.get(key)
                if child is None:
                    child = children[key] = nodes
                    nodes += 1
                node = child
            ends.append((node, piece_id))
        self.piece_at = np.full(nodes, EMPTY, dtype=np.int32)
        for node, piece_id in ends:
            self.piece_at[node] = piece_id
        self._fill_table(
            np.fromiter(children.keys(), dtype=np.int64, count=len(children)),
            np.fromiter(children.values(), dtype=np.int32, count=len(children)),
        )

    def _fill_table(self, keys: NDArray[np.int64], values: NDArray[np.int32]) -> None:
        self.bits = max(4, int(np.ceil(np.log2(max(len(keys), 1) * 3))))
        size = 1 << self.bits
        self.keys = np.full(size, EMPTY, dtype=np.int64)
        self.values = np.full(size, EMPTY, dtype=np.int32)
        left = np.arange(len(keys))
        slots = self._slot(keys)
        while len(left):
            free = left[self.keys[slots[left]] == EMPTY]
            self.keys[slots[free]] = keys[free]  # of several that want one slot, the last stays
            placed = self.keys[slots[left]] == keys[left]
            self.values[slots[left[placed]]] = values[left[placed]]
            left = left[~placed]
            slots[left] = (slots[left] + 1) & (size - 1)

    def _slot(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return (mixed >> np.uint64(64 - self.bits)).astype(np.int64)

    def child(self, nodes: NDArray[np.integer], characters: NDArray[np.integer]) -> NDArray[np.int32]:
        """The node that each (node, character) leads to, or -1."""
        keys = nodes.astype(np.int64) << 20 | characters
        slots = self._slot(keys)
        found = self.keys[slots]
        out = self.values[slots]
        wrong = np.flatnonzero((found != keys) & (found != EMPTY))
        while len(wrong):
            slots[wrong] = (slots[wrong] + 1) & (len(self.keys) - 1)
            found = self.keys[slots[wrong]]
            out[wrong] = self.values[slots[wrong]]
            wrong = wrong[(found != keys[wrong]) & (found != EMPTY)]
        return out

    def split(self, words: Ragged, unknown: int) -> Ragged:
        """Words as rows of character ids -> rows of piece ids; a word that cannot be split whole is [unknown]."""
        word = np.flatnonzero(words.lengths)
        at = words.offsets[word].copy()
        end = words.offsets[word + 1]
        node = np.full(len(word), START, dtype=np.int64)
        best = np.full(len(word), EMPTY, dtype=np.int32)  # the longest piece met since the last cut …
        best_end = at.copy()  # … and where it ends
        emitted: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        failed: list[NDArray[np.int64]] = []
        characters = np.append(words.values.astype(np.int64), 0)
        while len(word):
            child = self.child(node, characters[at])
            walks = (child != EMPTY) & (at < end)
            node = np.where(walks, child, node)
            at = at + walks
            piece = self.piece_at[node]
            ends_piece = walks & (piece != EMPTY)
            best = np.where(ends_piece, piece, best)
            best_end = np.where(ends_piece, at, best_end)

            stuck = np.flatnonzero(~walks)
            if not len(stuck):
                continue
            dead = stuck[best[stuck] == EMPTY]  # no piece fits here: the whole word is unknown
            failed.append(word[dead])
            cut = stuck[best[stuck] != EMPTY]
            emitted.append((word[cut], best[cut]))
            at[cut] = best_end[cut]
            node[cut] = CONTINUE
            best[cut] = EMPTY
            done = np.concatenate([dead, cut[at[cut] == end[cut]]])
            if len(done):
                keep = np.ones(len(word), dtype=bool)
                keep[done] = False
                word, at, end, node = word[keep], at[keep], end[keep], node[keep]
                best, best_end = best[keep], best_end[keep]
        return self._collect(len(words), emitted, failed, unknown)

    @staticmethod
    def _collect(
        rows: int,
        emitted: list[tuple[NDArray[np.int64], NDArray[np.int32]]],
        failed: list[NDArray[np.int64]],
        unknown: int,
    ) -> Ragged:
        bad = np.concatenate(failed) if failed else np.empty(0, dtype=np.int64)
        owner = np.concatenate([*(w for w, _ in emitted), np.empty(0, dtype=np.int64)])
        piece = np.concatenate([*(p for _, p in emitted), np.empty(0, dtype=np.int32)])
        if len(bad):
            is_bad = np.zeros(rows, dtype=bool)
            is_bad[bad] = True
            good = ~is_bad[owner]
            owner = np.concatenate([owner[good], bad])
            piece = np.concatenate([piece[good], np.full(len(bad), unknown, dtype=np.int32)])
        order = np.argsort(owner, kind="stable")  # passes emit in reading order, so stable keeps it
        return Ragged(piece[order], offsets_of(np.bincount(owner, minlength=rows)))
