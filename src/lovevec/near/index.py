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

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lovevec.near.symbols import Symbols
from lovevec.units.ragged import Ragged, offsets_of

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
WORD_END = 256  # behind the last letter of a word
LETTER_BIT = np.array([*(1 << letter % LETTER_BITS for letter in range(WORD_END)), 0], dtype=np.uint64)
STRINGS_PER_BLOCK = 256  # whose candidates are looked for together: few enough for the processor's cache

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
        """The spellings of words that are rows of symbols, at most MAX_WORD_LENGTH each.

        Pairs of neighboring letters are those with the begin (0) and the end of the word, too.
        """
        starts = rows.offsets[:-1] + np.arange(len(rows))  # of rows with one place more, for the end
        text = np.full(len(rows.values) + len(rows), WORD_END, dtype=np.uint32)
        text[np.arange(len(rows.values)) + rows.owners] = alphabet.folded[rows.values]
        before = np.empty_like(text)
        before[1:] = text[:-1]
        before[starts] = 0
        letters = np.bitwise_or.reduceat(LETTER_BIT[text], starts) if len(rows) else LETTER_BIT[:0]
        pairs = np.bitwise_or.reduceat(_pair_bit(before, text), starts) if len(rows) else LETTER_BIT[:0]
        padded = rows.padded(MAX_WORD_LENGTH).astype(np.uint8, copy=False)
        return cls(padded, rows.lengths, letters, pairs, text[starts].astype(np.uint8), rows, alphabet)

    @cached_property
    def keys(self) -> Words:
        """[words, KEYS_PER_WORD] bucket numbers, NO_KEY where there is none."""
        plain = Ragged(self.alphabet.folded[self.rows.values], self.rows.offsets)
        keys = np.concatenate([PREFIX_HASHES(plain), SOUND_HASHES(sound_key(self.rows, self.alphabet))], axis=1)
        keys[self.lengths == 0] = NO_KEY
        return keys

    def __len__(self) -> int:
        return len(self.lengths)


