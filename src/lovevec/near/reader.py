"""A string's reading: how probable it is that each of some known words was meant, and that none was.

read = Reader(words, channel)
reading = read(["recieve", "blorfing"])
reading.rows[0], reading.chances[0]     the rows of receive, relieve, …; 0.97, 0.01, …
reading.new                             [0.01, 0.98]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.threads import in_chunks
from lovevec.errors import LovevecError
from lovevec.near.alignment import Pairs, Slips, align
from lovevec.near.channel import UNIT, Channel
from lovevec.near.index import FEW, LONGEST, Index, Spelled
from lovevec.near.novelty import Novelty
from lovevec.near.symbols import Symbols
from lovevec.units.characters import to_codes
from lovevec.units.ragged import Ragged, offsets_of
from lovevec.units.words import checked_words

if TYPE_CHECKING:
    from lovevec.near.kernel import Compiled

MOST = 10  # known words of a reading
# Words that others can be meant for, the most frequent of a table. Of 27,664 real misspellings of a million words the
# right one comes first for 57.5 % with so many; for 57.2 % with 50,000, 56.7 with 250,000 at two thirds of the speed,
# 56.4 with a million: a rarer word is hardly ever what was meant, but often looks like it (docs/results/scale.md).
MOST_KNOWN = 100_000
WORTH = 8 * UNIT  # a candidate that costs so much more than the best has no chance
LEAST = 0.01  # of a word's probability, to count in a vector
LESS_NEW = math.e  # measured on STS-B's train pairs, mistyped (docs/results/texts.md)
ADDED = 8192  # rows added at a time
# Fewer strings than these are not worth importing numba for; readings are the same by both.
MANY_STRINGS = 2000
NONE = np.int32(1 << 30)
STRANGEST = -6.0
STRETCHED = 48  # characters: a longer string is no word with some letters too many
NUMPY_BATCH, NUMBA_BATCH = 2048, 4096

Places = NDArray[np.int32]


class Reading(NamedTuple):
    """`rows` [strings, MOST] of the known words, most probable first, -1 where there are no more; their `chances`, 0
    there; and the chance of `new` [strings]. A string's chances add up to 1."""

    rows: NDArray[np.int32]
    chances: NDArray[np.float64]
    new: NDArray[np.float64]

    def part(self, which: slice) -> Reading:
        """Of some strings."""
        return Reading(self.rows[which], self.chances[which], self.new[which])

    def in_text(self) -> Reading:
        """The same of words in running text, where an unknown string is a misspelling more often than in a list of
        words."""
        new = self.new / LESS_NEW
        total = new + self.chances.sum(axis=1)
        total = np.where(total > 0, total, 1)
        return Reading(self.rows, self.chances / total[:, None], new / total)

    def as_new(self, which: NDArray[np.bool_]) -> Reading:
        """The same, but that these strings are new for certain."""
        return Reading(
            np.where(which[:, None], np.int32(-1), self.rows),
            np.where(which[:, None], 0.0, self.chances),
            np.where(which, 1.0, self.new),
        )


def only_new(count: int) -> Reading:
    """Of so many strings that are new for certain."""
    return Reading(np.full((count, MOST), -1, dtype=np.int32), np.zeros((count, MOST)), np.ones(count))


def near_words(
    words: Sequence[str], rows: NDArray[np.int64], reading: Reading, k: int
) -> list[list[tuple[str, float]]]:
    """For each string up to k known words with their probabilities: of `rows` that known word, where -1 stands those
    of the next reading."""
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise LovevecError(f"k is {k!r}: must be at least 1, a whole number")
    pairs = zip(reading.rows.tolist(), reading.chances.tolist(), strict=True)
    found = []
    for row in rows.tolist():
        if row >= 0:
            found.append([(words[row], 1.0)])
        else:
            near, chances = next(pairs)
            found.append([(words[one], chance) for one, chance in zip(near, chances, strict=True) if one >= 0][:k])
    return found


def reading_names(words: Sequence[str], rows: NDArray[np.int64], reading: Reading) -> list[str]:
    """How each word is read: of `rows` a known one, where -1 stands by the next reading near (more probably a known
    word than not) or new; empty where there is nothing to read."""
    new = iter((reading.new >= 0.5).tolist())
    named = ["known" if row >= 0 else "new" if next(new) else "near" for row in rows.tolist()]
    return [name if word.strip() else "empty" for name, word in zip(named, words, strict=True)]


