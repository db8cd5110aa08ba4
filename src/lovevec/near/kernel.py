"""What near/ computes for many strings, compiled (numba); index.py, alignment.py, novelty.py and readings.py say what
that is, this file and lanes.py how it is done fast. Whole numbers throughout, or numbers rounded one by one, so that
results are the same to the bit.

    candidates     the buckets of the next string are fetched while this one is read; all words of a string's buckets
                   are scored in one loop without a branch; the best ones are found by counting how many have each
                   score, so that only those of the last score that counts are put in order
    likelihood     of a string's letters, by the character model
    mean           over readings of known words' own rows, which are unpacked from four bits on the way

The file is long because all compiled functions of near/ are in it, so that the second way to compute things is in one
place; lanes.py is apart because it writes instructions for LLVM instead of Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from lovevec.engine.compile import compiled, compiled_exactly
from lovevec.near.alignment import Slips
from lovevec.near.index import (
    BUCKET_BITS,
    BYTE_MASK,
    DELETE_MASKS,
    FIRST_SEED,
    KEYS_PER_WORD,
    LETTER_BITS,
    LETTER_MASK,
    MAX_CANDIDATES,
    MAX_QUICK_GAP,
    MAX_QUICK_SCORE,
    MAX_WORD_LENGTH,
    PREFIX,
    PRIME,
    SOUND_LENGTH,
    SOUND_SEED,
    TO_FIRST,
    TO_LENGTH,
    TO_RANK,
    WORDS_PER_BUCKET,
    Index,
)
from lovevec.near.lanes import align, scratch
from lovevec.near.novelty import BEGIN, COUNT_BITS, END, ORDER, PRIMES, STRENGTH, WORD_BITS, Novelty, Numbers
from lovevec.near.symbols import Symbols
from lovevec.units.ragged import Ragged, offsets_of

WIDE = np.uint64(0xFFFFFFFF)
STEP, MIX = np.uint64(PRIME), np.uint64(0x2C1B3C6D)
START, SOUND_START = np.uint64(FIRST_SEED), np.uint64(SOUND_SEED)
MASKS = np.array(DELETE_MASKS, dtype=np.int64)
WORDS_PER_BLOCK = 8192
GRAM_PRIMES = PRIMES.astype(np.uint64)
GRAM_SEEDS = np.array([0x9E3779B9 * (order + 1) & 0xFFFFFFFF for order in range(ORDER)], dtype=np.uint64)
TO_COUNT, TO_WORD = np.uint64(32 - COUNT_BITS), np.uint64(32 - WORD_BITS)
POOL = KEYS_PER_WORD * WORDS_PER_BUCKET + 1  # words of all buckets of a string, at most


class CompiledIndex:
    """An index and the costs of slips, laid out for the compiled pass."""

    def __init__(self, index: Index, symbols: Symbols, slips: Slips, rank_costs: NDArray[np.int32]) -> None:
        known = index.known
        one, two, _ = symbols.spellings
        buckets = index.__dict__.get("buckets") or buckets_of(known.symbols, known.lengths, symbols)
        starts = (3 * offsets_of(known.lengths)).astype(np.int32)
        self._words = len(known)
        self._constants = (
            (buckets.offsets.astype(np.int32), buckets.values.astype(np.int32, copy=False)),
            (symbols.folded, symbols.sound),
            index.records,
            (letter_records(known.symbols, known.lengths, two, slips), starts, rank_costs),
            (slips.costs, slips.classes),
            (slips.substitution, one, two, slips.spellings),
        )

    def __call__(self, rows: Ragged, worth: int, places: NDArray[np.int32], costs: NDArray[np.int32]) -> None:
        """Write the cheapest candidates of each row, up to `worth` dearer than the best one, into `places` [rows, most]
        (in the index) and what they cost into `costs` [rows, most]."""
        values = np.ascontiguousarray(rows.values, dtype=np.uint8)
        read_strings(values, rows.offsets, *self._constants, self._room(), worth, places, costs)

    def _room(self) -> tuple[Any, ...]:
        """Where a pass works: one for each thread, made by numpy, since numba would have to compile that too."""
        letters, heard = np.zeros(MAX_WORD_LENGTH, dtype=np.uint8), np.zeros(SOUND_LENGTH, dtype=np.uint8)
        marked, levels = np.zeros(self._words // 64 + 1, dtype=np.uint64), np.zeros(MAX_QUICK_GAP + 1, dtype=np.int64)
        pool = np.zeros(POOL, dtype=np.int32), np.zeros(POOL, dtype=np.int32), marked, levels
        keys, best = np.zeros((2, KEYS_PER_WORD), dtype=np.int64), np.zeros(POOL, dtype=np.int64)
        return letters, heard, keys, pool, best, scratch()


def letter_records(
    symbols: NDArray[np.uint8], lengths: NDArray[np.int64], two: NDArray[np.uint8], slips: Slips
) -> NDArray[np.uint8]:
    """Three bytes a letter of each word, one word after the other: its symbol, the kind of slip that leaves it out, the
    number of the spelling that it makes with the letter before. A block of words at a time, since what is computed on
    the way takes ten times the memory."""
    parts = [np.zeros(0, dtype=np.uint8)]
    for low in range(0, len(symbols), WORDS_PER_BLOCK):
        rows, sizes = symbols[low : low + WORDS_PER_BLOCK], lengths[low : low + WORDS_PER_BLOCK]
        before = np.concatenate([np.zeros((len(rows), 1), dtype=np.uint8), rows[:, :-1]], axis=1)
        pairs = np.where(np.arange(MAX_WORD_LENGTH) > 0, two[before, rows], 0).astype(np.uint8)
        letters = np.stack([rows, slips.lost_kinds(rows, sizes), pairs], axis=2)
        parts.append(letters[np.arange(MAX_WORD_LENGTH) < sizes[:, None]].ravel())
    return np.concatenate(parts)


def buckets_of(symbols: NDArray[np.uint8], lengths: NDArray[np.int64], alphabet: Symbols) -> Ragged:
    """The words of each bucket, as in index.py, found by counting instead of sorting."""
    values, counts = fill_buckets(symbols, lengths, alphabet.folded, alphabet.sound)
    return Ragged.from_lengths(values, counts)


@compiled
def bucket_of(state: Any) -> Any:
    """The bucket to which a hash belongs (`_bucket` of index.py)."""
    state = state ^ (state >> np.uint64(15))
    state = (state * MIX) & WIDE
    return (state ^ (state >> np.uint64(12))) >> np.uint64(32 - BUCKET_BITS)


@compiled
def pair_bit(one: Any, two: Any) -> Any:
    """The bit that stands for two neighboring letters (`_pair_bit` of index.py)."""
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
        count = add_key(keys, count, bucket_of(state))
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
        count = add_key(keys, count, bucket_of(state))
    return count


@compiled
def add_key(keys: Any, count: Any, key: Any) -> Any:
    """Append a key to the first `count` ones unless it is among them; returns how many there are then."""
    for place in range(count):
        if keys[place] == key:
            return count
    keys[count] = key
    return count + 1


@compiled
def fill_buckets(symbols: Any, lengths: Any, folded: Any, sound: Any) -> Any:
    """The words of each bucket in order, up to WORDS_PER_BUCKET, and how many there are."""
    keys, heard = np.zeros(KEYS_PER_WORD, dtype=np.int64), np.zeros(SOUND_LENGTH, dtype=np.uint8)
    counts = np.zeros(1 << BUCKET_BITS, dtype=np.int64)
    for word in range(len(lengths)):
        for place in range(keys_of(symbols[word], lengths[word], folded, sound, heard, keys)):
            counts[keys[place]] = min(counts[keys[place]] + 1, WORDS_PER_BUCKET)
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
    """How many bits of a number are 1, by one instruction of the processor."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount: Any = _popcount


