"""Candidates and alignments in one compiled pass (numba), string after string: index.py and alignment.py say what is
computed, this file and lanes.py how fast. Everything is a whole number, so that both have the very same results.

    buckets     of the next string are fetched while this one is read
    scores      of all words of a string's buckets, in one loop without a branch
    the best    by counting how many have each score; only those of the last score that counts are put in order
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from lovevec.engine.kernel import compiled
from lovevec.near.alignment import Slips
from lovevec.near.index import (
    BITS,
    BYTE,
    FIRST_SEED,
    KEPT,
    KEYS,
    LEFT_OUT,
    LETTER_BITS,
    LETTERS,
    LONGEST,
    MOST_QUICK,
    PER_BUCKET,
    PREFIX,
    PRIME,
    SOUND_LENGTH,
    SOUND_SEED,
    TO_FIRST,
    TO_LENGTH,
    TO_RANK,
    WITHIN,
    Index,
)
from lovevec.near.lanes import align, scratch
from lovevec.near.symbols import Symbols
from lovevec.units.ragged import Ragged, offsets_of

WIDE = np.uint64(0xFFFFFFFF)
STEP, MIX = np.uint64(PRIME), np.uint64(0x2C1B3C6D)
START, SOUND_START = np.uint64(FIRST_SEED), np.uint64(SOUND_SEED)
MASKS = np.array(LEFT_OUT, dtype=np.int64)
BLOCK = 8192  # words
POOL = KEYS * PER_BUCKET + 1  # words of all buckets of a string, at most


class Compiled:
    """An index and slips, laid out for the pass.

    spelled   three bytes a letter of each word, from `starts` on: its symbol, the kind of slip that leaves it out, the
              number of the spelling that it makes with the letter before
    """

    def __init__(self, index: Index, symbols: Symbols, slips: Slips, rank_costs: NDArray[np.int32]) -> None:
        known = index.known
        one, two, _ = symbols.spellings
        found = index.__dict__.get("buckets") or buckets_of(known.symbols, known.lengths, symbols)
        starts = (3 * offsets_of(known.lengths)).astype(np.int32)
        self._words = len(known)
        self._constants = (
            (found.offsets.astype(np.int32), found.values.astype(np.int32, copy=False)),
            (symbols.folded, symbols.sound),
            index.records,
            (spelled_bytes(known.symbols, known.lengths, two, slips), starts, rank_costs),
            (slips.costs, slips.classes),
            (slips.substitution, one, two, slips.spellings),
        )

    def __call__(self, rows: Ragged, worth: int, places: NDArray[np.int32], costs: NDArray[np.int32]) -> None:
        """The cheapest candidates of each row, [rows, most] places in the index, and what they cost."""
        values = np.ascontiguousarray(rows.values, dtype=np.uint8)
        read_strings(values, rows.offsets, *self._constants, self._room(), worth, places, costs)

    def _room(self) -> tuple[Any, ...]:
        """Where a pass works: one for each thread, made by numpy, since numba would have to compile that too."""
        letters, heard = np.zeros(LONGEST, dtype=np.uint8), np.zeros(SOUND_LENGTH, dtype=np.uint8)
        marked, levels = np.zeros(self._words // 64 + 1, dtype=np.uint64), np.zeros(WITHIN + 1, dtype=np.int64)
        pool = np.zeros(POOL, dtype=np.int32), np.zeros(POOL, dtype=np.int32), marked, levels
        return letters, heard, np.zeros((2, KEYS), dtype=np.int64), pool, np.zeros(POOL, dtype=np.int64), scratch()


def spelled_bytes(
    symbols: NDArray[np.uint8], lengths: NDArray[np.int64], two: NDArray[np.uint8], slips: Slips
) -> NDArray[np.uint8]:
    """Three bytes a letter of each word, one word behind the other; some words at a time, since what is made on the way
    takes ten times the room."""
    parts = [np.zeros(0, dtype=np.uint8)]
    for low in range(0, len(symbols), BLOCK):
        rows, sizes = symbols[low : low + BLOCK], lengths[low : low + BLOCK]
        before = np.concatenate([np.zeros((len(rows), 1), dtype=np.uint8), rows[:, :-1]], axis=1)
        pairs = np.where(np.arange(LONGEST) > 0, two[before, rows], 0).astype(np.uint8)
        letters = np.stack([rows, slips.lost(rows, sizes), pairs], axis=2)
        parts.append(letters[np.arange(LONGEST) < sizes[:, None]].ravel())
    return np.concatenate(parts)


def buckets_of(symbols: NDArray[np.uint8], lengths: NDArray[np.int64], alphabet: Symbols) -> Ragged:
    """As index.py's, by counting instead of sorting."""
    values, counts = fill_buckets(symbols, lengths, alphabet.folded, alphabet.sound)
    return Ragged.from_lengths(values, counts)


