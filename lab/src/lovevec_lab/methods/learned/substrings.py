"""Substrings: what BoS, KVQ-FH and PBoS read of a word, all the runs of characters that it has.

    bags    the known ones of `<word>`, in any order                      BoS, KVQ-FH
    spans   all runs of the word itself, each at its place, known or not  what PBoS cuts words by

    cat -> <ca cat at> <cat cat> <cat>                lengths 3 to 6, < and > counted
    cat -> c ca a cat at t                            by where they end, then by where they begin

All known substrings hang in one trie. Every place of every word walks it side by side, a character per pass, so nothing
is spelled out and a word costs no more than the known substrings that it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import base_letters, codes_of, normalise, to_codes
from lovevec.units.ngrams import BEGIN, END, with_ends
from lovevec.units.ragged import Ragged, offsets_of, spread
from lovevec.units.trie import EMPTY, START, PieceTrie
from lovevec.units.vocabulary import PAD, SPECIAL, UNK, writable

Numbers = NDArray[np.int64]


class Substrings:
    """The substrings that count, by number: those of `units`, the first of which are the special ones."""

    def __init__(self, units: Sequence[str]) -> None:
        self.units = tuple(units)
        lengths = np.fromiter(map(len, self.units), dtype=np.int64, count=len(self.units))[len(SPECIAL) :]
        codes = codes_of("".join(self.units[len(SPECIAL) :]))
        alphabet = {code: number for number, code in enumerate(np.unique(codes).tolist(), len(SPECIAL))}
        self.character = np.full(0x110000, UNK, dtype=np.int32)
        self.character[list(alphabet)] = list(alphabet.values())
        pieces = Ragged.from_lengths(self.character[codes], lengths)
        numbers = np.arange(len(SPECIAL), len(self.units))
        self.trie = PieceTrie(pieces, np.zeros(len(lengths), dtype=np.bool_), numbers)
        for code, number in base_letters(alphabet):
            self.character[code] = number

    def bags(self, words: Sequence[str]) -> Ragged:
        """The known substrings of each `<word>`; [UNK] alone where there are none."""
        codes = with_ends(to_codes(words))
        spelled = Ragged(self.character[codes.values], codes.offsets)
        owner = spread(np.arange(len(codes)), spelled.lengths)
        runs = [(owner[place], unit) for _, place, unit in self._known_runs(spelled)]
        owners = np.concatenate([np.empty(0, dtype=np.int64), *(words for words, _ in runs)])
        silent = np.flatnonzero(np.bincount(owners, minlength=len(codes)) == 0)
        owners = np.concatenate([owners, silent])
        units = np.concatenate([*(unit for _, unit in runs), np.full(len(silent), UNK, dtype=np.int32)])
        return Ragged(units[np.argsort(owners, kind="stable")], offsets_of(np.bincount(owners, minlength=len(codes))))

    def spans(self, words: Sequence[str]) -> Ragged:
        """All runs of each word: n(n+1)/2 of n characters, that of characters i … j-1 at place j(j-1)/2 + i. [UNK]
        stands for an unknown character, [PAD] for a longer run that is unknown. An empty word counts as one unknown
        character."""
        codes = to_codes(words)
        sizes = np.maximum(codes.lengths, 1)
        offsets = offsets_of(sizes * (sizes + 1) // 2)
        units = np.full(offsets[-1], PAD, dtype=np.int32)
        inside = np.arange(offsets_of(sizes)[-1]) - spread(offsets_of(sizes)[:-1], sizes)
        units[spread(offsets[:-1], sizes) + inside * (inside + 1) // 2 + inside] = UNK
        begin = np.arange(len(codes.values)) - spread(codes.offsets[:-1], codes.lengths)
        first = spread(offsets[:-1], codes.lengths)
        for length, place, unit in self._known_runs(Ragged(self.character[codes.values], codes.offsets)):
            end = begin[place] + length
            units[first[place] + end * (end - 1) // 2 + begin[place]] = unit
        return Ragged(units, offsets)

    def _known_runs(self, spelled: Ragged) -> Iterator[tuple[int, Numbers, Numbers]]:
        """For each length: where a known substring of this length begins in `spelled.values`, and its number."""
        left = spread(spelled.offsets[1:], spelled.lengths) - np.arange(len(spelled.values))
        place = np.arange(len(spelled.values))
        node: NDArray[np.integer] = np.full(len(place), START, dtype=np.int64)
        length = 0
        while len(place):
            node = self.trie.child(node, spelled.values[place + length])
            length += 1
            there = node != EMPTY
            place, node = place[there], node[there]
            unit = self.trie.piece_at[node]
            known = unit != EMPTY
            yield length, place[known], unit[known]
            more = left[place] > length
            place, node = place[more], node[more]


def substrings_of(
    words: Sequence[str], shortest: int, longest: int, *, frame: bool, most: int | None = None
) -> tuple[str, ...]:
    """The special units, then the substrings of the words, the `most` frequent of them (of equals those met first).
    With `frame` the words' ends count as characters; without, all single characters are units too."""
    spelled = [normalise(word) for word in words if writable(word)]
    counts: Counter[str] = Counter()
    for word in spelled:
        shown = f"{chr(BEGIN)}{word}{chr(END)}" if frame else word
        counts.update(
            shown[low : low + length]
            for length in range(shortest, min(longest, len(shown)) + 1)
            for low in range(len(shown) - length + 1)
        )
    always = () if frame else sorted(set("".join(spelled)))
    return tuple(dict.fromkeys([*SPECIAL, *always, *(text for text, _ in counts.most_common(most))]))
