"""Which records to compare: those that have rare keys in common, so that a million by a million is not 10^12 pairs.

The keys of a record are its words, the trigrams of its letters, and for two words in a row the three letters that each
begins with. A key that n of N records have weighs log((N + 1) / (n + 1)) squared, and a pair has the share

    share(query, record) = Σ weight(keys in common) / √(Σ weight(keys of record) · Σ weight(keys of query))

A query looks at its rarest keys until POSTINGS records have been looked at. Weights are whole numbers, so that sums are
the same however they are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core, is_compiled
from lovevec.engine.threads import engine_threads, in_chunks
from lovevec.progress import Phase
from lovevec.search.records import Words
from lovevec.units.ragged import Ragged, offsets_of

WEIGHT_UNITS = 32  # of a squared logarithm
MAX_JOIN_WEIGHT, MAX_JOIN_KEYS = 1 << 14, 1 << 16  # so that a sum is an int32; native/core.h
POSTINGS = 6000  # that a query looks at; more only for the first of its keys
QUERIES_PER_CHUNK = 65_536  # that a thread takes at a time: the core checks the whole table each time
QUERIES_PER_BLOCK = 256  # that numpy computes at a time
FEW_RECORDS = 1000  # fewer than these do not tell what is rare: they count as so many
BEGINNING = 3  # letters of a word
WORD_KEY, GRAM_KEY, PAIR_KEY = (np.uint64(kind << 62) for kind in range(3))


def keys_of(words: Words, strings: Sequence[str]) -> Ragged:
    """[records] rows of keys as numbers of 64 bits, each once, for `strings`, the words by their numbers."""
    grams, pairs = _word_grams(strings), _beginnings(strings)
    values, offsets = words.words.values, words.words.offsets
    of_words = Ragged(values.astype(np.uint64) | WORD_KEY, offsets)
    of_grams = grams.take(values)
    gram_offsets = of_grams.offsets[offsets]
    first, second = pairs[values[:-1]], pairs[values[1:]]
    inside = np.ones(max(len(values) - 1, 0), np.bool_)
    inside[offsets[1:-1] - 1] = False
    low, high = np.minimum(first, second)[inside], np.maximum(first, second)[inside]
    mixed = (low * np.uint64(0x9E3779B97F4A7C15) + high) * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(2)
    owners = np.concatenate(
        [words.words.owners, Ragged(of_grams.values, gram_offsets).owners, words.words.owners[:-1][inside]]
    )
    keys = np.concatenate([of_words.values, of_grams.values, mixed | PAIR_KEY])
    distinct, numbers = np.unique(keys, return_inverse=True)
    pairs_of = np.unique(owners * max(len(distinct), 1) + numbers)
    owners, numbers = np.divmod(pairs_of, max(len(distinct), 1))
    return Ragged(distinct[numbers], offsets_of(np.bincount(owners, minlength=len(words))))


def _word_grams(strings: Sequence[str]) -> Ragged:
    """The trigrams of ` word ` as keys."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    codes = np.frombuffer("".join(f" {one} " for one in strings).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = codes.astype(np.uint64)
    if len(codes) < BEGINNING:
        return Ragged(np.zeros(0, np.uint64), np.zeros(len(strings) + 1, np.int64))
    grams = codes[:-2] << np.uint64(42) | codes[1:-1] << np.uint64(21) | codes[2:]
    mixed = grams * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(2) | GRAM_KEY
    starts = np.repeat(2 * np.arange(len(strings)), lengths) + np.arange(int(lengths.sum()))
    return Ragged(mixed[starts], offsets_of(lengths))


def _beginnings(strings: Sequence[str]) -> NDArray[np.uint64]:
    """[strings] the first letters of each as a number."""
    numbers: dict[str, int] = {}
    return np.fromiter((numbers.setdefault(one[:BEGINNING], hash_of(one[:BEGINNING])) for one in strings), np.uint64)


def hash_of(letters: str) -> int:
    """A number of 62 bits for a few letters, the same at any time."""
    state = 0
    for letter in letters:
        state = (state * 0x9E3779B97F4A7C15 + ord(letter) + 1) & 0xFFFFFFFFFFFFFFFF
    return state >> 2