@compiled
def mixed(state: Any) -> Any:
    """The bucket of a hash."""
    state = state ^ (state >> np.uint64(15))
    state = (state * MIX) & WIDE
    return (state ^ (state >> np.uint64(12))) >> np.uint64(32 - BITS)


@compiled
def pair_bit(one: Any, two: Any) -> Any:
    """The bit that stands for two neighboring letters."""
    state = ((one * np.uint64(257) + two) * np.uint64(0x9E3779B1)) & WIDE
    state = ((state ^ (state >> np.uint64(15))) * MIX) & WIDE
    return np.uint64(1) << (state >> np.uint64(26))


@compiled
def keys_of(letters: Any, length: Any, folded: Any, sound: Any, heard: Any, keys: Any) -> Any:
    """Bucket numbers of a word into `keys`, each once; returns how many."""
    count = 0
    prefix = min(length, PREFIX)
    for mask in MASKS:
        if mask >> prefix:
            continue
        state = START
        for place in range(prefix):
            if not (mask >> place) & 1:
                state = (state * STEP + np.uint64(folded[letters[place]])) & WIDE
        count = added(keys, count, mixed(state))
    size = 0
    for place in range(length):
        letter = sound[letters[place]]
        if letter and (size == 0 or heard[size - 1] != letter):
            heard[size] = letter
            size += 1
            if size == SOUND_LENGTH:
                break
    for left_out in range(-1, size):
        state = SOUND_START
        for place in range(size):
            if place != left_out:
                state = (state * STEP + np.uint64(heard[place])) & WIDE
        count = added(keys, count, mixed(state))
    return count


@compiled
def added(keys: Any, count: Any, key: Any) -> Any:
    """A key that is not there yet is put behind the others."""
    for place in range(count):
        if keys[place] == key:
            return count
    keys[count] = key
    return count + 1


@compiled
def fill_buckets(symbols: Any, lengths: Any, folded: Any, sound: Any) -> Any:
    """The words of each bucket in order, up to PER_BUCKET, and how many there are."""
    keys, heard = np.zeros(KEYS, dtype=np.int64), np.zeros(SOUND_LENGTH, dtype=np.uint8)
    counts = np.zeros(1 << BITS, dtype=np.int64)
    for word in range(len(lengths)):
        for place in range(keys_of(symbols[word], lengths[word], folded, sound, heard, keys)):
            counts[keys[place]] = min(counts[keys[place]] + 1, PER_BUCKET)
    ends = np.cumsum(counts)
    free = ends - counts
    values = np.zeros(ends[-1], dtype=np.int32)
    for word in range(len(lengths)):
        for place in range(keys_of(symbols[word], lengths[word], folded, sound, heard, keys)):
            key = keys[place]
            if free[key] < ends[key]:
                values[free[key]] = word
                free[key] += 1
    return values, counts


@intrinsic
def _popcount(typing: Any, bits: Any) -> Any:
    """How many bits are set: one instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount: Any = _popcount


@intrinsic
def _prefetch(typing: Any, array: Any, place: Any) -> Any:
    """A hint that array.flat[place] is needed soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(hint, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, place), generate


prefetch: Any = _prefetch


@compiled
def read_strings(
    values: Any,
    offsets: Any,
    buckets: Any,
    tables: Any,
    records: Any,
    known: Any,
    kinds: Any,
    spelled: Any,
    room: Any,
    worth: Any,
    places: Any,
    costs: Any,
) -> Any:
    """For each row of `values`: its cheapest candidates and their costs, cheapest first."""
    folded, sound = tables
    letters, heard, keys, pool, best, own = room
    count, rows = 0, len(offsets) - 1
    for row in range(-1, rows):
        coming, following = keys[(row + 1) & 1], 0  # buckets of the next string are on their way meanwhile
        if row + 1 < rows and offsets[row + 2] > offsets[row + 1]:
            begin = offsets[row + 1]
            following = keys_of(values[begin:], offsets[row + 2] - begin, folded, sound, heard, coming)
            for key in range(following):
                prefetch(buckets[0], coming[key])
        if count:
            length = offsets[row + 1] - offsets[row]
            for place in range(length):
                letters[place] = values[offsets[row] + place]
            many = collected(keys[row & 1], count, buckets, pool[0], records)
            found = candidates(letters, length, folded, many, records, pool, best)
            for candidate in range(found):
                prefetch(known[0], known[1][best[candidate] & 0xFFFFFFFF])
            align(row, letters, length, best, found, known, kinds, spelled, own, worth, places, costs)
        count = following