class Index:
    """The known words by bucket, in which the candidates of unknown strings are found; `ranks` [known] say how
    frequent they are."""

    def __init__(self, known: Spellings, ranks: NDArray[np.integer]) -> None:
        self.known = known
        self.rank_bits = quick_rank_costs(ranks)

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
        parts = [slice(low, low + STRINGS_PER_BLOCK) for low in range(0, len(asked), STRINGS_PER_BLOCK)]
        best = [self._best(asked, part) for part in parts]
        if len(best) == 1:
            return best[0]
        none = np.zeros(0, dtype=np.int64)
        words = np.concatenate([none, *(part.values for part in best)])
        return Ragged.from_lengths(words, np.concatenate([none, *(part.lengths for part in best)]))

    def _best(self, asked: Spellings, part: slice) -> Ragged:
        """The candidates of some of the strings."""
        keys = asked.keys[part]
        size, there = len(keys), (keys.ravel() != NO_KEY).nonzero()[0]
        pool = self.buckets.take(keys.ravel()[there])
        counts = np.bincount(there // KEYS_PER_WORD, pool.lengths, minlength=size).astype(np.int64)
        filled = counts.nonzero()[0]
        if not len(filled):
            return Ragged(pool.values, np.zeros(size + 1, dtype=np.int64))
        behind = self._behind(asked, part, counts, pool.values)
        least = np.minimum.reduceat(behind, offsets_of(counts)[filled])
        near = (behind <= np.repeat(least + MAX_QUICK_GAP, counts[filled])).nonzero()[0]  # a few, which are sorted
        string = np.repeat(np.arange(size), counts)[near]
        best_first = string << 44 | behind[near].astype(np.int64) << 32 | pool.values[near]
        best_first.sort()
        best_first = best_first[_firsts(best_first)]
        string = best_first >> 44
        place = np.arange(len(string)) - offsets_of(np.bincount(string, minlength=size))[string]
        first = place < MAX_CANDIDATES
        return Ragged.from_lengths(best_first[first] & 0xFFFFFFFF, np.bincount(string[first], minlength=size))

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


def quick_rank_costs(ranks: NDArray[np.integer]) -> NDArray[np.int32]:
    """[ranks] what its rank costs each known word in the quick score. For no rank up to a million is 2 log2 closer to a
    half than 9e-8, so any log2 is rounded to the same number."""
    costs: NDArray[np.int32] = np.rint(2 * np.log2(ranks + QUICK_RANK_OFFSET)).astype(np.int32)
    return costs


def _firsts(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each number is another than the one before it."""
    firsts = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=firsts[1:])
    return firsts


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
    """The words of each bucket, each once, in order, up to WORDS_PER_BUCKET; from the bucket numbers of each word,
    [words, KEYS_PER_WORD]."""
    both = (keys.astype(np.int64) << 31 | np.arange(len(keys))[:, None]).ravel()
    both.sort()
    both = both[: np.searchsorted(both, np.int64(NO_KEY) << 31)]
    both = both[_firsts(both)]
    counts = np.bincount(both >> 31, minlength=1 << BUCKET_BITS)
    starts, keep = offsets_of(counts), np.ones(len(both), dtype=np.bool_)
    for full in (counts > WORDS_PER_BUCKET).nonzero()[0]:
        keep[starts[full] + WORDS_PER_BUCKET : starts[full + 1]] = False
    return Ragged.from_lengths((both[keep] & 0x7FFFFFFF).astype(np.int32), np.minimum(counts, WORDS_PER_BUCKET))


def sound_key(rows: Ragged, alphabet: Symbols) -> Ragged:
    """What is heard of each word: the sound classes of its symbols, without those that are not heard, equal neighbors
    as one."""
    sounds = alphabet.sound[rows.values]
    both = rows.owners << 8 | sounds
    both = both[sounds > 0]
    both = both[_firsts(both)]
    return Ragged.from_lengths(both & 255, np.bincount(both >> 8, minlength=len(rows)))


class Hashes:
    """Buckets of the first `width` letters of words, without the letters of each of some masks.

    A letter c takes a state s to s · PRIME + c. So in the end the state is Σ c · PRIME^(letters that follow), and the
    letters of all words are multiplied by one matrix [width, masks]. A row of letters is flush right, so that what
    follows a letter does not depend on the number of letters before it; bit b of a mask leaves out the letter before
    the b last ones.
    """

    def __init__(self, width: int, left_out: int, seed: np.uint32) -> None:
        masks = [mask for mask in range(1 << width) if mask.bit_count() <= left_out]
        kept = np.array([[not mask >> place & 1 for mask in masks] for place in reversed(range(width))])
        power = np.cumprod(np.append(np.uint32(1), np.full(width, PRIME)), dtype=np.uint32)
        follow = np.cumsum(kept[::-1], axis=0)[::-1] - kept  # [width, masks] kept letters behind each one
        self.width, self.weights = width, np.where(kept, power[follow], np.uint32(0))
        self.letters = np.array([mask.bit_length() for mask in masks])  # that a word needs at least
        count = np.arange(width + 1)[:, None] - np.array([mask.bit_count() for mask in masks])
        self.seeds = seed * power[np.maximum(count, 0)]  # [width + 1, masks] what the seed becomes, by length

    def __call__(self, rows: Ragged) -> Words:
        """[rows, masks] the buckets; NO_KEY where a mask leaves out a letter that is not there."""
        lengths = np.minimum(rows.lengths, self.width)
        place = np.arange(-self.width, 0) + lengths[:, None]
        values = np.append(rows.values, 0).astype(np.uint32)
        letters = values[np.where(place >= 0, rows.offsets[:-1, None] + place, -1)]
        state = letters @ self.weights + self.seeds[lengths]
        return np.where(self.letters <= lengths[:, None], _bucket(state), NO_KEY)


PREFIX_HASHES, SOUND_HASHES = Hashes(PREFIX, 2, FIRST_SEED), Hashes(SOUND_LENGTH, 1, SOUND_SEED)


def _bucket(state: Words) -> Words:
    state = state ^ state >> np.uint32(15)
    state = state * np.uint32(0x2C1B3C6D)
    bucket: Words = (state ^ state >> np.uint32(12)) >> np.uint32(32 - BUCKET_BITS)
    return bucket


def _pair_bit(one: Words, two: Words) -> NDArray[np.uint64]:
    state = (one * np.uint32(257) + two) * np.uint32(0x9E3779B1)
    state ^= state >> np.uint32(15)
    state *= np.uint32(0x2C1B3C6D)
    bit: NDArray[np.uint64] = np.uint64(1) << (state >> np.uint32(26)).astype(np.uint64)
    return bit