class ReadsStrings:
    """What a LOVE and an attached table have in common: `near`, `readings`, `read_in_full`, by what they look up, read
    and are sure of."""

    @property
    def words(self) -> Sequence[str]:
        """The known words."""
        raise NotImplementedError

    def read(self, strings: Sequence[str]) -> Reading:
        """What unknown strings may stand for."""
        raise NotImplementedError

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        raise NotImplementedError

    def _sureness(
        self, words: Sequence[str], rows: NDArray[np.int64], unknown: Sequence[str], reading: Reading
    ) -> NDArray[np.float64]:
        raise NotImplementedError

    @overload
    def near(self, word: str, k: int = ...) -> list[tuple[str, float]]: ...  # type: ignore[overload-overlap]
    @overload
    def near(self, word: Iterable[str], k: int = ...) -> list[list[tuple[str, float]]]: ...
    def near(self, word: str | Iterable[str], k: int = 5) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """The known words that a string may stand for, with their probabilities, most probable first, up to k. What is
        missing to 1 is the probability that it is a new word (and of what came after the k-th). A known word stands
        for itself; an empty one for nothing. For a list of words a list for each."""
        rows, unknown = self._look_up([word] if isinstance(word, str) else checked_words(word))
        found = near_words(self.words, rows, self.read(unknown), k)
        return found[0] if isinstance(word, str) else found

    def readings(self, words: Iterable[str]) -> list[str]:
        """How each word is read: known (itself, or what it is a form of), near (more probably a known word than not),
        new, or empty."""
        listed = checked_words(words)
        rows, unknown = self._look_up(listed)
        return reading_names(listed, rows, self.read(unknown))

    def read_in_full(
        self, words: Iterable[str], k: int = 5
    ) -> tuple[list[str], list[list[tuple[str, float]]], NDArray[np.float64]]:
        """What `readings`, `near` and `confidence` give, at the cost of the last."""
        listed = checked_words(words)
        rows, unknown = self._look_up(listed)
        reading = self.read(unknown)
        sure = self._sureness(listed, rows, unknown, reading)
        return reading_names(listed, rows, reading), near_words(self.words, rows, reading, k), sure


class Strings(NamedTuple):
    """Strings as they are read: rows of symbols (empty for one that cannot be near anything), and what else counts."""

    rows: Ragged
    digits: NDArray[np.bool_]
    names: NDArray[np.bool_]