@compiled
def collected(keys: Any, count: Any, buckets: Any, words: Any, records: Any) -> Any:
    """The words of some buckets into `words`, one after the other; returns how many."""
    starts, entries = buckets
    for key in range(count):
        prefetch(entries, starts[keys[key]])
    many = np.uint64(0)
    for key in range(count):
        for place in range(starts[keys[key]], starts[keys[key] + 1]):
            word = entries[np.uint64(place)]
            prefetch(records, np.int64(word) * 2)
            words[many] = word
            many += np.uint64(1)
    return many


@compiled
def candidates(letters: Any, length: Any, folded: Any, many: Any, records: Any, pool: Any, best: Any) -> Any:
    """Of the first words of the pool the KEPT with the best quick score into `best`, the better before the worse;
    returns how many. A number of `best` is how far the word is behind, then the word."""
    words, behind, marked, levels = pool
    pairs, bits, before = np.uint64(0), np.uint64(0), np.uint64(0)
    for place in range(length):
        letter = np.uint64(folded[letters[place]])
        pairs |= pair_bit(before, letter)
        bits |= np.uint64(1) << (letter % np.uint64(LETTER_BITS))
        before = letter
    pairs |= pair_bit(before, np.uint64(256))
    least = scored(words, many, records, pairs, bits, length, np.uint64(folded[letters[0]]), behind)
    levels[:] = 0
    near, found = np.uint64(0), np.uint64(0)
    for place in range(many):  # without a branch: which are near cannot be foretold
        best[near] = np.int64(behind[place]) << 32 | np.int64(words[place])
        near += np.uint64(behind[place] <= least + WITHIN)
    for place in range(near):
        word = np.uint64(best[place] & 0xFFFFFFFF)
        bit = np.uint64(1) << (word & np.uint64(63))
        new = np.uint64(marked[word >> np.uint64(6)] & bit == 0)
        marked[word >> np.uint64(6)] |= bit
        levels[np.uint64((best[place] >> 32) - least)] += new
        words[found], behind[found] = word, best[place] >> 32
        found += new
    total = 0
    for level in range(WITHIN + 1):
        size = levels[level]
        levels[level] = total
        total += size
    for place in range(found):
        word, of = np.uint64(words[place]), np.uint64(behind[place] - least)
        marked[word >> np.uint64(6)] = np.uint64(0)
        best[levels[of]] = np.int64(behind[place]) << 32 | np.int64(word)
        levels[of] += 1
    if total <= KEPT:
        return total
    low = 0
    for level in range(WITHIN + 1):
        high = levels[level]
        if high >= KEPT:
            put_first(best, low, KEPT, high)
            break
        low = high
    return KEPT


@compiled
def put_first(numbers: Any, low: Any, middle: Any, high: Any) -> Any:
    """Put the least of the numbers from `low` to `high` before `middle`, in order."""
    for place in range(low, high):
        number, at = numbers[place], min(place, middle)
        while at > low and numbers[at - 1] > number:
            if at < middle:
                numbers[at] = numbers[at - 1]
            at -= 1
        if at < middle:
            numbers[at] = number


@compiled
def scored(words: Any, many: Any, records: Any, pairs: Any, bits: Any, length: Any, first: Any, behind: Any) -> Any:
    """How far each word is behind the best possible quick score; returns the least."""
    least = np.int64(1) << 30
    for place in range(many):
        word = np.uint64(words[place])
        other = records[word, 1]
        far = MOST_QUICK + 2 * popcount(pairs ^ records[word, 0]) + 4 * popcount(bits ^ (other & LETTERS))
        far += 2 * abs(np.int64((other >> TO_LENGTH) & BYTE) - length) + np.int64((other >> TO_RANK) & BYTE)
        far -= 4 * np.int64(other >> TO_FIRST == first)
        behind[place] = far
        least = min(least, far)
    return least
