"""Candidates and alignments in one compiled pass (numba), string after string: index.py and alignment.py say what is
computed, this file how fast. Everything is a whole number, so that both have the very same results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from lovevec.engine.kernel import compiled
from lovevec.near.alignment import FAR, Slips
from lovevec.near.index import (
    BITS,
    FIRST_SEED,
    KEPT,
    KEYS,
    LEFT_OUT,
    LETTER_BITS,
    LONGEST,
    MOST_QUICK,
    PER_BUCKET,
    PREFIX,
    PRIME,
    SOUND_LENGTH,
    SOUND_SEED,
    WITHIN,
    Index,
)
from lovevec.near.symbols import KIND, Symbols
from lovevec.units.ragged import Ragged

WIDE = np.uint64(0xFFFFFFFF)
STEP, MIX = np.uint64(PRIME), np.uint64(0x2C1B3C6D)
START, SOUND_START = np.uint64(FIRST_SEED), np.uint64(SOUND_SEED)
MASKS = np.array(LEFT_OUT, dtype=np.int64)
LOST, LOST_VOWEL, LOST_H, LOST_END, LOST_TWIN = (
    KIND[name] for name in ("lost", "lost vowel", "lost h", "lost end", "lost twin")
)
EXTRA, EXTRA_VOWEL, EXTRA_JOINT, EXTRA_TWIN = (
    KIND[name] for name in ("extra", "extra vowel", "extra joint", "extra twin")
)
FIRST, LAST, SWAP = KIND["first"], KIND["last"], KIND["swap"]
FARTHEST = int(FAR)
TO_LENGTH, TO_RANK, TO_LETTERS = np.uint64(24), np.uint64(29), np.uint64(35)
WORD_BITS, FIVE_BITS, SIX_BITS = np.uint64((1 << 24) - 1), np.uint64(31), np.uint64(63)
ROW = LONGEST + 1


class Compiled:
    """An index and slips, laid out for the pass.

    An entry of a bucket holds, besides the word (24 bits), what most candidates are turned down by: its length (5), its
    rank in the quick score (6) and its letters (29). So only those worth it are looked up.
    """

    def __init__(self, index: Index, symbols: Symbols, slips: Slips, rank_costs: NDArray[np.int32]) -> None:
        known = index.known
        one, two, _ = symbols.spellings
        found = index.__dict__.get("buckets") or buckets_of(known.symbols, known.lengths, symbols)
        entry = np.arange(len(known), dtype=np.uint64) | (known.lengths - 1).astype(np.uint64) << TO_LENGTH
        entry |= index.rank_bits.astype(np.uint64) << TO_RANK | known.letters << TO_LETTERS
        quick = np.stack([known.pairs, np.bitwise_count(known.pairs).astype(np.uint64)], axis=1)
        self._constants = (
            (found.offsets.astype(np.int32), entry[found.values]),
            (symbols.folded, symbols.sound),
            (np.ascontiguousarray(quick), known.first),
            (known.symbols, known.lengths, rank_costs),
            (slips.costs.astype(np.int32), slips.classes, symbols.number["e"]),
            (slips.substitution.astype(np.int32), one, two, slips.spellings.astype(np.int32)),
        )

    def __call__(self, rows: Ragged, worth: int, places: NDArray[np.int32], costs: NDArray[np.int32]) -> None:
        """The cheapest candidates of each row, [rows, most] places in the index, and what they cost."""
        values = np.ascontiguousarray(rows.values, dtype=np.uint8)
        read_strings(values, rows.offsets, *self._constants, worth, places, costs)


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


@compiled
def read_strings(
    values: Any,
    offsets: Any,
    buckets: Any,
    tables: Any,
    quick: Any,
    known: Any,
    kinds: Any,
    spelled: Any,
    worth: Any,
    places: Any,
    costs: Any,
) -> Any:
    """For each row of `values`: its cheapest candidates and their costs, cheapest first."""
    folded, sound = tables
    symbols, sizes, rank_costs = known
    seen = np.full(len(rank_costs), -1, dtype=np.int32)
    keys, heard = np.zeros(KEYS, dtype=np.int64), np.zeros(SOUND_LENGTH, dtype=np.uint8)
    best = np.zeros(KEPT, dtype=np.int64)
    cells = np.zeros(3 * ROW, dtype=np.int32)
    letters = np.zeros(LONGEST, dtype=np.uint8)
    plain = np.zeros(LONGEST, dtype=np.uint64)
    extra, string_two = np.zeros(LONGEST + 1, dtype=np.int32), np.zeros(LONGEST + 1, dtype=np.uint8)
    most = places.shape[1]
    for row in range(len(offsets) - 1):
        length = offsets[row + 1] - offsets[row]
        if length == 0:
            continue
        for place in range(length):
            letters[place] = values[offsets[row] + place]
            plain[place] = folded[letters[place]]
        count = keys_of(letters, length, folded, sound, heard, keys)
        found = candidates(plain, length, keys, count, buckets, quick, seen, row, best)
        extra_costs(letters, length, kinds, extra)
        for place in range(length - 1):
            string_two[place + 2] = spelled[2][letters[place], letters[place + 1]]
        kept = 0
        for candidate in range(found):
            word = best[candidate] & 0xFFFFFFFF
            base = rank_costs[word]
            limit = costs[row, 0] + worth - base if kept else FARTHEST
            cost = alignment(
                symbols, word, sizes[word], letters, length, kinds, spelled, extra, string_two, cells, limit
            )
            if cost > limit:
                continue
            cost += base
            place = min(kept, most - 1)
            if kept == most and (cost > costs[row, place] or (cost == costs[row, place] and word > places[row, place])):
                continue
            while place > 0 and (
                costs[row, place - 1] > cost or (costs[row, place - 1] == cost and places[row, place - 1] > word)
            ):
                costs[row, place], places[row, place] = costs[row, place - 1], places[row, place - 1]
                place -= 1
            costs[row, place], places[row, place] = cost, word
            kept = min(kept + 1, most)


@compiled
def candidates(
    plain: Any, length: Any, keys: Any, count: Any, buckets: Any, quick: Any, seen: Any, row: Any, best: Any
) -> Any:
    """The KEPT words with the best quick score into `best`, best first; returns how many."""
    starts, entries = buckets
    bits_of, first_of = quick
    pairs, letters, before = np.uint64(0), np.uint64(0), np.uint64(0)
    for place in range(length):
        letter = plain[place]
        pairs |= pair_bit(before, letter)
        letters |= np.uint64(1) << (letter % np.uint64(LETTER_BITS))
        before = letter
    pairs |= pair_bit(before, np.uint64(256))
    own_pairs = popcount(pairs)
    found, bound = 0, np.int64(1) << 62
    for key in range(count):
        for place in range(starts[keys[key]], starts[keys[key] + 1]):
            entry = entries[place]
            score = -4 * popcount(letters ^ (entry >> TO_LETTERS)) - np.int64((entry >> TO_RANK) & SIX_BITS)
            score -= 2 * abs(np.int64((entry >> TO_LENGTH) & FIVE_BITS) + 1 - length)
            if MOST_QUICK - 4 - score > bound:  # even with the same first letter and the same pairs
                continue
            word = np.int64(entry & WORD_BITS)
            if seen[word] == row:
                continue
            seen[word] = row
            score += 4 * popcount(pairs & bits_of[word, 0]) - 2 * (own_pairs + np.int64(bits_of[word, 1]))
            if first_of[word] == plain[0]:
                score += 4
            if MOST_QUICK - score > bound:
                continue
            rank = ((MOST_QUICK - score) << 32) | word
            if found == KEPT:
                if rank > best[KEPT - 1]:
                    continue
                found -= 1
            at = found
            while at > 0 and best[at - 1] > rank:
                best[at] = best[at - 1]
                at -= 1
            best[at] = rank
            found += 1
            bound = (best[0] >> 32) + WITHIN
            if found == KEPT:
                bound = min(bound, best[KEPT - 1] >> 32)
    while found > 0 and best[found - 1] >> 32 > (best[0] >> 32) + WITHIN:
        found -= 1
    return found


@compiled
def extra_costs(letters: Any, length: Any, kinds: Any, extra: Any) -> Any:
    """What each letter costs if it is one too many: that of letter j into extra[j + 1]."""
    slip_costs, classes, _ = kinds
    for place in range(length):
        letter = letters[place]
        kind = classes[letter]
        before = letters[place - 1] if place > 0 else 0
        behind = letters[place + 1] if place + 1 < length else 0
        if letter > 0 and letter in (before, behind):
            cost = slip_costs[EXTRA_TWIN]
        elif kind == 1:
            cost = slip_costs[EXTRA_VOWEL]
        elif kind == 3:
            cost = slip_costs[EXTRA_JOINT]
        else:
            cost = slip_costs[EXTRA]
        extra[place + 1] = cost


@compiled
def lost_cost(before: Any, letter: Any, behind: Any, is_end: Any, kinds: Any) -> Any:
    """What it costs to leave out a letter between two others."""
    slip_costs, classes, silent_end = kinds
    if letter > 0 and letter in (before, behind):
        return slip_costs[LOST_TWIN]
    if is_end and letter == silent_end:
        return slip_costs[LOST_END]
    kind = classes[letter]
    if kind == 1:
        return slip_costs[LOST_VOWEL]
    if kind == 2:
        return slip_costs[LOST_H]
    return slip_costs[LOST]


@compiled
def alignment(
    symbols: Any,
    word: Any,
    size: Any,
    letters: Any,
    length: Any,
    kinds: Any,
    spelled: Any,
    extra: Any,
    string_two: Any,
    cells: Any,
    limit: Any,
) -> Any:
    """The least cost of turning a known word into the letters; anything above `limit` where it is more than that.

    `cells` are three rows of D: that of i, and of the two before.
    """
    substitution, one, two, spellings = spelled
    first, last, swap = kinds[0][FIRST], kinds[0][LAST], kinds[0][SWAP]
    now, before, two_before = 0, ROW, 2 * ROW
    at_zero = first + (last if size == 0 else 0)
    cells[now] = 0
    for j in range(1, length + 1):
        cells[now + j] = min(cells[now + j - 1] + extra[j] + at_zero, FARTHEST)
    least_before = 0
    previous = np.uint8(0)
    letter = symbols[word, 0]
    for i in range(1, size + 1):
        now, before, two_before = two_before, now, before
        behind = symbols[word, i] if i < size else np.uint8(0)
        at_end = last if i == size else 0
        at_one, at_two = at_end + (first if i == 1 else 0), at_end + (first if i == 2 else 0)
        lost = lost_cost(previous, letter, behind, i == size, kinds) + at_one
        single, pair = one[letter], two[previous, letter] if i > 1 else 0
        left = cells[before] + lost
        cells[now] = left
        least = left
        for j in range(1, length + 1):
            other = letters[j - 1]
            slip = substitution[letter, other]
            if slip:
                slip += at_one
            cost = min(cells[before + j - 1] + slip, cells[before + j] + lost, left + extra[j] + at_end)
            if pair:
                cost = min(cost, cells[two_before + j - 1] + spellings[pair, one[other]] + at_two)
            if j > 1:
                block = string_two[j]
                if block:
                    cost = min(cost, cells[before + j - 2] + spellings[single, block] + at_one)
                    if pair:
                        cost = min(cost, cells[two_before + j - 2] + spellings[pair, block] + at_two)
                crossed = i > 1 and other == previous and letters[j - 2] == letter and letter != previous
                if crossed and letter > 0 and previous > 0:
                    cost = min(cost, cells[two_before + j - 2] + swap + at_two)
            cells[now + j] = cost
            left = cost
            least = min(least, cost)
        if least > limit and least_before > limit:
            return FARTHEST + 1
        least_before = least
        previous, letter = letter, behind
    return np.int64(cells[now + length])