class Reader:
    """Known words and a channel. What is needed is made when first asked for, by one thread; then nothing changes."""

    def __init__(self, words: Sequence[str], channel: Channel, lowercase: bool = True) -> None:
        self.words, self.channel, self.lowercase = words, channel, lowercase
        self._lock, self._asked = RLock(), 0

    @classmethod
    def like(cls, other: Reader, channel: Channel) -> Reader:
        """The same words under another channel; what does not depend on it is shared."""
        made = cls(other.words, channel, other.lowercase)
        shared = ("symbols", "_candidates", "index", "novelty", "_place")
        made.__dict__.update({name: other.__dict__[name] for name in shared if name in other.__dict__})
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Reader, (self.words, self.channel, self.lowercase)

    @cached_property
    def symbols(self) -> Symbols:
        """Of the known words' characters."""
        return Symbols.of_codes(self._known_codes.values)

    @cached_property
    def _known_codes(self) -> Ragged:
        return self._codes(self.words[:MOST_KNOWN])

    @cached_property
    def _letters(self) -> NDArray[np.bool_]:
        return np.array([False, *map(str.isalpha, self.symbols.characters)])

    @cached_property
    def _digits(self) -> NDArray[np.bool_]:
        return np.array([False, *map(str.isdigit, self.symbols.characters)])

    @cached_property
    def slips(self) -> Slips:
        """What slips cost."""
        return Slips(self.symbols, self.channel.slip_costs)

    @cached_property
    def _candidates(self) -> tuple[NDArray[np.int32], Ragged]:
        """The known words that others can be meant for: those of two letters or more, the MOST_KNOWN first."""
        codes = self._known_codes
        rows = Ragged(self.symbols.of_code[codes.values], codes.offsets)
        able = (rows.lengths >= 2) & (rows.lengths <= LONGEST) & self._any(self._letters, rows)
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
        """The row in the table of each known word of the index."""
        return self._candidates[0]

    @cached_property
    def index(self) -> Index:
        """Candidates by bucket."""
        return Index(Spelled.of(self._candidates[1], self.symbols))

    @cached_property
    def novelty(self) -> Novelty:
        """The character model of the known words."""
        return Novelty(self._candidates[1])

    @cached_property
    def rank_costs(self) -> NDArray[np.int32]:
        """Of each known word of the index."""
        return self.channel.rank_costs(self.known_rows)

    def _codes(self, words: Sequence[str]) -> Ragged:
        return to_codes(words, self.lowercase)

    def _any(self, marked: NDArray[np.bool_], rows: Ragged) -> NDArray[np.bool_]:
        count = np.append(0, np.cumsum(marked[rows.values]))
        found: NDArray[np.bool_] = count[rows.offsets[1:]] > count[rows.offsets[:-1]]
        return found

    def strings(self, words: Sequence[str]) -> Strings:
        """As they are read: of a letter that stands three times or more in a row two are kept."""
        codes = self._codes(words)
        values = self.symbols.of_code[codes.values]
        place = np.arange(len(values)) - np.repeat(codes.offsets[:-1], codes.lengths)
        third = np.zeros(len(values), dtype=np.bool_)
        third[2:] = (codes.values[2:] == codes.values[1:-1]) & (codes.values[2:] == codes.values[:-2])
        third &= place >= 2
        before = np.append(0, np.cumsum(~third))
        rows = Ragged(values[~third], before[codes.offsets])
        digits = self._any(self._digits, rows)
        whole = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) <= STRETCHED
        readable = self._any(self._letters, rows) & (rows.lengths <= LONGEST) & (rows.lengths >= 2) & whole
        lengths = np.where(readable, rows.lengths, 0)
        kept = np.repeat(readable, rows.lengths)
        names = np.fromiter((word[:1].isupper() and not word[1:].isupper() for word in words), np.bool_, len(words))
        return Strings(Ragged(rows.values[kept], offsets_of(lengths)), digits, names)

    def likelihood(self, words: Sequence[str], a_letter: bool = False, for_many: str = "numpy") -> NDArray[np.float64]:
        """How much each string is spelled like the known words: its log probability, or the mean of its letters'. What
        cannot be read (no letter, too long) is as strange as can be. By numpy, or for many by `for_many`, with the same
        result."""
        with self._lock:
            novelty = self._compiled_novelty if self.compiled_for(words, for_many) else self.novelty
        rows = self.strings(words).rows
        logs = novelty.totals(rows)
        if a_letter:
            logs = logs / (rows.lengths + 1)
        return np.where(rows.lengths > 0, logs, STRANGEST if a_letter else STRANGEST * LONGEST)

    def warm_up(self) -> None:
        """Make what is made when many strings are first read; a few are read faster with it, too. Meanwhile others may
        read a few: nobody waits."""
        with self._lock:
            _ = self.index, self.novelty, self.rank_costs, self.slips
        _ = self.index.buckets

    def __call__(self, words: Sequence[str], engine: str = "numpy", threads: int = 1) -> Reading:
        """The readings of any strings, each as an unknown one; by numpy or numba, with the same result."""
        with self._lock:
            _ = self.index, self.novelty, self.rank_costs, self.slips
            compiled = self._compiled if engine == "numba" else None
            novelty = self.novelty if compiled is None else self._compiled_novelty
            if compiled is None and len(words) > FEW:
                _ = self.index.buckets
        result = only_new(len(words))

        def run(part: slice) -> None:
            strings = self.strings(words[part])
            places, costs = self._by_numpy(strings) if compiled is None else self._by_numba(strings, compiled)
            new = novelty.score(*strings, self.channel.new_weights)
            found = posterior(self.known_rows, places, costs, new)
            result.rows[part], result.chances[part], result.new[part] = found

        in_chunks(run, len(words), NUMPY_BATCH if compiled is None else NUMBA_BATCH, threads)
        return result

    def by(self, words: Sequence[str], for_many: str = "numpy", threads: int | None = None) -> Reading:
        """The same by numpy for a few strings, and for many by what is `for_many`."""
        return self(words, "numba" if self.compiled_for(words, for_many) else "numpy", threads or 1)

    def compiled_for(self, words: Sequence[str], for_many: str) -> bool:
        """Whether so many strings are read by numba: many at once or by and by, or some where it is there anyway."""
        self._asked += len(words)
        many = self._asked >= MANY_STRINGS or "numba" in sys.modules
        return for_many == "numba" and many and len(words) > FEW

    @cached_property
    def _compiled(self) -> Compiled:
        from lovevec.engine.kernel import announced
        from lovevec.near.kernel import Compiled

        with announced():
            compiled = Compiled(self.index, self.symbols, self.slips, self.rank_costs)
            some = self.strings(["aa"])
            self._by_numba(some, compiled)
            self._compiled_novelty.score(*some, self.channel.new_weights)
        return compiled

    @cached_property
    def _compiled_novelty(self) -> Novelty:
        from lovevec.near.likelihood import CompiledNovelty

        return CompiledNovelty(self.novelty)

    def _by_numba(self, strings: Strings, compiled: Compiled) -> tuple[Places, Places]:
        shape = len(strings.rows), MOST
        places, costs = np.full(shape, -1, dtype=np.int32), np.full(shape, NONE, dtype=np.int32)
        compiled(strings.rows, WORTH, places, costs)
        return places, costs

    def _by_numpy(self, strings: Strings) -> tuple[Places, Places]:
        """The cheapest candidates of each string, [strings, MOST] places in the index, and what they cost."""
        asked = Spelled.of(strings.rows, self.symbols)
        candidates = self.index.candidates(asked)
        cost, string = self.costs(asked, candidates), candidates.owners
        order = np.lexsort((candidates.values, cost, string))
        place = np.arange(len(string)) - candidates.offsets[string]
        chosen = order[place < MOST]
        places, costs = np.full((len(asked), MOST), -1, dtype=np.int32), np.full((len(asked), MOST), NONE)
        at = string[chosen], place[place < MOST]
        places[at], costs[at] = candidates.values[chosen], cost[chosen]
        return places, costs

    def costs(self, asked: Spelled, candidates: Ragged) -> NDArray[np.int32]:
        """What each candidate costs: its alignment and its rank."""
        cost: Places = align(self.pairs(asked, candidates), self.slips) + self.rank_costs[candidates.values]
        return cost

    def pairs(self, asked: Spelled, candidates: Ragged) -> Pairs:
        """Each string with each of its candidates."""
        string, known = candidates.owners, self.index.known
        return Pairs(
            known.symbols[candidates.values], known.lengths[candidates.values],
            asked.symbols[string], asked.lengths[string],
        )  # fmt: skip


