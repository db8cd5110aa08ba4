"""The reader: for unknown strings, the probabilities of the known words that may be meant, and of none.

read = Reader(words, Orthography())
readings = read(["recieve", "blorfing"])
readings.rows[0], readings.probabilities[0]     the rows of receive, relieve, …; 0.97, 0.01, …
readings.new                                    [0.01, 0.98]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.languages import ENGLISH
from lovevec.engine.compiled import MAX_CAPITALS, is_compiled, prepare
from lovevec.engine.compiled import core as compiled_core
from lovevec.engine.threads import in_chunks
from lovevec.locks import ForkLock
from lovevec.near import exact
from lovevec.near.alignment import DIGIT_COST, Pairs, Slips, align
from lovevec.near.channel import UNIT
from lovevec.near.forms import MAX_WORDS_OF_FORM, Listed
from lovevec.near.index import MAX_WORD_LENGTH, Index, Spellings, quick_rank_costs
from lovevec.near.joined import (
    LINK_COST,
    LINKED_WORDS,
    LINKS,
    MAX_ONE_LETTER_ROW,
    MAX_PART,
    MAX_PARTS,
    MIN_DAMAGED_LENGTH,
    MIN_JOINED_LENGTH,
    MIN_LINKED,
    Cuts,
    JoinedWords,
    spans_of,
)
from lovevec.near.kinds import WORD, Part
from lovevec.near.lexicon import MAX_ENDING, word_hashes
from lovevec.near.novelty import LISTED, MIN_LIKENESS, features, likeness, score
from lovevec.near.orthography import Orthography
from lovevec.near.parts import Composite, as_one_word, decide, elision_of, take_apart
from lovevec.near.readings import (
    NEW_DIVISOR_IN_TEXT,
    WORDS_PER_READING,
    Integers,
    Readings,
    all_new,
    posterior,
)
from lovevec.near.symbols import Symbols
from lovevec.near.torn import TornWords
from lovevec.units.characters import to_codes, to_words
from lovevec.units.ragged import Ragged, offsets_of

if TYPE_CHECKING:
    from lovevec import _core as core

# The most frequent words of a table are the candidates. Of 27,664 real misspellings with a million words in the table
# the right one comes first for 57.5 % with 100,000 candidates, 57.2 % with 50,000, 56.7 % with 250,000 (at two thirds
# of the speed), 56.4 % with a million: a rarer word is seldom meant, but often looks alike (docs/results/scale.md).
MAX_KNOWN_WORDS = 100_000
STRINGS_PER_BATCH = 512  # that a thread takes at a time
NO_CANDIDATE_COST = np.int32(1 << 30)  # above that of any candidate
WITHOUT_MARKS = 0.97  # how probably a string is a known word without its marks, where it is no word itself
TAG = 20.0  # how many times as likely a hashtag is several words
MAX_STRETCHED_LENGTH = 48  # characters: a longer string is not a word with a few letters repeated

Bools = NDArray[np.bool_]


class Strings(NamedTuple):
    """Strings as the reader compares them."""

    rows: Ragged  # of symbols; empty for a string that cannot be near any word
    codes: Ragged  # of code points, likewise
    digits: Bools  # whether the string has a digit
    names: Bools  # whether it begins with a capital and goes on in lower case
    capitals: Bools  # whether it is a few capitals
    plain: Bools  # whether it has nothing but letters
    stretched: Bools  # whether letters of it were left out: soooo


class Damaged(NamedTuple):
    """A misspelled word among words that are run together: the number of the string, where it stands there, and the
    place of the word that was meant in the index."""

    string: int
    start: int
    end: int
    word: int


class Reader:
    """Reads unknown strings by known words and an orthography.

    :param words: the known words, in the order of their frequency.
    :param orthography: the channel, the lexicon and the listed forms.
    :param ranks: [words] those by which words are the likelier to be meant the smaller they are; by default their
        places.
    :param lowercase: whether words and strings are compared in lower case.
    :param compiled: whether the compiled core reads, by default where it is there: readings are the same to the bit.

    The index of the words and the rest of the tables are built by the first call that has something to read, by one
    thread while the others wait; after that nothing changes.
    """

    def __init__(
        self,
        words: Sequence[str],
        orthography: Orthography,
        lowercase: bool = True,
        compiled: bool | None = None,
        ranks: NDArray[np.int32] | None = None,
        places: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        self.words, self.orthography, self.lowercase, self.ranks = words, orthography, lowercase, ranks
        self._places = places
        self.channel, self.lexicon = orthography.channel, orthography.lexicon
        self.compiled = is_compiled("auto") if compiled is None else compiled
        self._lock, self._is_built = ForkLock(), False

    @classmethod
    def like(cls, other: Reader, orthography: Orthography, compiled: bool | None = None) -> Reader:
        """A reader of the same words by another orthography; it shares with `other` what does not depend on that."""
        compiled = other.compiled if compiled is None else compiled
        reader = cls(other.words, orthography, other.lowercase, compiled, other.ranks, other._places)
        shared = ("symbols", "_frequent_rows", "_known_codes", "_candidates", "index", "places")
        reader.__dict__.update({name: other.__dict__[name] for name in shared if name in other.__dict__})
        return reader

    def __reduce__(self) -> tuple[Any, ...]:  # compiled where that is read
        return Reader, (self.words, self.orthography, self.lowercase, None, self.ranks)

    @cached_property
    def symbols(self) -> Symbols:
        """The alphabet: the characters of the known words as small numbers."""
        return Symbols.of_codes(self._known_codes.values, self.orthography.language)

    @cached_property
    def _frequent_rows(self) -> NDArray[np.int32]:
        """The rows of the MAX_KNOWN_WORDS most frequent words, most frequent first."""
        if self.ranks is None:
            return np.arange(min(len(self.words), MAX_KNOWN_WORDS), dtype=np.int32)
        return np.argsort(self.ranks, kind="stable")[:MAX_KNOWN_WORDS].astype(np.int32)

    @cached_property
    def _known_codes(self) -> Ragged:
        if self.ranks is None:
            return self._codes(self.words[:MAX_KNOWN_WORDS])
        return self._codes([self.words[row] for row in self._frequent_rows.tolist()])

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
        return self._frequent_rows[chosen], rows.take(chosen)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The row of each known word."""
        return {word: row for row, word in enumerate(self.words)} if self._places is None else self._places()

    def row(self, word: str | None) -> int:
        """The row of a known word; -1 for any other, and for None."""
        return -1 if word is None else self.places.get(word, -1)

    @property
    def known_rows(self) -> NDArray[np.int32]:
        """[words of the index] their rows in the table."""
        return self._candidates[0]

    @cached_property
    def index(self) -> Index:
        """The index in which candidates are found by bucket."""
        return Index(Spellings.of(self._candidates[1], self.symbols), self._quick_ranks)

    @property
    def _quick_ranks(self) -> NDArray[np.int32]:
        """[words of the index] by which candidates are put in order: their places in the index."""
        known = self.known_rows
        return np.arange(len(known), dtype=np.int32) if self.ranks is None else self.ranks[known]

    @cached_property
    def rank_costs(self) -> NDArray[np.int32]:
        """[words of the index] what the channel's prior costs: more for rarer words."""
        return self.channel.rank_costs(self._ranks_of(self.known_rows))

    def _ranks_of(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        return rows if self.ranks is None else self.ranks[rows]

    @cached_property
    def joined_words(self) -> JoinedWords:
        """The known words that may be run together: of letters alone, two at least but for the most frequent."""
        codes = self._known_codes
        letters = offsets_of(self._letters[self.symbols.of_code[codes.values]])
        plain = letters[codes.offsets[1:]] - letters[codes.offsets[:-1]] == codes.lengths
        lengths = codes.lengths
        able = plain & (lengths <= MAX_PART) & ((lengths > 1) | (np.arange(len(codes)) < MAX_ONE_LETTER_ROW))
        able &= lengths > 0
        endings = word_hashes(to_codes(list(self.lexicon.endings), lowercase=False))
        short = np.flatnonzero(lengths <= MAX_ENDING)
        able[short] &= ~np.isin(word_hashes(codes.take(short)), endings)  # what makes other words is none itself
        chosen = np.flatnonzero(able)
        rows = self._frequent_rows[chosen]
        costs = self.channel.part_costs(self._ranks_of(rows), lengths[chosen])
        codes = codes.take(chosen)
        if links := LINKS.get(self.orthography.language.code):
            linked = np.flatnonzero((codes.lengths >= MIN_LINKED) & (np.arange(len(codes)) < LINKED_WORDS))
            words = to_words(codes.take(linked))
            more = to_codes([word + link for link in links for word in words], lowercase=False)
            codes = Ragged.from_lengths(
                np.concatenate([codes.values, more.values]), np.concatenate([codes.lengths, more.lengths])
            )
            rows = np.concatenate([rows, np.tile(rows[linked], len(links))])
            costs = np.concatenate([costs, np.tile(costs[linked] + np.int32(LINK_COST), len(links))])
        return JoinedWords(codes, rows, costs, self.channel.join_cost)

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
        capitals = np.fromiter((len(word) <= MAX_CAPITALS and word.isupper() for word in words), np.bool_, len(words))
        letters = offsets_of(self._letters[rows.values])
        plain = letters[offsets[1:]] - letters[offsets[:-1]] == lengths
        ends = offsets_of(lengths * readable)
        compared = Ragged(rows.values[inside], ends), Ragged(codes.values[kept][inside], ends)
        return Strings(*compared, digits, names, capitals, plain, stretched=codes.lengths > lengths)

    def likeness(self, words: Sequence[str]) -> NDArray[np.float64]:
        """[words] how much each string is spelled like a word: the log odds by the lexicon, at least MIN_LIKENESS,
        which also a string has that cannot be read (no letter, too long)."""
        if not len(words):
            return np.zeros(0)
        self._build()
        if self.compiled:
            result = np.empty(len(words))
            self._core_index.likeness(words, result)
            return result
        codes = self.strings(words).codes
        return np.where(codes.lengths > 0, likeness(self.lexicon, codes), MIN_LIKENESS)

    def warm_up(self) -> None:
        """Build everything that reading strings needs, which the first call builds otherwise."""
        self._build()

    def _build(self) -> None:
        if self._is_built:
            return
        with self._lock:
            _ = self._core_index if self.compiled else (self.index.buckets, self.joined_words, self.slips)
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
            run(words[part], readings.some(part), divisor)

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
        known, joined, forms = self._candidates[1], self.joined_words, self._listed_forms
        endings = to_codes(list(self.lexicon.endings), lowercase=False)
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
            filter=self.lexicon.filter,
            grams=self.lexicon.grams,
            gram_scale=self.lexicon.scale,
            ending_hashes=word_hashes(endings),
            ending_sizes=endings.lengths,
            joined_hashes=word_hashes(joined.codes),
            joined_rows=joined.rows,
            joined_costs=joined.costs,
            joined_constant=self.channel.joined["constant"],
            join_cost=joined.join,
            letters=known.values,
            offsets=known.offsets,
            rank_bits=quick_rank_costs(self._quick_ranks),
            rank_costs=self.rank_costs,
            part_costs=self.part_costs,
            table_rows=self.known_rows,
            prepare=partial(prepare, lowercase=self.lowercase),
            lowercase=self.lowercase,
            form_hashes=forms.hashes,
            **{f"form_{name}": array for name, array in forms.readings._asdict().items()},
        )
        return index

    @cached_property
    def listed(self) -> Listed:
        """The forms that stand for known words: known words without marks, and those that are listed."""
        own = self.orthography.language
        if own.code == ENGLISH.code:  # which has hardly a word with marks
            return self.orthography.listed
        rows: dict[str, list[int]] = {}
        for row in self._frequent_rows.tolist():
            word = self.words[row]
            if not word.isascii() and len(word) <= MAX_WORD_LENGTH:
                word = word.lower() if self.lowercase else word
                for form in {own.plain(word), own.plain(word, full=True)}:
                    if form != word and len(form) > 1 and self.row(form) < 0:
                        rows.setdefault(form, []).append(row)
        exists = self.lexicon.has(word_hashes(self._codes(list(rows)))).tolist()
        chance = exact.exp(self._utilities)
        found = {}
        for (form, meant), is_word in zip(rows.items(), exists, strict=True):
            if not is_word:
                total = float(chance[meant[:MAX_WORDS_OF_FORM]].sum())
                found[form] = [
                    (self.words[row], WITHOUT_MARKS * float(chance[row]) / total) for row in meant[:MAX_WORDS_OF_FORM]
                ]
        return found | dict(self.orthography.listed)

    @cached_property
    def _listed_forms(self) -> ListedForms:
        return ListedForms.of(self)

    def utility(self, row: int) -> float:
        """Of a known word by itself: what its rank counts."""
        return float(self._utilities[row])

    @cached_property
    def torn_words(self) -> TornWords:
        """Which neighbors in a text are one known word torn in two."""
        return TornWords.of(self.channel, self._ranks_of(np.arange(len(self.words), dtype=np.int32)))

    @cached_property
    def _utilities(self) -> NDArray[np.float64]:
        rows = np.arange(len(self.words), dtype=np.int32)
        return -self.channel.rank_costs(self._ranks_of(rows)) / UNIT

    def take_apart(
        self, strings: Sequence[str], row_of: Callable[[str], int], threads: int | None = None
    ) -> Sequence[str | Composite]:
        """What each unknown string is: one word, as it is to be read, or several. `row_of` gives the row of a known
        word or of a form of one, else -1. The same list comes back where all are one word as they stand."""
        listed, result = self.listed, list[str | Composite](strings)
        odd = [
            place
            for place, string in enumerate(strings)
            if not (string.isalpha() and string[1:].islower()) and string.lower() not in listed
        ]
        if not odd:
            return strings

        def read(words: Sequence[str]) -> Readings:
            return self(words, threads)

        some = [strings[place] for place in odd]
        elision = elision_of(self.orthography.language.code)
        taken = [take_apart(string, lambda word: row_of(word) >= 0, elision) for string in some]
        for place, string, composite in zip(odd, some, decide(some, taken, row_of, self.utility, read), strict=True):
            if composite is None and string.startswith(("#", "@")):
                result[place] = self._words_of_tag(string, read)
            elif composite is not None:
                result[place] = composite
            result[place] = as_one_word(result[place])
        return result

    def _words_of_tag(self, tag: str, read: Callable[[Sequence[str]], Readings]) -> str | Composite:
        """A hashtag or a name of letters alone is several words sooner than another string: TAG times as likely."""
        body = tag.lstrip("#@")
        if len(body) < MIN_JOINED_LENGTH:
            return body or tag
        readings = read([body])
        if readings.parts[0] * TAG < 1 - readings.parts[0]:
            return body
        ends, shift = readings.part_ends[0].tolist(), len(tag) - len(body)
        spans = spans_of(body, ends[: int((readings.part_rows[0] >= 0).sum())])
        parts = (Part(body[start:end], WORD, start + shift, end + shift) for start, end in spans)
        return Composite(tuple(parts), "mark", False)

    def _read_by_numpy(self, words: Sequence[str], readings: Readings, new_divisor: float) -> None:
        strings = self.strings(words)
        features = self.features(strings)
        new = np.where(strings.codes.lengths > 0, score(features, self.channel.new_weights), 0.0)
        places, costs = self._by_numpy(strings)
        cuts, _ = self.cuts(strings, features, new, costs[:, 0])
        results = posterior(self.known_rows, places, costs, new, cuts, self.channel.joined["constant"])
        self._listed_forms.put(results, word_hashes(self._codes(words)))
        if new_divisor != 1:
            results = results.with_new_divided(new_divisor)
        for array, result in zip(tuple[Any, ...](readings), tuple[Any, ...](results), strict=True):
            array[:] = result

    def cuts(
        self, strings: Strings, features: NDArray[np.float64], new: NDArray[np.float64], near: Integers
    ) -> tuple[Cuts, list[Damaged]]:
        """The cheapest cut of each string into known words that are run together, and the misspelled words in them:
        these are looked for where the string is not listed, and nearer to new or to several words than to any known
        word, by its `features`, the utility of `new`, and the cost of the `near` word."""
        plain = np.repeat(strings.plain, strings.codes.lengths)
        cuts = self.joined_words(Ragged(strings.codes.values[plain], offsets_of(strings.codes.lengths * strings.plain)))
        several = self.channel.joined["constant"] - cuts.costs / UNIT
        is_far = np.maximum(new, several) >= -near / UNIT
        return cuts, self._put_damaged(strings, np.flatnonzero(is_far & (features[:, LISTED] == 0)), cuts)

    def _put_damaged(self, strings: Strings, which: NDArray[np.int64], cuts: Cuts) -> list[Damaged]:
        """Put cuts in which one word is misspelled in the place of those of some strings that cost more; returns these
        words."""
        which = which[strings.plain[which] & (strings.codes.lengths[which] >= MIN_DAMAGED_LENGTH)]
        gaps = [
            (number, gap)
            for number in which.tolist()
            for gap in self.joined_words.gaps(strings.codes.row(number).tolist())
        ]
        if not gaps:
            return []
        rows = [strings.rows.row(number)[gap.start : gap.end] for number, gap in gaps]
        asked = Spellings.of(Ragged.from_lengths(np.concatenate(rows), np.array(list(map(len, rows)))), self.symbols)
        candidates, alignments, _ = self._candidates_of(asked)
        costs = alignments + self.part_costs[candidates.values]
        order = np.lexsort((candidates.values, costs, candidates.owners))
        first = order[np.flatnonzero(np.diff(candidates.owners[order], prepend=-1))]
        found: dict[int, Damaged] = {}
        for place in first.tolist():
            number, gap = gaps[int(candidates.owners[place])]
            total = gap.cost + int(costs[place])
            if total < cuts.costs[number]:
                row = int(self.known_rows[candidates.values[place]])
                words = [*gap.before, (row, gap.end), *gap.behind]
                cuts.rows[number], cuts.ends[number] = -1, 0
                cuts.put(number, words, total)
                found[number] = Damaged(number, gap.start, gap.end, int(candidates.values[place]))
        return list(found.values())

    @cached_property
    def part_costs(self) -> NDArray[np.int32]:
        """[words of the index] what each costs as one of several words."""
        return self.channel.part_costs(self._ranks_of(self.known_rows), self._candidates[1].lengths)

    def features(self, strings: Strings) -> NDArray[np.float64]:
        """[strings, novelty's FEATURES]"""
        return features(self.lexicon, strings.codes, strings.stretched, strings.digits, strings.names, strings.capitals)

    def _by_numpy(self, strings: Strings) -> tuple[Integers, Integers]:
        """The cheapest candidates of each string: their places in the index and their costs, both
        [strings, WORDS_PER_READING]."""
        asked = Spellings.of(strings.rows, self.symbols)
        candidates, costs = self.candidates(asked)
        string = candidates.owners
        cheapest = string << 48 | costs.astype(np.int64) << 24 | candidates.values
        cheapest.sort()  # of each string the cheapest first, of equally cheap ones the first word
        place = np.arange(len(string)) - candidates.offsets[string]
        first = place < WORDS_PER_READING
        at, cheapest = (string[first], place[first]), cheapest[first] & (1 << 48) - 1
        shape = len(asked), WORDS_PER_READING
        places, costs = np.full(shape, -1, dtype=np.int32), np.full(shape, NO_CANDIDATE_COST)
        places[at], costs[at] = cheapest & (1 << 24) - 1, cheapest >> 24
        return places, costs

    def candidates(self, asked: Spellings) -> tuple[Ragged, NDArray[np.int32]]:
        """The candidates of each string, without those that would take a digit for another, and what each one costs:
        the cheapest alignment and the word's rank."""
        candidates, alignments, ranks = self._candidates_of(asked)
        return candidates, alignments + ranks

    def _candidates_of(self, asked: Spellings) -> tuple[Ragged, NDArray[np.int32], NDArray[np.int32]]:
        found = self.index.candidates(asked)
        costs = align(self.pairs(asked, found), self.slips)
        able = costs < DIGIT_COST
        candidates = Ragged(found.values[able], offsets_of(able)[found.offsets])
        return candidates, costs[able].astype(np.int32), self.rank_costs[candidates.values]

    def pairs(self, asked: Spellings, candidates: Ragged) -> Pairs:
        """The pairs to align: each string with each of its candidates."""
        string, known = candidates.owners, self.index.known
        return Pairs(
            known.symbols[candidates.values], known.lengths[candidates.values],
            asked.symbols[string], asked.lengths[string],
        )  # fmt: skip


