"""The lexicon: which words exist, and what words look like. No word is stored, so that both stay small.

    filter     a Bloom filter of words, known ones and others (rare words, names, places): asked for a word that was put
               in it says yes, for another one no, but for one in a thousand or so
    grams      a weight for each n-gram of letters by which words differ from misspellings, in a table by hash. Their
               sum is the log odds that a string is a word: right for `unfollowable`, wrong for `recieve`, which the
               filter cannot tell, since nobody has put either in it
    endings    the usual endings of words: `sprinted` is likely a word where `sprinting` is one

Strings are asked for as the reader compares them: normalised code points. Where a model has no lexicon, it is empty:
nothing is in it, and every string is as likely a word as not.

Learned by `lovevec train` from the target's words and lists of others (train/lexicon.py); `lovevec lexicon` puts more
words into it. Stored as lexicon.safetensors.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import to_codes
from lovevec.units.ragged import Ragged, offsets_of

Hashes = NDArray[np.uint64]
PROBES = 7  # bits that a word sets in the filter
BITS_PER_WORD = 16  # of the filter, about: of other words one in 2,000 is taken for one that is in it
GRAM_BITS = 19  # of a place in the table of n-grams
MIN_GRAM, MAX_GRAM = 2, 6
BEGIN, END = 0, 1  # code points that stand before and behind a word
MAX_CUT, MIN_STEM = 4, 4  # letters that are taken off the end of a word at most, and that stay at least
MAX_ENDINGS, MAX_ENDING = 16, 4
MAX_WEIGHT = 127
MAX_FILL, MAX_FILTER_BITS = 0.5, 1 << 31  # share of the filter's bits that are set; all its bits
WORDS_PER_BLOCK = 1 << 16
BASE = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(0xD6E8FEB86659FD93)
SALTS = np.uint64(0xC2B2AE3D27D4EB4F) * np.arange(MAX_GRAM + 1, dtype=np.uint64)  # for each size of n-grams


@dataclass(frozen=True, eq=False)
class Lexicon:
    """`filter` [a power of two] bytes; `grams` [2^GRAM_BITS] int8, a weight being `scale` times the number."""

    filter: NDArray[np.uint8]
    grams: NDArray[np.int8]
    scale: float
    endings: Sequence[str]

    def __post_init__(self) -> None:
        self.filter.flags.writeable = self.grams.flags.writeable = False

    @classmethod
    def empty(cls) -> Lexicon:
        """Of no words."""
        return cls(np.zeros(8, np.uint8), np.zeros(1 << GRAM_BITS, np.int8), 1.0, ())

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        lowercase: bool = True,
        grams: NDArray[np.int8] | None = None,
        scale: float = 1.0,
        endings: Sequence[str] | None = None,
    ) -> Lexicon:
        """A lexicon with these words in its filter; `grams` and their `scale` are learned elsewhere."""
        size = 1 << max((len(words) * BITS_PER_WORD - 1).bit_length(), 6)
        usual = usual_endings(words) if endings is None else endings
        grams = np.zeros(1 << GRAM_BITS, np.int8) if grams is None else grams
        return cls(np.zeros(size // 8, dtype=np.uint8), grams, scale, tuple(usual)).with_words(words, lowercase)

    def with_words(self, words: Sequence[str], lowercase: bool = True) -> Lexicon:
        """The same with more words in the filter, which is doubled where they would fill more than half of it. In a
        filter of twice the size every word has its places in both halves, so that none is lost."""
        bits = np.unpackbits(self.filter, bitorder="little").astype(np.bool_)
        while len(bits) < MAX_FILTER_BITS and bits.sum() + PROBES * len(words) > len(bits) * MAX_FILL:
            bits = np.concatenate([bits, bits])
        for low in range(0, len(words), WORDS_PER_BLOCK):
            hashes = word_hashes(to_codes(words[low : low + WORDS_PER_BLOCK], lowercase))
            bits[_probes(hashes, len(bits))] = True
        return replace(self, filter=np.packbits(bits, bitorder="little"))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever put into it."""
        return not (self.filter.any() or self.grams.any())

    def __contains__(self, word: str) -> bool:
        return bool(self.has(word_hashes(to_codes([word])))[0])

    def has(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Whether words with these hashes, of any shape, are in the filter."""
        place = _probes(hashes, 8 * len(self.filter))
        found: NDArray[np.bool_] = (self.filter[place >> 3] >> (place & 7).astype(np.uint8) & 1).all(axis=-1)
        return found

    def likeness(self, rows: Ragged) -> NDArray[np.int64]:
        """[rows] the sum of the weights of each string's n-grams, before they are multiplied by `scale`."""
        result = np.zeros(len(rows), dtype=np.int64)
        for owners, places in gram_places(rows):
            result += np.bincount(owners, self.grams[places], len(rows)).astype(np.int64)
        return result

    def begins_and_ends(
        self, rows: Ragged, hashes: tuple[Hashes, Hashes] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """[rows] each: how many letters the longest word at the begin of a string has, and the longest at its end,
        neither of them the whole; of two letters and more. `hashes` are the end_hashes of the rows, if at hand."""
        ends = np.stack(end_hashes(rows) if hashes is None else hashes)
        sizes = np.arange(ends.shape[2])
        possible = (sizes >= 2) & (sizes < rows.lengths[:, None])
        longest = np.where(possible & self.has(ends), sizes, 0).max(axis=2)
        return longest[0], longest[1]

    def siblings(self, rows: Ragged, hashes: tuple[Hashes, Hashes] | None = None) -> NDArray[np.int64]:
        """[rows] how many letters of each string, the whole or what stands before a usual ending, begin a word with
        another usual ending: of `unfriending` 8, if `unfriended` is a word; 0 for none."""
        prefixes, suffixes = end_hashes(rows) if hashes is None else hashes
        cuts = np.arange(min(MAX_CUT, prefixes.shape[1] - 1) + 1)
        stems, own = rows.lengths[:, None] - cuts, suffixes[:, cuts]
        endings, powers = self._ending_hashes
        has_own = own[:, :, None] == endings
        possible = (stems >= MIN_STEM) & (has_own.any(axis=2) | (cuts == 0))
        found = np.zeros(possible.shape, dtype=np.bool_)
        string, cut = possible.nonzero()
        others = prefixes[string, stems[string, cut]][:, None] * powers + endings
        # with its own ending a string is no sibling of itself
        found[string, cut] = (self.has(others) & ~has_own[string, cut]).any(axis=1)
        first = stems[np.arange(len(rows)), found.argmax(axis=1)]
        result: NDArray[np.int64] = np.where(found.any(axis=1), first, 0)
        return result

    @cached_property
    def _ending_hashes(self) -> tuple[Hashes, Hashes]:
        """The hash of each ending, and the power of BASE by which the hash of what stands before it is multiplied."""
        codes = to_codes(list(self.endings), lowercase=False)
        return word_hashes(codes), _powers(MAX_ENDING)[codes.lengths]

    def tensors(self) -> dict[str, NDArray[Any]]:
        """All of it, by the names that it has in lexicon.safetensors; endings in UTF-8, a blank between two."""
        endings = np.frombuffer(" ".join(self.endings).encode("utf-8"), dtype=np.uint8)
        scale = np.array([self.scale], dtype=np.float32)
        return {"filter": self.filter, "grams": self.grams, "scale": scale, "endings": endings}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Lexicon:
        """The inverse of `tensors`; a ValueError says what is wrong with them."""
        if set(tensors) != {"filter", "grams", "scale", "endings"}:
            raise ValueError("its tensors are not filter, grams, scale and endings")
        bits, grams, scale = tensors["filter"], tensors["grams"], tensors["scale"]
        if (
            bits.dtype != np.uint8
            or bits.ndim != 1
            or len(bits) < 8
            or len(bits) & (len(bits) - 1)
            or 8 * len(bits) > MAX_FILTER_BITS
        ):
            raise ValueError(f"a filter of the shape {bits.shape}: must be a power of two of bytes")
        if (
            grams.dtype != np.int8
            or grams.shape != (1 << GRAM_BITS,)
            or scale.dtype != np.float32
            or scale.shape != (1,)
        ):
            raise ValueError(f"grams of the shape {grams.shape}")
        if not 0 <= float(scale[0]) <= 1:
            raise ValueError("a scale that is no number from 0 to 1")
        if tensors["endings"].dtype != np.uint8 or tensors["endings"].ndim != 1:
            raise ValueError("endings that are no text")
        endings = tuple(tensors["endings"].tobytes().decode("utf-8").split())
        if len(endings) > MAX_ENDINGS or to_codes(endings, lowercase=False).lengths.max(initial=0) > MAX_ENDING:
            raise ValueError(f"more than {MAX_ENDINGS} endings, or of more than {MAX_ENDING} letters")
        return cls(bits, grams, float(scale[0]), endings)


def usual_endings(words: Iterable[str], count: int = 12) -> list[str]:
    """The endings that most often make a word of another word: -s, -ed, -ing …"""
    there = {unicodedata.normalize("NFC", word) for word in words}  # as they are compared
    counts: dict[str, int] = {}
    for word in there:
        for size in range(1, MAX_ENDING + 1):
            if len(word) - size >= MIN_STEM and word[:-size] in there and word.isalpha():
                counts[word[-size:]] = counts.get(word[-size:], 0) + 1
    return sorted(counts, key=lambda ending: (-counts[ending], ending))[:count]


def word_hashes(rows: Ragged) -> Hashes:
    """[rows] Σ (code point + 1) · BASE^(letters that follow), modulo 2^64."""
    left = np.repeat(rows.offsets[1:] - 1, rows.lengths) - np.arange(len(rows.values))
    terms = (rows.values.astype(np.uint64) + np.uint64(1)) * _powers(int(left.max(initial=0)))[left]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    hashes: Hashes = sums[rows.offsets[1:]] - sums[rows.offsets[:-1]]
    return hashes


def gram_places(rows: Ragged) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each size of n-grams: the number of the row that each n-gram is of, and its place in the table."""
    offsets = offsets_of(rows.lengths + 2)
    text = np.full(offsets[-1], END, dtype=np.uint64)
    text[offsets[:-1]] = BEGIN
    rows.put(text, offsets[:-1] + 1)
    owners = np.repeat(np.arange(len(rows)), rows.lengths + 2)
    left = offsets[1:][owners] - np.arange(len(text))  # letters from each one to the end, itself included
    state = np.zeros(len(text), dtype=np.uint64)
    for size in range(1, MAX_GRAM + 1):
        whole = np.flatnonzero(left >= size)
        grown = state[whole] * BASE + text[whole + size - 1] + np.uint64(1)
        state[whole] = grown
        if size >= MIN_GRAM:
            place = mix(grown + SALTS[size]) >> np.uint64(64 - GRAM_BITS)
            yield owners[whole], place.astype(np.int64)


def mix(state: Hashes) -> Hashes:
    """All bits of the result depend on all bits of the state."""
    state = (state ^ state >> np.uint64(32)) * MIX
    state = (state ^ state >> np.uint64(32)) * MIX
    mixed: Hashes = state ^ state >> np.uint64(32)
    return mixed


def _probes(hashes: Hashes, size: int) -> NDArray[np.int64]:
    """[..., PROBES] the bits of a filter of `size` bits that stand for words."""
    mixed = mix(hashes)
    first, step = mixed & np.uint64(0xFFFFFFFF), mixed >> np.uint64(32) | np.uint64(1)
    places = first[..., None] + step[..., None] * np.arange(PROBES, dtype=np.uint64)
    bits: NDArray[np.int64] = (places & np.uint64(size - 1)).astype(np.int64)
    return bits


def end_hashes(rows: Ragged) -> tuple[Hashes, Hashes]:
    """[rows, longest + 1] each: the hashes of the first k letters of each row, and of its last k."""
    letters = rows.padded().astype(np.uint64)
    width = letters.shape[1]
    prefix = np.zeros((len(letters), width + 1), dtype=np.uint64)
    for size in range(width):
        prefix[:, size + 1] = prefix[:, size] * BASE + letters[:, size] + np.uint64(1)
    lengths, sizes = rows.lengths[:, None], np.arange(width + 1)
    whole = np.take_along_axis(prefix, lengths, axis=1)
    before = np.take_along_axis(prefix, np.maximum(lengths - sizes, 0), axis=1)
    return prefix, whole - before * _powers(width)


def _powers(count: int) -> Hashes:
    """[count + 1] BASE^0, BASE^1, …, modulo 2^64."""
    powers = np.full(count + 1, BASE, dtype=np.uint64)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    return powers