def posterior(known_rows: NDArray[np.int32], places: Places, costs: Places, new: NDArray[np.float64]) -> Reading:
    """Softmax over the cheapest candidates of each string and new."""
    chosen = (places >= 0) & (costs <= costs[:, :1] + WORTH)
    rows = np.where(chosen, np.append(known_rows, np.int32(-1))[places], np.int32(-1))
    utility = np.where(chosen, -costs / UNIT, -np.inf)
    best = np.maximum(utility[:, 0], new)
    weights, own = np.exp(utility - best[:, None]), np.exp(new - best)
    total = own.copy()
    for column in range(MOST):  # in one order, whatever the processor's vectors
        total += weights[:, column]
    return Reading(rows, weights / total[:, None], own / total)


def add_readings(
    vectors: NDArray[np.float32], reading: Reading, own: Callable[[NDArray[np.int32]], NDArray[np.float32]]
) -> None:
    """Add to each vector Σ p(word) · the word's own, which `own` gives for rows of the table. Words of next to no
    probability are left out."""
    for column in range(MOST):  # one after the other, so that a string's sum does not depend on its company
        strings = np.flatnonzero(reading.chances[:, column] >= LEAST)
        for low in range(0, len(strings), ADDED):
            part = strings[low : low + ADDED]
            chances = reading.chances[part, column].astype(np.float32)
            vectors[part] += own(reading.rows[part, column]) * chances[:, None]
