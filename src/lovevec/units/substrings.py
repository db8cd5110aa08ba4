"""Substrings as units: ζ of the rivals that look at all the runs of characters a word has.

    substrings   the known ones of `<word>`, in any order                     a bag: BoS, KVQ-FH
    spans        all runs of the word itself, each at its place, known or not  what PBoS cuts words by

    cat -> <ca cat at> <cat cat> <cat>                lengths 3 to 6, < and > counted
    cat -> c ca a cat at t                            by where they end, then by where they begin

All known substrings hang in one trie. Every place of every word walks it side by side, a character per pass, so nothing
is spelled out and a word costs no more than the known substrings that it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from lovevec.units.ngrams import BEGIN, END, framed
from lovevec.units.ragged import Ragged, offsets_of, spread
from lovevec.units.trie import EMPTY, START, PieceTrie
from lovevec.units.vocabulary import PAD, SPECIAL, UNK, UnitVocabulary, writable

Numbers = NDArray[np.int64]
ENDS = str.maketrans({BEGIN: "<", END: ">"})


def substring_vocabulary(
    words: Sequence[str],
    shortest: int,
    longest: int,
    seen: int,
    most: int,
    frame: bool,
    buckets: int = 0,
    ngrams: int = 0,
    hashes: int = 1,
) -> UnitVocabulary:
    """The substrings of the words that stand there at least `seen` times, the `most` frequent of them (of equals those
    met first). With `frame` the words' ends count as characters; without, all single characters are units too."""
    counts: Counter[str] = Counter()
    for word in filter(writable, words):
        shown = f"{chr(BEGIN)}{word}{chr(END)}" if frame else word
        size = len(shown)
        counts.update(
            shown[low : low + length]
            for length in range(shortest, min(longest, size) + 1)
            for low in range(size - length + 1)
        )
    always = () if frame else sorted({character for word in filter(writable, words) for character in word})
    common = (text for text, count in counts.most_common(most) if count >= seen and text not in SPECIAL)
    return UnitVocabulary(tuple(dict.fromkeys([*SPECIAL, *always, *common])), buckets, ngrams, hashes)


def only_seen(vocabulary: UnitVocabulary, seen: NDArray[np.integer]) -> UnitVocabulary:
    """The same without the units that are not among the ids `seen`: what training never saw is unknown."""
    kept = np.zeros(len(vocabulary), dtype=np.bool_)
    kept[: len(SPECIAL)] = True
    kept[seen] = True
    return replace(vocabulary, units=tuple(compress(vocabulary.units, kept.tolist())))


def substring_trie(units: Sequence[str]) -> tuple[NDArray[np.int32], dict[int, int], PieceTrie]:
    """The trie of all units but the special ones; with the id of each code point ([UNK]'s for those that no unit has),
    and the same as a dictionary of those that have one."""
    lengths = np.fromiter(map(len, units), dtype=np.int64, count=len(units))[len(SPECIAL) :]
    text = "".join(units[len(SPECIAL) :]).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(text, dtype=np.uint32)
    alphabet = {code: number for number, code in enumerate(np.unique(codes).tolist(), len(SPECIAL))}
    character = np.full(0x110000, UNK, dtype=np.int32)
    character[list(alphabet)] = list(alphabet.values())
    pieces = Ragged.from_lengths(character[codes], lengths)
    ids = np.arange(len(SPECIAL), len(units))
    return character, alphabet, PieceTrie(pieces, np.zeros(len(lengths), dtype=np.bool_), ids)


def known_runs(spelled: Ragged, trie: PieceTrie) -> Iterator[tuple[int, Numbers, Numbers]]:
    """For each length: where a known substring of this length begins in `spelled.values`, and which unit it is."""
    left = spread(spelled.offsets[1:], spelled.lengths) - np.arange(len(spelled.values))
    place = np.arange(len(spelled.values))
    node: NDArray[np.integer] = np.full(len(place), START, dtype=np.int64)
    length = 0
    while len(place):
        node = trie.child(node, spelled.values[place + length])
        length += 1
        there = node != EMPTY
        place, node = place[there], node[there]
        unit = trie.piece_at[node]
        known = unit != EMPTY
        yield length, place[known], unit[known]
        more = left[place] > length
        place, node = place[more], node[more]


def bags(codes: Ragged, character: NDArray[np.int32], trie: PieceTrie) -> Ragged:
    """Words as rows of code points -> their known substrings, as unit ids; [UNK] alone where there are none."""
    ends = framed(codes)
    spelled = Ragged(character[ends.values], ends.offsets)
    owner = spread(np.arange(len(codes)), spelled.lengths)
    found = [(owner[place], unit) for _, place, unit in known_runs(spelled, trie)]
    owners = np.concatenate([np.empty(0, dtype=np.int64), *(words for words, _ in found)])
    silent = np.flatnonzero(np.bincount(owners, minlength=len(codes)) == 0)
    owners = np.concatenate([owners, silent])
    units = np.concatenate([*(unit for _, unit in found), np.full(len(silent), UNK, dtype=np.int32)])
    return Ragged(units[np.argsort(owners, kind="stable")], offsets_of(np.bincount(owners, minlength=len(codes))))


def all_spans(codes: Ragged, character: NDArray[np.int32], trie: PieceTrie) -> Ragged:
    """Words as rows of code points -> all their runs as unit ids: n(n+1)/2 of n characters, that of characters
    i … j-1 at place j(j-1)/2 + i. [UNK] stands for an unknown character, [PAD] for a longer run that is unknown. An
    empty word counts as one unknown character."""
    sizes = np.maximum(codes.lengths, 1)
    offsets = offsets_of(sizes * (sizes + 1) // 2)
    units = np.full(offsets[-1], PAD, dtype=np.int32)
    inside = np.arange(offsets_of(sizes)[-1]) - spread(offsets_of(sizes)[:-1], sizes)
    units[spread(offsets[:-1], sizes) + inside * (inside + 1) // 2 + inside] = UNK
    begin = np.arange(len(codes.values)) - spread(codes.offsets[:-1], codes.lengths)
    first = spread(offsets[:-1], codes.lengths)
    for length, place, unit in known_runs(Ragged(character[codes.values], codes.offsets), trie):
        end = begin[place] + length
        units[first[place] + end * (end - 1) // 2 + begin[place]] = unit
    return Ragged(units, offsets)


def shown(units: Sequence[str]) -> list[str]:
    """Substrings for people, the word's ends as < and >."""
    return [unit.translate(ENDS) for unit in units]
