"""The known words that a string might be meant for: buckets that survive damage, then a quick score.

A word stands in the buckets of

    its first six letters with up to two of them left out (symmetric deletes)      up to 22
    its sound key with up to one letter left out: vowels are one letter, look- and sound-alike consonants too, h and w
    none, and what stands twice stands once                                        up to 13

and a string's candidates are those of its own buckets: all words that two slips among the first letters turn into it,
and those that sound like it. A bucket keeps its first 512 words: the most frequent, where the table is in that order.
Of all candidates those with the best quick score stay, at most 48: letters and pairs of letters in common (bit sets),
length, first letter, rank.

Measured on half of Birkbeck's words (50,000 known words): 88 % of the right words are among the candidates, of 480 on
average, and 82 % among the 48; deletes alone have 76 % at the same size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lovevec.near.symbols import Symbols
from lovevec.units.ragged import Ragged, offsets_of, spread

PREFIX, SOUND_LENGTH = 6, 12
DELETE_MASKS = tuple(sorted((mask for mask in range(1 << PREFIX) if mask.bit_count() <= 2), key=int.bit_count))
KEYS_PER_WORD = len(DELETE_MASKS) + SOUND_LENGTH + 1  # buckets in which a word stands, at most
BUCKET_BITS = 20
WORDS_PER_BUCKET = 512
MAX_CANDIDATES = 48  # of a string
MAX_QUICK_GAP = 20  # between the best quick score and that of the last candidate
MAX_QUICK_SCORE = 1 << 10  # above any quick score; the lowest is above -3 times this
MAX_WORD_LENGTH = 32  # characters: longer words are no candidates, and longer strings have none
PRIME, FIRST_SEED, SOUND_SEED = np.uint32(0x01000193), np.uint32(0x811C9DC5), np.uint32(0x9E3779B9)
NO_KEY = np.uint32(0xFFFFFFFF)
QUICK_RANK_OFFSET = 16
LETTER_BITS = 29  # a to z have one bit each
# Where the parts of the second number of a word's record begin; the first number holds the bits of pairs.
TO_LENGTH, TO_RANK, TO_FIRST = np.uint64(LETTER_BITS), np.uint64(LETTER_BITS + 8), np.uint64(LETTER_BITS + 16)
LETTER_MASK, BYTE_MASK = np.uint64((1 << LETTER_BITS) - 1), np.uint64(255)
STRINGS_PER_BLOCK = 256  # whose candidates are looked for together: few enough for the processor's cache
KEYS_PER_BLOCK = 1 << 18
MAX_STRINGS_UNSORTED = 16  # for which the buckets of all words are not worth sorting

Words = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Spellings:
    """The spellings of some words: their symbols, and what candidates are found and scored by."""

    symbols: NDArray[np.uint8]  # [words, MAX_WORD_LENGTH], zeros behind the end
    lengths: NDArray[np.int64]
    letters: NDArray[np.uint64]  # a bit for each letter
    pairs: NDArray[np.uint64]  # a bit (of 64, hashed) for each pair of letters
    first: NDArray[np.uint8]  # the first letter
    rows: Ragged
    alphabet: Symbols

    @classmethod
    def of(cls, rows: Ragged, alphabet: Symbols) -> Spellings:
        """The spellings of words that are rows of symbols, at most MAX_WORD_LENGTH each."""
        plain = Ragged(alphabet.folded[rows.values], rows.offsets)
        padded = rows.padded(MAX_WORD_LENGTH).astype(np.uint8)
        first = plain.padded(1)[:, 0].astype(np.uint8)
        return cls(padded, rows.lengths, _letters(plain), _pairs(plain), first, rows, alphabet)

    @cached_property
    def keys(self) -> Words:
        """[words, KEYS_PER_WORD] bucket numbers, NO_KEY where there is none. Compiled code (kernel.py) has its own."""
        plain = Ragged(self.alphabet.folded[self.rows.values], self.rows.offsets)
        keys = np.concatenate([_prefix_keys(plain), _sound_keys(sound_key(self.rows, self.alphabet))], axis=1)
        keys[self.lengths == 0] = NO_KEY
        return keys

    def __len__(self) -> int:
        return len(self.lengths)


class Index:
    """The known words by bucket, in which the candidates of unknown strings are found."""

    def __init__(self, known: Spellings) -> None:
        self.known = known
        self.rank_bits = np.rint(2 * np.log2(np.arange(len(known)) + QUICK_RANK_OFFSET)).astype(np.int32)

    @cached_property
    def buckets(self) -> Ragged:
        """Row b holds the words of bucket b, in order, up to WORDS_PER_BUCKET."""
        return buckets_of(self.known.keys)

    @cached_property
    def records(self) -> NDArray[np.uint64]:
        """[words, 2] what the quick score is computed from: bits of pairs; bits of letters, length, rank, first
        letter."""
        known = self.known
        parts = known.lengths.astype(np.uint64) << TO_LENGTH, self.rank_bits.astype(np.uint64) << TO_RANK
        return np.stack(
            [known.pairs, known.letters | parts[0] | parts[1] | known.first.astype(np.uint64) << TO_FIRST], 1
        )

    def candidates(self, asked: Spellings) -> Ragged:
        """The candidates of each string: rows of the known words with the best quick score, best first."""
        few = "buckets" not in self.__dict__ and len(asked) <= MAX_STRINGS_UNSORTED
        keys, buckets = self._some_buckets(asked.keys) if few else (asked.keys, self.buckets)
        parts = [slice(low, low + STRINGS_PER_BLOCK) for low in range(0, max(len(asked), 1), STRINGS_PER_BLOCK)]
        best = [self._best(asked, part, keys[part], buckets) for part in parts]
        words, lengths = (np.concatenate(column) for column in zip(*best, strict=True))
        return Ragged.from_lengths(words, lengths)

    def _best(
        self, asked: Spellings, part: slice, keys: Words, buckets: Ragged
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The candidates of some strings, one string's behind the other's, and how many each has."""
        size, keys = len(keys), keys.ravel()
        there = np.flatnonzero(keys != NO_KEY)
        pool = buckets.take(keys[there].astype(np.int64))
        counts = np.bincount(there // KEYS_PER_WORD, pool.lengths, minlength=size).astype(np.int64)
        filled = np.flatnonzero(counts)
        if not len(filled):
            return np.zeros(0, dtype=np.int64), counts
        behind = self._behind(asked, part, counts, pool.values)
        least = np.minimum.reduceat(behind, offsets_of(counts)[filled])
        near = np.flatnonzero(behind <= np.repeat(least + MAX_QUICK_GAP, counts[filled]))  # a few, which are sorted
        string, behind = np.repeat(np.arange(size), counts)[near], behind[near].astype(np.int64)
        best_first = string << 44 | behind << 32 | pool.values[near].astype(np.int64)
        best_first.sort()
        best_first = best_first[np.append(True, best_first[1:] != best_first[:-1])]
        string = best_first >> 44
        place = np.arange(len(string)) - offsets_of(np.bincount(string, minlength=size))[string]
        first = place < MAX_CANDIDATES
        return best_first[first] & 0xFFFFFFFF, np.bincount(string[first], minlength=size)

    def _some_buckets(self, keys: Words) -> tuple[Words, Ragged]:
        """The keys renumbered from 0, and the buckets of these alone: for few strings faster than sorting all words."""
        names = np.unique(keys[keys != NO_KEY])
        number = np.full((1 << BUCKET_BITS) + 1, NO_KEY)
        number[names] = np.arange(len(names))
        renamed, flat = number[np.minimum(keys, 1 << BUCKET_BITS)], self.known.keys.ravel()
        buckets, words = [renamed[:0, 0]], [np.zeros(0, dtype=np.int64)]
        for low in range(0, len(flat), KEYS_PER_BLOCK):
            bucket = number[np.minimum(flat[low : low + KEYS_PER_BLOCK], 1 << BUCKET_BITS)]
            there = np.flatnonzero(bucket != NO_KEY)
            buckets.append(bucket[there])
            words.append((low + there) // KEYS_PER_WORD)
        return renamed, _in_buckets(np.concatenate(buckets), np.concatenate(words), len(names))

    def _behind(
        self, asked: Spellings, part: slice, counts: NDArray[np.int64], words: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        """How far each word is behind the best possible quick score; the first `counts[0]` words are for the first
        string of the part."""
        record = self.records.take(words, axis=0)
        unlike = count_ones(np.repeat(asked.pairs[part], counts) ^ record[:, 0])
        other = record[:, 1]
        letters = count_ones(np.repeat(asked.letters[part], counts) ^ (other & LETTER_MASK))
        length = (other >> TO_LENGTH & BYTE_MASK).astype(np.int32)
        length -= np.repeat(asked.lengths[part].astype(np.int32), counts)
        first = (other >> TO_FIRST).astype(np.uint8) == np.repeat(asked.first[part], counts)
        behind: NDArray[np.int32] = (other >> TO_RANK & BYTE_MASK).astype(np.int32) + np.int32(MAX_QUICK_SCORE)
        behind += 2 * (unlike + np.abs(length) + 2 * letters) - 4 * first.astype(np.int32)
        return behind


def count_ones(bits: NDArray[np.uint64]) -> NDArray[np.int32]:
    """For each number how many of its 64 bits are 1."""
    if hasattr(np, "bitwise_count"):
        ones: NDArray[np.int32] = np.bitwise_count(bits).astype(np.int32)
        return ones
    return _sum_ones(bits)


def _sum_ones(bits: NDArray[np.uint64]) -> NDArray[np.int32]:
    """For numpy before 2.0, which cannot count bits: sums of 2, 4 and 8 bits side by side, then of all bytes."""
    pairs, fours, bytes_, one = (np.uint64(int(byte * 8, 16)) for byte in ("55", "33", "0f", "01"))
    bits = bits - (bits >> np.uint64(1) & pairs)
    bits = (bits & fours) + (bits >> np.uint64(2) & fours)
    bits = (bits + (bits >> np.uint64(4))) & bytes_
    ones: NDArray[np.int32] = (bits * one >> np.uint64(56)).astype(np.int32)
    return ones


def buckets_of(keys: Words) -> Ragged:
    """The words of each bucket, from the bucket numbers of each word, [words, KEYS_PER_WORD]."""
    places = np.flatnonzero(keys.ravel() != NO_KEY)
    return _in_buckets(keys.ravel()[places], places // keys.shape[1], 1 << BUCKET_BITS)


def _in_buckets(buckets: Words, words: NDArray[np.int64], count: int) -> Ragged:
    """The words of each of `count` buckets, each once, in order, up to WORDS_PER_BUCKET."""
    both = buckets.astype(np.int64) << 32 | words
    both.sort()
    both = both[np.append(True, both[1:] != both[:-1])[: len(both)]]
    bucket = both >> 32
    counts = np.bincount(bucket, minlength=count)
    place = np.arange(len(both)) - offsets_of(counts)[bucket]
    keep = place < WORDS_PER_BUCKET
    return Ragged.from_lengths((both[keep] & 0xFFFFFFFF).astype(np.int32), np.minimum(counts, WORDS_PER_BUCKET))


def sound_key(rows: Ragged, alphabet: Symbols) -> Ragged:
    """What is heard of each word: the sound classes of its symbols, without those that are not heard, equal neighbors
    as one, at most SOUND_LENGTH."""
    sounds = alphabet.sound[rows.values]
    heard, _ = Ragged(np.where(sounds > 0, sounds.astype(np.int64), 256), rows.offsets).split(256)
    if not len(heard.values):
        return heard
    starts = np.zeros(len(heard.values), dtype=np.bool_)
    starts[heard.offsets[:-1][heard.lengths > 0]] = True
    new = starts | np.append(True, heard.values[1:] != heard.values[:-1])
    once, _ = Ragged(np.where(new, heard.values, 256), heard.offsets).split(256)
    place = np.arange(len(once.values)) - spread(once.offsets[:-1], once.lengths)
    return Ragged.from_lengths(once.values[place < SOUND_LENGTH], np.minimum(once.lengths, SOUND_LENGTH))


def _prefix_keys(rows: Ragged) -> Words:
    """[words, masks] the keys of the first PREFIX letters without those of each mask."""
    lengths = np.minimum(rows.lengths, PREFIX)
    at = np.minimum(rows.offsets[:-1, None] + np.arange(PREFIX), max(len(rows.values) - 1, 0))
    letters = rows.values[at].astype(np.uint32) if len(rows.values) else np.zeros(at.shape, dtype=np.uint32)
    hashes = Hashes(letters, lengths, FIRST_SEED)
    keys = np.empty((len(rows), len(DELETE_MASKS)), dtype=np.uint32)
    for column, mask in enumerate(DELETE_MASKS):
        places = [place for place in range(PREFIX) if mask >> place & 1]
        keys[:, column] = np.where(lengths >= mask.bit_length(), _bucket(hashes.without(places)), NO_KEY)
    return keys


def _sound_keys(rows: Ragged) -> Words:
    """[words, SOUND_LENGTH + 1] the keys of what is heard, whole and without each of its letters."""
    lengths, hashes = rows.lengths, Hashes(rows.padded(SOUND_LENGTH).astype(np.uint32), rows.lengths, SOUND_SEED)
    keys = np.empty((len(rows), SOUND_LENGTH + 1), dtype=np.uint32)
    for column in range(SOUND_LENGTH + 1):
        state = hashes.without([column - 1] if column else [])
        keys[:, column] = np.where(lengths >= column, _bucket(state), NO_KEY)
    return keys


class Hashes:
    """Hashes of rows of letters, whole or with some letters left out.

    A letter c takes a state s to s · PRIME + c. Without the letter at place p of n the n - 1 - p letters behind it find
    the state before it instead of that after it: the whole changes by (before - after) · PRIME^(n - 1 - p).
    """

    def __init__(self, letters: Words, lengths: NDArray[np.int64], seed: np.uint32) -> None:
        self.lengths, width = lengths, letters.shape[1]
        self.power = np.cumprod(np.append(np.uint32(1), np.full(width, PRIME)), dtype=np.uint32)
        state: Words = np.full(len(letters), seed)
        self.whole: Words = state
        self.steps: list[Words] = []
        for place in range(width):
            after: Words = state * PRIME + letters[:, place]
            self.steps.append(state - after)  # from the state with this letter to that without it
            self.whole = np.where(place < lengths, after, self.whole)
            state = after

    def without(self, places: Sequence[int]) -> Words:
        """[rows] the hashes without the letters at these places; meaningless for rows that are shorter."""
        state = self.whole
        for left_out, place in enumerate(reversed(places)):
            left = np.maximum(self.lengths - 1 - left_out - place, 0)
            state = state + self.steps[place] * self.power[left]
        return state


def _bucket(state: Words) -> Words:
    state = state ^ state >> np.uint32(15)
    state = state * np.uint32(0x2C1B3C6D)
    bucket: Words = (state ^ state >> np.uint32(12)) >> np.uint32(32 - BUCKET_BITS)
    return bucket


def _letters(rows: Ragged) -> NDArray[np.uint64]:
    return _bits(rows.values.astype(np.uint64) % np.uint64(LETTER_BITS), rows)


def _pairs(rows: Ragged) -> NDArray[np.uint64]:
    """Bits of all pairs of neighboring letters; the first and the last letter also pair with the word's ends."""
    first = np.zeros(len(rows.values), dtype=np.bool_)
    first[rows.offsets[:-1][rows.lengths > 0]] = True
    values = rows.values.astype(np.uint32)
    before = np.where(first, np.uint32(0), np.append(np.uint32(0), values[:-1]))
    bits = _bits(_pair_bit(before, values), rows)
    ends = rows.offsets[1:] - 1
    last = np.where(rows.lengths > 0, values[np.maximum(ends, 0)] if len(values) else 0, 0).astype(np.uint32)
    bits |= np.uint64(1) << _pair_bit(last, np.full(len(rows), 256, dtype=np.uint32))
    return bits


def _pair_bit(one: Words, two: Words) -> NDArray[np.uint64]:
    state = (one * np.uint32(257) + two) * np.uint32(0x9E3779B1)
    state ^= state >> np.uint32(15)
    state *= np.uint32(0x2C1B3C6D)
    bit: NDArray[np.uint64] = (state >> np.uint32(26)).astype(np.uint64)
    return bit


def _bits(places: NDArray[np.uint64], rows: Ragged) -> NDArray[np.uint64]:
    result = np.zeros(len(rows), dtype=np.uint64)
    filled = np.flatnonzero(rows.lengths)
    if len(filled):
        result[filled] = np.bitwise_or.reduceat(np.uint64(1) << places, rows.offsets[filled])
    return result