class Candidates(NamedTuple):
    """Pairs to compare, those of a query in a row, the best share first.

    queries, records  [pairs] row numbers
    shares            [pairs] float32, from 0 to 1
    """

    queries: NDArray[np.int64]
    records: NDArray[np.int64]
    shares: NDArray[np.float32]

    def some(self, which: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Candidates:
        """These pairs."""
        return Candidates(self.queries[which], self.records[which], self.shares[which])


class Blocks:
    """A table of records by their keys.

    :param keys: [records] rows of keys, as `keys_of` gives them.
    """

    def __init__(self, keys: Ragged, compiled: bool | None = None) -> None:
        self.compiled = is_compiled("auto") if compiled is None else compiled
        self.count = len(keys)
        order = np.argsort(keys.values, kind="stable")
        ordered = keys.values[order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        self.keys = ordered[starts]  # in order
        self.offsets = np.append(starts, len(ordered)).astype(np.int64)
        self.rows = keys.owners[order].astype(np.int32)
        self.sizes = np.diff(self.offsets)
        self.weights = self._weights_of(self.sizes)
        self.own, self.numbers = keys, np.empty(len(order), np.int32)
        self.numbers[order] = np.repeat(np.arange(len(starts), dtype=np.int32), self.sizes)
        sums = np.bincount(keys.owners, self.weights[self.numbers], self.count)
        self.scales = (1 / np.sqrt(np.maximum(sums, 1))).astype(np.float32)

    def _weights_of(self, sizes: NDArray[np.integer]) -> NDArray[np.int32]:
        rarity = np.log((max(self.count, FEW_RECORDS) + 1) / (np.minimum(sizes, self.count) + 1))
        weights: NDArray[np.int32] = np.clip(np.rint(WEIGHT_UNITS * rarity**2), 1, MAX_JOIN_WEIGHT).astype(np.int32)
        return weights

    def candidates(self, keys: Ragged, most: int, phase: Phase | None = None) -> Candidates:
        """For each query, by its keys, up to `most` records with the highest shares; of equal ones the first."""
        if keys is self.own:
            places, known = self.numbers.astype(np.int64), np.ones(len(self.numbers), np.bool_)
        else:
            places = np.minimum(np.searchsorted(self.keys, keys.values), max(len(self.keys) - 1, 0))
            known = self.keys[places] == keys.values if len(self.keys) else np.zeros(len(places), np.bool_)
        of_nothing = int(self._weights_of(np.zeros(1, np.int64))[0])
        own = np.where(known, self.weights[places], of_nothing) if len(self.keys) else np.full(len(places), of_nothing)
        totals = np.maximum(np.bincount(keys.owners, own, len(keys)), 1)
        some = self._rarest(
            Ragged(places[known].astype(np.int32), offsets_of(np.bincount(keys.owners[known], minlength=len(keys))))
        )
        most = min(most, self.count)
        rows, sums = np.full((len(keys), most), -1, np.int32), np.zeros((len(keys), most), np.int32)

        def run(part: slice) -> None:
            low, high = some.offsets[part.start], some.offsets[min(part.stop, len(some))]
            ends = some.offsets[part.start : min(part.stop, len(some)) + 1] - low
            self._join(np.ascontiguousarray(some.values[low:high]), ends, rows[part], sums[part])
            if phase is not None:
                phase.advance(len(ends) - 1)

        in_chunks(run, len(keys), QUERIES_PER_CHUNK, engine_threads())
        found = rows >= 0
        queries, _ = np.nonzero(found)
        records = rows[found].astype(np.int64)
        shares = sums[found] * self.scales[records] / np.sqrt(totals[queries])
        return Candidates(queries, records, np.minimum(shares, 1).astype(np.float32))

    def _rarest(self, keys: Ragged) -> Ragged:
        """The rarest keys of each query, as long as not too many records have them."""
        sizes = self.sizes[keys.values]
        owners = keys.owners
        # Stable: of equally rare keys of a record the lower one is first.
        order = np.argsort(owners * (int(sizes.max(initial=0)) + 1) + sizes, kind="stable")
        seen = np.cumsum(sizes[order])
        before = np.append(0, seen)[keys.offsets[:-1]]
        keep = seen - before[owners] <= POSTINGS
        rank = np.arange(len(order)) - keys.offsets[owners]
        keep |= rank == 0
        keep &= rank < MAX_JOIN_KEYS
        return Ragged(
            keys.values[order][keep].astype(np.int32), offsets_of(np.bincount(owners[keep], minlength=len(keys)))
        )

    def _join(
        self, keys: NDArray[np.int32], ends: NDArray[np.int64], rows: NDArray[np.int32], sums: NDArray[np.int32]
    ) -> None:
        if self.compiled:
            core().join(self.offsets, self.rows, self.weights, self.scales, keys, ends, rows, sums)
            return
        for low in range(0, len(rows), QUERIES_PER_BLOCK):
            high = min(low + QUERIES_PER_BLOCK, len(rows))
            part = keys[ends[low] : ends[high]]
            own = np.repeat(np.arange(high - low), np.diff(ends[low : high + 1]))
            postings = Ragged(self.rows, self.offsets).take(part)
            pairs = np.repeat(own, postings.lengths) * self.count + postings.values
            distinct, where = np.unique(pairs, return_inverse=True)
            total = np.bincount(where, np.repeat(self.weights[part], postings.lengths), len(distinct)).astype(np.int32)
            queries, records = distinct // max(self.count, 1), distinct % max(self.count, 1)
            shares = total * self.scales[records].astype(np.float64)
            order = np.lexsort((records, -shares, queries))
            starts = offsets_of(np.bincount(queries, minlength=high - low))
            rank = np.arange(len(order)) - starts[queries]
            keep = rank < rows.shape[1]
            rows[low:high][queries[keep], rank[keep]] = records[order][keep]
            sums[low:high][queries[keep], rank[keep]] = total[order][keep]