@intrinsic
def _prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Tell the processor that array.flat[place] will be needed soon."""

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
            many = collect_words(keys[row & 1], count, buckets, pool[0], records)
            found = candidates(letters, length, folded, many, records, pool, best)
            for candidate in range(found):
                prefetch(known[0], known[1][best[candidate] & 0xFFFFFFFF])
            align(row, letters, length, best, found, known, kinds, spelled, own, worth, places, costs)
        count = following


@compiled
def collect_words(keys: Any, count: Any, buckets: Any, words: Any, records: Any) -> Any:
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
    """Write the MAX_CANDIDATES with the best quick score among the first `many` words of the pool into `best`, the
    better before the worse; returns how many. A number of `best` is how far the word is behind, then the word."""
    words, behind, marked, levels = pool
    pairs, bits, before = np.uint64(0), np.uint64(0), np.uint64(0)
    for place in range(length):
        letter = np.uint64(folded[letters[place]])
        pairs |= pair_bit(before, letter)
        bits |= np.uint64(1) << (letter % np.uint64(LETTER_BITS))
        before = letter
    pairs |= pair_bit(before, np.uint64(256))
    least = quick_scores(words, many, records, pairs, bits, length, np.uint64(folded[letters[0]]), behind)
    levels[:] = 0
    near, found = np.uint64(0), np.uint64(0)
    for place in range(many):  # without a branch: which are near cannot be foretold
        best[near] = np.int64(behind[place]) << 32 | np.int64(words[place])
        near += np.uint64(behind[place] <= least + MAX_QUICK_GAP)
    for place in range(near):
        word = np.uint64(best[place] & 0xFFFFFFFF)
        bit = np.uint64(1) << (word & np.uint64(63))
        new = np.uint64(marked[word >> np.uint64(6)] & bit == 0)
        marked[word >> np.uint64(6)] |= bit
        levels[np.uint64((best[place] >> 32) - least)] += new
        words[found], behind[found] = word, best[place] >> 32
        found += new
    total = 0
    for level in range(MAX_QUICK_GAP + 1):
        size = levels[level]
        levels[level] = total
        total += size
    for place in range(found):
        word, of = np.uint64(words[place]), np.uint64(behind[place] - least)
        marked[word >> np.uint64(6)] = np.uint64(0)
        best[levels[of]] = np.int64(behind[place]) << 32 | np.int64(word)
        levels[of] += 1
    if total <= MAX_CANDIDATES:
        return total
    low = 0
    for level in range(MAX_QUICK_GAP + 1):
        high = levels[level]
        if high >= MAX_CANDIDATES:
            put_first(best, low, MAX_CANDIDATES, high)
            break
        low = high
    return MAX_CANDIDATES


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
def quick_scores(
    words: Any, many: Any, records: Any, pairs: Any, bits: Any, length: Any, first: Any, behind: Any
) -> Any:
    """How far each word is behind the best possible quick score; returns the least."""
    least = np.int64(1) << 30
    for place in range(many):
        word = np.uint64(words[place])
        other = records[word, 1]
        far = MAX_QUICK_SCORE + 2 * popcount(pairs ^ records[word, 0]) + 4 * popcount(bits ^ (other & LETTER_MASK))
        far += 2 * abs(np.int64((other >> TO_LENGTH) & BYTE_MASK) - length) + np.int64((other >> TO_RANK) & BYTE_MASK)
        far -= 4 * np.int64(other >> TO_FIRST == first)
        behind[place] = far
        least = min(least, far)
    return least


class CompiledNovelty(Novelty):
    """The character model of novelty.py, compiled, for strings of at most MAX_WORD_LENGTH letters."""

    def __init__(self, novelty: Novelty) -> None:
        self.__dict__.update(novelty.__dict__)

    def letter_probabilities(self, rows: Ragged) -> Numbers:
        """The probability of each letter of each row, and of its end, one row behind the other."""
        result = np.empty(len(rows.values) + len(rows))
        letter_probabilities(rows.values, rows.offsets, self.counts, float(self.letters), self.uniform, result)
        return result

    def known_ends(self, rows: Ragged) -> NDArray[np.int64]:
        """[rows] how many letters the longest known begin and the longest known end have together."""
        result = np.empty(len(rows), dtype=np.int64)
        longest_parts(rows.values, rows.offsets, self.words, result)
        return result


@compiled
def gram_place(state: Any, order: Any) -> Any:
    """The place in the table at which an n-gram is counted (`_place` of novelty.py)."""
    state = (state + GRAM_SEEDS[order]) & WIDE
    state = ((state ^ (state >> np.uint64(15))) * MIX) & WIDE
    return (state ^ (state >> np.uint64(12))) >> TO_COUNT


@compiled_exactly
def letter_probabilities(values: Any, offsets: Any, counts: Any, letters: Any, uniform: Any, chances: Any) -> Any:
    """The probability of each letter of each row, and of its end, one after the other."""
    seen, before = np.zeros(ORDER), np.zeros(ORDER)
    window = np.zeros(ORDER, dtype=np.uint64)
    at = 0
    for row in range(len(offsets) - 1):
        window[:] = BEGIN
        for place in range(offsets[row], offsets[row + 1] + 2):
            if place > offsets[row]:
                for back in range(ORDER - 1, 0, -1):
                    window[back] = window[back - 1]
                window[0] = END if place > offsets[row + 1] else values[place - 1]
            state, chance = np.uint64(0), uniform
            for order in range(ORDER):
                state += window[order] * GRAM_PRIMES[order]
                seen[order] = counts[gram_place(state & WIDE, order)]
                total = before[order - 1] if order else letters
                chance = (seen[order] + STRENGTH * chance) / (total + STRENGTH)
            seen, before = before, seen
            if place > offsets[row]:
                chances[at] = chance
                at += 1


@compiled
def known_bit(state: Any, words: Any) -> Any:
    """1 where a word with this hash is known, else 0 (`Novelty._known` of novelty.py)."""
    place = (((state ^ (state >> np.uint64(16))) * np.uint64(0x9E3779B1)) & WIDE) >> TO_WORD
    return words[place >> np.uint64(3)] >> (place & np.uint64(7)) & 1


@compiled
def longest_parts(values: Any, offsets: Any, words: Any, result: Any) -> Any:
    """How many letters the longest known begin and the longest known end of each row have together."""
    prefix, power = np.zeros(MAX_WORD_LENGTH + 1, dtype=np.uint64), np.ones(MAX_WORD_LENGTH + 1, dtype=np.uint64)
    for place in range(MAX_WORD_LENGTH):
        power[place + 1] = (power[place] * STEP) & WIDE
    for row in range(len(offsets) - 1):
        length = offsets[row + 1] - offsets[row]
        begin = end = 0
        for place in range(length):
            letter = np.uint64(values[offsets[row] + place]) + np.uint64(1)
            prefix[place + 1] = (prefix[place] * STEP + letter) & WIDE
        for size in range(length - 1, 1, -1):
            if known_bit(prefix[size], words):
                begin = size
                break
        for start in range(1, length - 1):
            if known_bit((prefix[length] - prefix[start] * power[length - start]) & WIDE, words):
                end = length - start
                break
        result[row] = begin + end


@compiled_exactly
def add_packed_rows(
    vectors: Any, rows: Any, chances: Any, new: Any, codes: Any, scale: Any, levels: Any, least: Any
) -> Any:
    """vectors · new + Σ chance · row, in place; the rows are int4 (model/known_rows.py)."""
    half, odd = codes.shape[1], vectors.shape[1] % 2
    low, high = np.zeros(half, dtype=np.float32), np.zeros(half, dtype=np.float32)
    for string in range(len(vectors)):
        vector, own = vectors[string], np.float32(new[string])
        for place in range(half - odd):
            low[place], high[place] = own * vector[2 * place], own * vector[2 * place + 1]
        if odd:
            low[half - 1] = own * vector[2 * half - 2]
        for column in range(rows.shape[1]):
            if chances[string, column] < least:
                break
            row = rows[string, column]
            add_row(codes[row], scale[row], np.float32(chances[string, column]), levels, low, high)
        for place in range(half - odd):
            vector[2 * place], vector[2 * place + 1] = low[place], high[place]
        if odd:
            vector[2 * half - 2] = low[half - 1]


@compiled_exactly
def add_row(codes: Any, scale: Any, chance: Any, levels: Any, low: Any, high: Any) -> Any:
    """chance · row, two numbers a byte, the first of them into `low`. There are no more than 16 numbers in a row."""
    numbers = np.empty(16, dtype=np.float32)
    for level in range(16):
        numbers[level] = levels[level] * scale * chance
    for place in range(len(codes)):
        low[place] += numbers[codes[place] & 15]
        high[place] += numbers[codes[place] >> 4]
