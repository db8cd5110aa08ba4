"""The reader: for unknown strings, the probabilities of the known words that may be meant, and of none.

read = Reader(words, channel)
readings = read(["recieve", "blorfing"])
readings.rows[0], readings.probabilities[0]     the rows of receive, relieve, …; 0.97, 0.01, …
readings.new                                    [0.01, 0.98]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core as compiled_core
from lovevec.engine.compiled import is_compiled, prepare
from lovevec.engine.threads import in_chunks
from lovevec.near.alignment import Pairs, Slips, align
from lovevec.near.channel import Channel
from lovevec.near.index import MAX_WORD_LENGTH, Index, Spellings, quick_rank_costs
from lovevec.near.novelty import Novelty
from lovevec.near.readings import (
    NEW_DIVISOR_IN_TEXT,
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
    from lovevec import _core as core

# The most frequent words of a table are the candidates. Of 27,664 real misspellings with a million words in the table
# the right one comes first for 57.5 % with 100,000 candidates, 57.2 % with 50,000, 56.7 % with 250,000 (at two thirds
# of the speed), 56.4 % with a million: a rarer word is seldom meant, but often looks alike (docs/results/scale.md).
MAX_KNOWN_WORDS = 100_000
STRINGS_PER_BATCH = 512  # that a thread takes at a time
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

    :param lowercase: whether words and strings are compared in lower case.
    :param compiled: whether the compiled core reads, by default where it is there: readings are the same to the bit.

    The index of the words and the rest of the tables are built by the first call that has something to read, by one
    thread while the others wait; after that nothing changes.
    """

    def __init__(
        self,
        words: Sequence[str],
        channel: Channel,
        lowercase: bool = True,
        compiled: bool | None = None,
    ) -> None:
        self.words, self.channel, self.lowercase = words, channel, lowercase
        self.compiled = is_compiled("auto") if compiled is None else compiled
        self._lock, self._is_built = RLock(), False

    @classmethod
    def like(cls, other: Reader, channel: Channel, compiled: bool | None = None) -> Reader:
        """A reader of the same words under another channel; it shares with `other` what does not depend on that."""
        reader = cls(other.words, channel, other.lowercase, other.compiled if compiled is None else compiled)
        shared = ("symbols", "_known_codes", "_candidates", "index", "novelty", "_place")
        reader.__dict__.update({name: other.__dict__[name] for name in shared if name in other.__dict__})
        return reader

    def __reduce__(self) -> tuple[Any, ...]:  # compiled where that is read
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
        count = offsets_of(marked[rows.values])
        has_one: NDArray[np.bool_] = count[rows.offsets[1:]] > count[rows.offsets[:-1]]
        return has_one

    def strings(self, words: Sequence[str]) -> Strings:
        """Strings as they are compared: of a letter that stands three times or more in a row two are kept."""
        codes = self._codes(words)
        values = self.symbols.of_code[codes.values]
        same = codes.values[1:] == codes.values[:-1]
        kept = np.ones(len(values) + 2, dtype=np.bool_)
        np.logical_not(same[1:] & same[:-1], out=kept[2:-2])
        kept[codes.offsets] = kept[codes.offsets + 1] = True  # the first two letters of a word
        kept = kept[: len(values)]
        offsets = offsets_of(kept)[codes.offsets]
        rows = Ragged(values[kept], offsets)
        lengths = rows.lengths
        digits = self._any(self._digits, rows)
        whole = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) <= MAX_STRETCHED_LENGTH
        readable = self._any(self._letters, rows) & (lengths <= MAX_WORD_LENGTH) & (lengths >= 2) & whole
        inside = np.repeat(readable, lengths)
        names = np.fromiter((word[:1].isupper() and not word[1:].isupper() for word in words), np.bool_, len(words))
        return Strings(Ragged(rows.values[inside], offsets_of(lengths * readable)), digits, names)

    def likelihood(self, words: Sequence[str], a_letter: bool = False) -> NDArray[np.float64]:
        """[words] how much each string is spelled like the known words: its log probability under their character
        model, or with `a_letter` the mean over its letters. A string that cannot be read (no letter, too long) has
        UNREADABLE_LOG_PROBABILITY a letter."""
        if not len(words):
            return np.zeros(0)
        self._build()
        if self.compiled:
            logs, lengths = np.empty(len(words)), np.empty(len(words), dtype=np.int64)
            self._core_index.likelihood(words, logs, lengths)
        else:
            rows = self.strings(words).rows
            logs, lengths = self.novelty.totals(rows), rows.lengths
        if a_letter:
            logs = logs / (lengths + 1)
        return np.where(lengths > 0, logs, UNREADABLE_LOG_PROBABILITY * (1 if a_letter else MAX_WORD_LENGTH))

    def warm_up(self) -> None:
        """Build everything that reading strings needs, which the first call builds otherwise."""
        self._build()

    def _build(self) -> None:
        if self._is_built:
            return
        with self._lock:
            _ = self._core_index if self.compiled else (self.index.buckets, self.novelty, self.rank_costs, self.slips)
            self._is_built = True

    def __call__(self, words: Sequence[str], threads: int | None = None, in_text: bool = False) -> Readings:
        """The readings of any strings, each as an unknown one, even where it is a known word; `in_text` as words of
        running text. No strings: nothing is built."""
        if not len(words):
            return all_new(0)
        self._build()
        readings, run = Readings.empty(len(words)), self._read_compiled if self.compiled else self._read_by_numpy
        divisor = NEW_DIVISOR_IN_TEXT if in_text else 1.0

        def run_part(part: slice) -> None:
            run(words[part], readings.part(part), divisor)

        in_chunks(run_part, len(words), STRINGS_PER_BATCH, threads or 1)
        return readings

    def _read_compiled(self, words: Sequence[str], readings: Readings, new_divisor: float) -> None:
        self._core_index.read(words, *readings, new_divisor)

    def core_index(self) -> core.Index:
        """The known words and the channel as the compiled core has them."""
        self._build()
        return self._core_index

    @cached_property
    def _core_index(self) -> core.Index:
        one, two, _ = self.symbols.spellings
        known = self._candidates[1]
        index: core.Index = compiled_core().Index(
            symbol_of=self.symbols.of_code,
            folded=self.symbols.folded,
            sound=self.symbols.sound,
            classes=self.slips.classes,
            is_letter=self._letters,
            is_digit=self._digits,
            letter_e=self.symbols.number["e"],
            one=one,
            two=two,
            costs=self.slips.costs,
            substitution=self.slips.substitution,
            respelling=self.slips.spellings,
            new_weights=self.channel.new_weights,
            letters=known.values,
            offsets=known.offsets,
            rank_bits=quick_rank_costs(len(known)),
            rank_costs=self.rank_costs,
            table_rows=self.known_rows,
            prepare=partial(prepare, lowercase=self.lowercase),
            lowercase=self.lowercase,
        )
        return index

    def _read_by_numpy(self, words: Sequence[str], readings: Readings, new_divisor: float) -> None:
        strings = self.strings(words)
        new = self.novelty.score(*strings, self.channel.new_weights)
        results = posterior(self.known_rows, *self._by_numpy(strings), new)
        if new_divisor != 1:
            results = results.with_new_divided(new_divisor)
        readings.rows[:], readings.probabilities[:], readings.new[:] = results

    def _by_numpy(self, strings: Strings) -> tuple[Integers, Integers]:
        """The cheapest candidates of each string: their places in the index and their costs, both
        [strings, WORDS_PER_READING]."""
        asked = Spellings.of(strings.rows, self.symbols)
        candidates = self.index.candidates(asked)
        costs, string = self.costs(asked, candidates), candidates.owners
        cheapest = string << 48 | costs.astype(np.int64) << 24 | candidates.values
        cheapest.sort()  # of each string the cheapest first, of equally cheap ones the first word
        place = np.arange(len(string)) - candidates.offsets[string]
        first = place < WORDS_PER_READING
        at, cheapest = (string[first], place[first]), cheapest[first] & (1 << 48) - 1
        shape = len(asked), WORDS_PER_READING
        places, costs = np.full(shape, -1, dtype=np.int32), np.full(shape, NO_CANDIDATE_COST)
        places[at], costs[at] = cheapest & (1 << 24) - 1, cheapest >> 24
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
