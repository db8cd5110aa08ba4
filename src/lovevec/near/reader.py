"""The reader: for unknown strings, the probabilities of the known words that may be meant, and of none.

read = Reader(words, channel)
readings = read(["recieve", "blorfing"])
readings.rows[0], readings.probabilities[0]     the rows of receive, relieve, …; 0.97, 0.01, …
readings.new                                    [0.01, 0.98]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.threads import in_chunks
from lovevec.near.alignment import Pairs, Slips, align
from lovevec.near.channel import Channel
from lovevec.near.index import MAX_STRINGS_UNSORTED, MAX_WORD_LENGTH, Index, Spellings
from lovevec.near.novelty import Novelty
from lovevec.near.readings import (
    MAX_COST_GAP,
    WORDS_PER_READING,
    Integers,
    Readings,
    all_new,
    posterior,
)
from lovevec.near.symbols import Symbols
from lovevec.units.characters import to_codes
from lovevec.units.ragged import Ragged, offsets_of

if TYPE_CHECKING:
    from lovevec.near.kernel import CompiledIndex

# The most frequent words of a table are the candidates. Of 27,664 real misspellings with a million words in the table
# the right one comes first for 57.5 % with 100,000 candidates, 57.2 % with 50,000, 56.7 % with 250,000 (at two thirds
# of the speed), 56.4 % with a million: a rarer word is seldom meant, but often looks alike (docs/results/scale.md).
MAX_KNOWN_WORDS = 100_000
MIN_STRINGS_FOR_NUMBA = 2000  # importing it takes longer than reading fewer strings by numpy; readings are the same
STRINGS_PER_NUMPY_BATCH, STRINGS_PER_NUMBA_BATCH = 2048, 4096
NO_CANDIDATE_COST = np.int32(1 << 30)  # above that of any candidate
UNREADABLE_LOG_PROBABILITY = -6.0  # of a letter, for strings that the character model cannot read
MAX_STRETCHED_LENGTH = 48  # characters: a longer string is not a word with a few letters repeated


class Strings(NamedTuple):
    """Strings as the reader compares them."""

    rows: Ragged  # of symbols; empty for a string that cannot be near any word
    digits: NDArray[np.bool_]  # whether the string has a digit
    names: NDArray[np.bool_]  # whether it begins with a capital and goes on in lower case


class Reader:
    """Reads unknown strings by known words, in the order of their frequency, and a channel.

    `lowercase` says whether words and strings are compared in lower case. The index of the words and the rest of the
    tables are built by the first call that has something to read, by one thread while the others wait; after that
    nothing changes.
    """

    def __init__(self, words: Sequence[str], channel: Channel, lowercase: bool = True) -> None:
        self.words, self.channel, self.lowercase = words, channel, lowercase
        self._lock, self._asked = RLock(), 0

    @classmethod
    def like(cls, other: Reader, channel: Channel) -> Reader:
        """A reader of the same words under another channel; it shares with `other` what does not depend on that."""
        reader = cls(other.words, channel, other.lowercase)
        shared = ("symbols", "_candidates", "index", "novelty", "_place")
        reader.__dict__.update({name: other.__dict__[name] for name in shared if name in other.__dict__})
        return reader

    def __reduce__(self) -> tuple[Any, ...]:
        return Reader, (self.words, self.channel, self.lowercase)

    @cached_property
    def symbols(self) -> Symbols:
        """The alphabet: the characters of the known words as small numbers."""
        return Symbols.of_codes(self._known_codes.values)

    @cached_property
    def _known_codes(self) -> Ragged:
        return self._codes(self.words[:MAX_KNOWN_WORDS])

    @cached_property
    def _letters(self) -> NDArray[np.bool_]:
        return np.array([False, *map(str.isalpha, self.symbols.characters)])

    @cached_property
    def _digits(self) -> NDArray[np.bool_]:
        return np.array([False, *map(str.isdigit, self.symbols.characters)])

    @cached_property
    def slips(self) -> Slips:
        """What a slip between two symbols costs under this channel."""
        return Slips(self.symbols, self.channel.slip_costs)

    @cached_property
    def _candidates(self) -> tuple[NDArray[np.int32], Ragged]:
        """The known words that a string may be meant for: of the MAX_KNOWN_WORDS most frequent those of two letters and
        more. Their rows in the table, and their symbols."""
        codes = self._known_codes
        rows = Ragged(self.symbols.of_code[codes.values], codes.offsets)
        able = (rows.lengths >= 2) & (rows.lengths <= MAX_WORD_LENGTH) & self._any(self._letters, rows)
        chosen = np.flatnonzero(able)
        return chosen.astype(np.int32), rows.take(chosen)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def row(self, word: str | None) -> int:
        """The row of a known word; -1 for any other, and for None."""
        return -1 if word is None else self._place.get(word, -1)

    @property
    def known_rows(self) -> NDArray[np.int32]:
        """[words of the index] their rows in the table."""
        return self._candidates[0]

    @cached_property
    def index(self) -> Index:
        """The index in which candidates are found by bucket."""
        return Index(Spellings.of(self._candidates[1], self.symbols))

    @cached_property
    def novelty(self) -> Novelty:
        """The character model of the known words, which says how much a string looks like a word of its own."""
        return Novelty(self._candidates[1])

    @cached_property
    def rank_costs(self) -> NDArray[np.int32]:
        """[words of the index] what the channel's prior costs: more for rarer words."""
        return self.channel.rank_costs(self.known_rows)

    def _codes(self, words: Sequence[str]) -> Ragged:
        return to_codes(words, self.lowercase)

    def _any(self, marked: NDArray[np.bool_], rows: Ragged) -> NDArray[np.bool_]:
        count = np.append(0, np.cumsum(marked[rows.values]))
        has_one: NDArray[np.bool_] = count[rows.offsets[1:]] > count[rows.offsets[:-1]]
        return has_one

    def strings(self, words: Sequence[str]) -> Strings:
        """Strings as they are compared: of a letter that stands three times or more in a row two are kept."""
        codes = self._codes(words)
        values = self.symbols.of_code[codes.values]
        place = np.arange(len(values)) - np.repeat(codes.offsets[:-1], codes.lengths)
        third = np.zeros(len(values), dtype=np.bool_)
        third[2:] = (codes.values[2:] == codes.values[1:-1]) & (codes.values[2:] == codes.values[:-2])
        third &= place >= 2
        before = np.append(0, np.cumsum(~third))
        rows = Ragged(values[~third], before[codes.offsets])
        digits = self._any(self._digits, rows)
        whole = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) <= MAX_STRETCHED_LENGTH
        readable = self._any(self._letters, rows) & (rows.lengths <= MAX_WORD_LENGTH) & (rows.lengths >= 2) & whole
        lengths = np.where(readable, rows.lengths, 0)
        inside = np.repeat(readable, rows.lengths)
        names = np.fromiter((word[:1].isupper() and not word[1:].isupper() for word in words), np.bool_, len(words))
        return Strings(Ragged(rows.values[inside], offsets_of(lengths)), digits, names)

    def likelihood(self, words: Sequence[str], a_letter: bool = False, for_many: str = "numpy") -> NDArray[np.float64]:
        """[words] how much each string is spelled like the known words: its log probability under their character
        model, or with `a_letter` the mean over its letters. A string that cannot be read (no letter, too long) has
        UNREADABLE_LOG_PROBABILITY a letter. Many strings are read by the engine `for_many`, with the same result."""
        if not len(words):
            return np.zeros(0)
        with self._lock:
            novelty = self._compiled_novelty if self.uses_numba(words, for_many) else self.novelty
        rows = self.strings(words).rows
        logs = novelty.totals(rows)
        if a_letter:
            logs = logs / (rows.lengths + 1)
        return np.where(rows.lengths > 0, logs, UNREADABLE_LOG_PROBABILITY * (1 if a_letter else MAX_WORD_LENGTH))

    def warm_up(self) -> None:
        """Build everything that reading many strings needs; reading a few is faster with it, too. While the buckets are
        sorted other threads can read a few strings without waiting."""
        with self._lock:
            self._build()
        _ = self.index.buckets

    def _build(self) -> None:
        _ = self.index, self.novelty, self.rank_costs, self.slips

    def __call__(self, words: Sequence[str], engine: str = "numpy", threads: int = 1) -> Readings:
        """The readings of any strings, each as an unknown one, even where it is a known word.

        `engine` is numpy or numba, with the same result. No strings: nothing is built.
        """
        readings = all_new(len(words))
        if not len(words):
            return readings
        with self._lock:
            self._build()
            compiled = self._compiled_index if engine == "numba" else None
            novelty = self.novelty if compiled is None else self._compiled_novelty
            if compiled is None and len(words) > MAX_STRINGS_UNSORTED:
                _ = self.index.buckets

        def run(part: slice) -> None:
            strings = self.strings(words[part])
            places, costs = self._by_numpy(strings) if compiled is None else self._by_numba(strings, compiled)
            new = novelty.score(*strings, self.channel.new_weights)
            some = posterior(self.known_rows, places, costs, new)
            readings.rows[part], readings.probabilities[part], readings.new[part] = some

        in_chunks(run, len(words), STRINGS_PER_NUMPY_BATCH if compiled is None else STRINGS_PER_NUMBA_BATCH, threads)
        return readings

    def by(self, words: Sequence[str], for_many: str = "numpy", threads: int | None = None) -> Readings:
        """The readings of any strings: of a few by numpy, of many by the engine `for_many`."""
        return self(words, "numba" if self.uses_numba(words, for_many) else "numpy", threads or 1)

    def uses_numba(self, words: Sequence[str], for_many: str) -> bool:
        """Whether to read these strings by numba, if that is the engine `for_many`: where MIN_STRINGS_FOR_NUMBA have
        been asked for so far, or numba is imported anyway; never for a few strings."""
        self._asked += len(words)
        many = self._asked >= MIN_STRINGS_FOR_NUMBA or "numba" in sys.modules
        return for_many == "numba" and many and len(words) > MAX_STRINGS_UNSORTED

    @cached_property
    def _compiled_index(self) -> CompiledIndex:
        from lovevec.engine.compile import compile_notice
        from lovevec.near.kernel import CompiledIndex

        with compile_notice():
            compiled = CompiledIndex(self.index, self.symbols, self.slips, self.rank_costs)
            some = self.strings(["aa"])
            self._by_numba(some, compiled)
            self._compiled_novelty.score(*some, self.channel.new_weights)
        return compiled

    @cached_property
    def _compiled_novelty(self) -> Novelty:
        from lovevec.near.kernel import CompiledNovelty

        return CompiledNovelty(self.novelty)

    def _by_numba(self, strings: Strings, compiled: CompiledIndex) -> tuple[Integers, Integers]:
        shape = len(strings.rows), WORDS_PER_READING
        places, costs = np.full(shape, -1, dtype=np.int32), np.full(shape, NO_CANDIDATE_COST, dtype=np.int32)
        compiled(strings.rows, MAX_COST_GAP, places, costs)
        return places, costs

    def _by_numpy(self, strings: Strings) -> tuple[Integers, Integers]:
        """The cheapest candidates of each string: their places in the index and their costs, both
        [strings, WORDS_PER_READING]."""
        asked = Spellings.of(strings.rows, self.symbols)
        candidates = self.index.candidates(asked)
        cost, string = self.costs(asked, candidates), candidates.owners
        order = np.lexsort((candidates.values, cost, string))
        place = np.arange(len(string)) - candidates.offsets[string]
        chosen = order[place < WORDS_PER_READING]
        shape = len(asked), WORDS_PER_READING
        places, costs = np.full(shape, -1, dtype=np.int32), np.full(shape, NO_CANDIDATE_COST)
        at = string[chosen], place[place < WORDS_PER_READING]
        places[at], costs[at] = candidates.values[chosen], cost[chosen]
        return places, costs

    def costs(self, asked: Spellings, candidates: Ragged) -> NDArray[np.int32]:
        """[candidates] what each one costs its string: the cheapest alignment and the word's rank."""
        cost: Integers = align(self.pairs(asked, candidates), self.slips) + self.rank_costs[candidates.values]
        return cost

    def pairs(self, asked: Spellings, candidates: Ragged) -> Pairs:
        """The pairs to align: each string with each of its candidates."""
        string, known = candidates.owners, self.index.known
        return Pairs(
            known.symbols[candidates.values], known.lengths[candidates.values],
            asked.symbols[string], asked.lengths[string],
        )  # fmt: skip