class ListedForms(NamedTuple):
    """Listed forms as readings, for the known words of a reader: `hashes` [forms] of their code points, in order."""

    hashes: NDArray[np.uint64]
    readings: Readings

    @classmethod
    def of(cls, reader: Reader) -> ListedForms:
        """Those of which a reader knows the words; of several words that a form stands for, the likeliest."""
        listed = reader.listed
        found = []
        for form, meanings in listed.items():
            known = [(list(map(reader.row, words.split())), chance) for words, chance in meanings]
            known = [(rows, chance) for rows, chance in known if min(rows) >= 0 and len(rows) <= MAX_PARTS]
            if known:
                found.append((form, sorted(known, key=itemgetter(1), reverse=True)))
        hashes = word_hashes(reader._codes([form for form, _ in found]))
        order = np.argsort(hashes, kind="stable")
        readings = all_new(len(found))
        for number, (form, meanings_by_row) in enumerate(found[place] for place in order.tolist()):
            for rows, chance in meanings_by_row:
                if len(rows) == 1:
                    at = number, int((readings.rows[number] >= 0).sum())
                    readings.rows[at], readings.probabilities[at] = rows[0], chance
                elif not readings.parts[number]:
                    readings.part_rows[number, : len(rows)], readings.parts[number] = rows, chance
                    readings.part_ends[number, : len(rows)] = len(form)
                else:
                    continue
                readings.new[number] -= chance
            readings.evidence[number] = sum(map(reader.utility, meanings_by_row[0][0]))
        np.maximum(readings.new, 0, out=readings.new)
        return cls(hashes[order], readings)

    def put(self, readings: Readings, hashes: NDArray[np.uint64]) -> None:
        """Put the readings of those strings that are listed in the place of what they were read as."""
        if len(self.hashes):
            place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            strings = np.flatnonzero(self.hashes[place] == hashes)
            for array, listed in zip(tuple[Any, ...](readings), tuple[Any, ...](self.readings), strict=True):
                array[strings] = listed[place[strings]]
