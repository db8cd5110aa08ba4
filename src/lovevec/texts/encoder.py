"""Texts to vectors: the weighted sum of their words' vectors, at unit length.

Words are found and read as text_reader.py has it. The compiled core finds and adds up what is a plain known word, as
most are; the rest is looked at here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags
from lovevec.engine.compiled import core
from lovevec.engine.threads import in_chunks
from lovevec.errors import LovevecError, shown
from lovevec.near.kinds import NAME, NUMBER, WORD
from lovevec.near.readings import Readings
from lovevec.texts.lines import NO_CHUNKS, ChunkLines, asked_words, lines_of_chunks
from lovevec.texts.sentence import TextParts, has_sentence, is_unsure
from lovevec.texts.signatures import Signatures
from lovevec.texts.sums import sum_rows
from lovevec.texts.text_reader import FoundChunks, TextReader, Weighted, WordSource, numbered, unknown_words, weighted
from lovevec.texts.tokens import runs_of_chunk
from lovevec.units.ragged import offsets_of
from lovevec.units.words import check_words, word_list
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
# Of a spelling's signature, beside its vector of length 1; of a new word's, whose vector says less, and two of which
# may be two names that look alike.
SIGNATURE_LENGTH, NEW_SIGNATURE_LENGTH = 0.6, 0.9
TEXTS_PER_CHUNK = 256  # that a thread takes at a time


class TextEncoder(TextReader):
    """The words of texts, and what makes vectors of texts from them. Immutable, safe to share between threads.

    :param source: where words get their vectors from.
    :param weights: [known words] how much each counts in a text; by default by its rank (`weights_by_rank`).
    :param signature_length: how much the spelling of a word counts beside its vector; 0 leaves signatures out.
    """

    def __init__(
        self, source: WordSource, weights: Floats | None = None, signature_length: float = SIGNATURE_LENGTH
    ) -> None:
        super().__init__(source, weights)
        self.signature_length = signature_length
        self.signatures = Signatures(source.dim, source.core is not None)

    def with_weights(self, weights: Floats, signature_length: float = SIGNATURE_LENGTH) -> TextEncoder:
        """The same words with other weights [known words]."""
        if not isinstance(weights, np.ndarray) or weights.dtype.kind not in "fiu":
            raise LovevecError(f"weights are {shown(weights)}: must be an array of numbers, one for each known word")
        if weights.shape != (len(self.source.words),):
            raise LovevecError(f"weights are of shape {weights.shape}: must be one for each of the known words")
        if isinstance(signature_length, bool) or not isinstance(signature_length, (int, float)):
            raise LovevecError(f"signature_length is {shown(signature_length)}: must be a number")
        return TextEncoder(self.source, weights, signature_length)

    def encode(
        self, texts: Sequence[str], normalize: bool = True, center: Floats | None = None, context: bool = True
    ) -> Floats:
        """[len(texts), dim]; zeros for a text without words. `center` [dim] is taken off every text's unit vector.
        Without `context` each word is read alone."""
        texts = word_list(texts)
        check_flags(normalize=normalize, context=context)
        context = context and self.source.sentences is not None
        if self.source.core is None:
            sums, weights, unsure = self._sums(texts)
        else:
            sums, weights, unsure = self._compiled_sums(texts, context)
        if context and unsure.any():
            self._read_in_sentences(texts, unsure, sums, weights)
        if center is not None:
            sums = self._at_unit_length(sums)
            sums[sums.any(axis=1)] -= center
        if normalize:
            return self._at_unit_length(sums)
        if center is None:
            sums /= np.where(weights > 0, weights, 1).astype(np.float32)[:, None]
        return sums

    def _sums(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.float64], NDArray[np.bool_]]:
        """Of each text the sum of its words' vectors times their weights [len(texts), dim], the sum of the weights, and
        whether the reading of a word is not certain."""
        chunks = [self._chunks(text) for text in texts]
        ids, distinct = numbered(chain.from_iterable(chunks))
        vectors, weights, unsure = self._weighted_chunks(distinct)
        ends = np.array([0, *accumulate(map(len, chunks))], dtype=np.int64)
        total, doubts = np.append(0.0, np.cumsum(weights[ids], dtype=np.float64)), offsets_of(unsure[ids])
        return sum_rows(vectors, ids, ends), total[ends[1:]] - total[ends[:-1]], doubts[ends[1:]] > doubts[ends[:-1]]

    def _compiled_sums(
        self, texts: Sequence[str], context: bool
    ) -> tuple[Floats, NDArray[np.float64], NDArray[np.bool_]]:
        """As `_sums`. The core adds up the plain known words and hands back what else stands in the texts: unknown
        words of nothing but letters, and other chunks. With `context` words count as their sentences read them, except
        in texts that are still said to be unsure."""
        source, parts = self.source, self.source.core
        assert parts is not None
        in_lines = context and source.sentences is not None and source.sentences.has_own_rows
        sums, weights = np.empty((len(texts), source.dim), dtype=np.float32), np.empty(len(texts))
        lengths = np.empty(len(texts) if in_lines else 0, dtype=np.int64)
        signatures = self.signatures.core if self.signature_length else None
        options = signatures, self.weights, self.signature_length * source.length, source.lowercase, source.torn
        parts_left: list[tuple[int, Any]] = []

        def run(part: slice) -> None:
            of_lines = (lengths[part],) if in_lines else ()
            found = core().sum_texts(*parts, *options, texts[part], sums[part], weights[part], *of_lines)
            parts_left.append((part.start, found))

        in_chunks(run, len(texts), TEXTS_PER_CHUNK, source.threads)
        parts_left.sort(key=itemgetter(0))
        words, chunks = (Strings.of([(first, left[kind]) for first, left in parts_left]) for kind in (0, 1))
        in_doubt = np.zeros(len(texts), dtype=np.bool_)
        if in_lines and (words.distinct or chunks.distinct):
            line = np.frombuffer(b"".join([left[2] for _, left in parts_left]), dtype=np.int32)
            self._add_in_lines(line, lengths, words, chunks, sums, weights, in_doubt)
            return sums, weights, in_doubt
        for some, weigh in ((words, self._weighted_unknown), (chunks, self._weighted_chunks)):
            if some.distinct:
                vectors, more, unsure = weigh(some.distinct)
                in_doubt[some.owners[unsure[some.numbers]]] = True
                some.add(vectors, more, sums, weights)
        return sums, weights, in_doubt

    def _add_in_lines(
        self,
        line: NDArray[np.int32],
        lengths: NDArray[np.int64],
        words: Strings,
        chunks: Strings,
        sums: Floats,
        weights: NDArray[np.float64],
        in_doubt: NDArray[np.bool_],
    ) -> None:
        """Add to sums and weights what words and chunks count in their sentences (lines.py). `in_doubt` [texts] become
        the texts whose lines cannot be told, in which they count as by themselves."""
        source, strings, parts = self.source, words.distinct, NO_CHUNKS
        sentences, alone = source.sentences, source.read(words.distinct)
        assert sentences is not None
        if chunks.distinct:
            found = self._found(chunks.distinct)
            of_chunks = self._weighted_found(found)
            unsure = np.zeros(len(in_doubt), dtype=np.bool_)
            unsure[words.owners[is_unsure(alone)[words.numbers]]] = True
            unsure[chunks.owners[of_chunks[2][chunks.numbers]]] = True
            needed = np.zeros(len(chunks.distinct), dtype=np.bool_)
            needed[chunks.numbers[unsure[chunks.owners]]] = True
            parts = self._lines_of_chunks(found, needed, len(strings))
            if parts.strings:
                strings = [*strings, *parts.strings]
                both = zip(tuple[Any, ...](alone), tuple[Any, ...](source.read(parts.strings)), strict=True)
                alone = Readings(*map(np.concatenate, both))
        asked, in_doubt[:] = asked_words(line, lengths, words.numbers, chunks.numbers, parts, alone)
        enough = has_sentence(asked.windows)
        places = np.where(np.append(enough, False)[asked.places], asked.places, -1)
        scores = sentences.scores(asked.windows, alone.rows[asked.columns[:, 0]], source.threads)
        strength = sentences.reader.context.strength

        def weigh(numbers: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[Floats, Floats]:
            """Strings by their numbers, weighted: as read by the scores of some places, alone where that is -1."""
            readings = Readings.empty(len(numbers))
            core().in_context(*alone, numbers, places, scores, strength, *readings)
            return self._weighted_readings([strings[number] for number in numbers.tolist()], readings)

        if words.distinct:
            counted = Strings(asked.numbers, words.distinct, words.owners)
            counted.add(*weigh(asked.strings, places), sums, weights)
        if chunks.distinct:
            chunks.add(*of_chunks[:2], sums, weights)
            inside = np.flatnonzero(enough & (asked.columns[:, 2] < 0))
            if len(inside):
                numbers, owners = asked.columns[inside, 0], asked.columns[inside, 1]
                difference, count = weigh(numbers, inside)
                vectors, more = weigh(numbers, np.full(len(inside), -1))
                difference -= vectors
                Strings(np.arange(len(inside)), strings, owners).add(difference, count - more, sums, weights)

    def _lines_of_chunks(self, found: FoundChunks, needed: NDArray[np.bool_], first: int) -> ChunkLines:
        """Chunks as parts of lines; those that are not `needed` [chunks] are left empty."""
        places = np.flatnonzero(needed).tolist()
        some = self._looked_up([found.chunks[place] for place in places], [found.parts(place) for place in places])
        chunks: list[TextParts | None] = [None] * len(needed)
        for place, one in zip(places, some, strict=True):
            chunks[place] = one
        return lines_of_chunks(chunks, first)

    def _read_in_sentences(
        self, texts: Sequence[str], which: NDArray[np.bool_], sums: Floats, weights: NDArray[np.float64]
    ) -> None:
        """Take what words count by their spelling off the sums of the texts of the mask `which`, and add what they
        count in their sentences."""
        owners = np.flatnonzero(which)
        some = self.parts_of_texts([texts[place] for place in owners.tolist()])
        strings, counts = unknown_words(some)
        alone = self.source.read(strings)
        in_text = self.in_sentences(some, alone)
        changed = (in_text.new != alone.new) | (in_text.probabilities != alone.probabilities).any(axis=1)
        changed |= in_text.parts != alone.parts
        if not changed.any():
            return
        strings = [strings[place] for place in np.flatnonzero(changed).tolist()]
        owners = np.repeat(owners, counts)[changed]
        difference, count = self._weighted_readings(strings, in_text.some(changed))
        vectors, more = self._weighted_readings(strings, alone.some(changed))
        difference -= vectors
        ends = np.searchsorted(owners, np.arange(len(texts) + 1))
        sums += sum_rows(difference, np.arange(len(strings)), ends, self.source.core is not None)
        np.add.at(weights, owners, count - more)

    def _weighted_readings(self, strings: Sequence[str], readings: Readings) -> tuple[Floats, Floats]:
        """Of strings that are read so their vectors times their weights, and their weights."""
        vectors = self.source.mix(strings, readings, self.weights, self.new_weight)
        weights = self.reading_weights(readings)
        self._add_signatures(strings, vectors, weights, readings.new)
        return vectors, weights

    def greatest(self, texts: Sequence[str], normalize: bool = True) -> Floats:
        """[len(texts), dim]: in each dimension the greatest number among a text's words, each vector times its weight;
        zeros for a text without words."""
        check_flags(normalize=normalize)
        words = [self.parts_of(text) for text in check_words(texts, "text")]
        ids, distinct = numbered(chain.from_iterable(words))
        counts = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        vectors, filled = self._weighted_parts(distinct)[0], counts > 0
        result = np.zeros((len(texts), self.source.dim), dtype=np.float32)
        if filled.any():
            starts = (np.cumsum(counts) - counts)[filled]
            result[filled] = np.maximum.reduceat(vectors[ids], starts, axis=0)
        return normalized(result) if normalize else result

    def _weighted_chunks(self, chunks: Sequence[str]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Of whatever stands between two blanks the sum of its words' vectors times their weights, the sum of their
        weights, and whether the reading of one is not certain."""
        runs = [runs_of_chunk(chunk) for chunk in chunks]
        number, distinct_runs = numbered(chain.from_iterable(runs))
        parts_of_runs, each = self.parts_of_runs(distinct_runs), iter(number.tolist())
        return self._weighted_sums(
            [[part for _ in of_chunk for part in parts_of_runs[next(each)]] for of_chunk in runs]
        )

    def _weighted_found(self, found: FoundChunks) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The same of chunks whose words are found."""
        parts = [weighted(found.distinct, found.found, place) for place in range(len(found.distinct))]
        return self._weighted_sums([[part for place in places for part in parts[place]] for places in found.places])

    def _weighted_sums(self, parts: Sequence[list[Weighted]]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        if all(len(words) == 1 for words in parts):
            return self._weighted_parts([words[0] for words in parts])
        ids, distinct = numbered(chain.from_iterable(parts))
        ends = np.array([0, *accumulate(map(len, parts))], dtype=np.int64)
        vectors, weights, unsure = self._weighted_parts(distinct)
        compiled, doubts = self.source.core is not None, offsets_of(unsure[ids])
        sums = sum_rows(vectors, ids, ends, compiled), sum_rows(weights[:, None], ids, ends, compiled)[:, 0]
        return *sums, doubts[ends[1:]] > doubts[ends[:-1]]

    def _weighted_parts(self, parts: Sequence[Weighted]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Of each part its vector times its weight, its weight, and whether its reading is not certain."""
        source = self.source
        rows, unknown = self._look_up_parts([(text, how) for text, how, _ in parts])
        known, strings = rows >= 0, [text for text, _, _ in parts]
        vectors = np.empty((len(parts), source.dim), dtype=np.float32)
        weights = np.full(len(parts), self.new_weight, dtype=np.float32)
        weights[known] = self.weights[rows[known]]
        unsure = np.zeros(len(parts), dtype=np.bool_)
        vectors[known] = self._own(rows[known])
        others = list(zip(np.flatnonzero(~known).tolist(), unknown, strict=True))
        for how, make in ((NAME, source.impute), (NUMBER, source.number_codes)):
            if some := [(place, text) for place, (text, its) in others if its == how]:
                vectors[[place for place, _ in some]] = make([text for _, text in some]) * np.float32(self.new_weight)
        if some := [(place, text) for place, (text, its) in others if its == WORD]:
            places = [place for place, _ in some]
            vectors[places], readings = source.weigh([text for _, text in some], self.weights, self.new_weight)
            weights[places], unsure[places] = self.reading_weights(readings), is_unsure(readings)
        new = np.where(known, np.float32(0), np.float32(1))
        if some:
            new[places] = readings.new
        self._add_signatures(strings, vectors, weights, new)
        shares = np.array([share for _, _, share in parts], dtype=np.float32)
        if (shares != 1).any():
            vectors *= shares[:, None]
            weights *= shares
        return vectors, weights, unsure

    def weighted_words(self, words: Sequence[str], hows: Sequence[str]) -> Floats:
        """What each of these words, or names or numbers as `hows` says, adds to the vector of a text."""
        return self._weighted_parts([(word, how, 1.0) for word, how in zip(words, hows, strict=True)])[0]

    def _weighted_unknown(self, words: Sequence[str]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The same for words of letters that are not known."""
        vectors, readings = self.source.weigh(words, self.weights, self.new_weight)
        weights = self.reading_weights(readings)
        self._add_signatures(words, vectors, weights, readings.new)
        return vectors, weights, is_unsure(readings)

    def _add_signatures(self, words: Sequence[str], vectors: Floats, weights: Floats, new: NDArray[Any]) -> None:
        """Add to vectors, which nobody else holds, the signatures of their words, longer where these are `new`: their
        probabilities [len(words)]."""
        if self.signature_length:
            self.signatures.add(words, (self.signature_lengths(new) * weights).astype(np.float32), vectors)

    def signature_lengths(self, new: NDArray[Any]) -> NDArray[np.float64]:
        """How long the signatures of words are beside vectors of length 1, by the probabilities that they are new."""
        longer = self.signature_length * NEW_SIGNATURE_LENGTH / SIGNATURE_LENGTH
        lengths: NDArray[np.float64] = self.signature_length + (longer - self.signature_length) * new.astype(np.float64)
        return self.source.length * lengths

    def _own(self, rows: NDArray[np.integer]) -> Floats:
        own: Floats = self.source.own(rows) * self.weights[rows][:, None]
        return own

    def _at_unit_length(self, sums: Floats) -> Floats:
        """Sums, which nobody else holds, at unit length."""
        if self.source.core is None:
            return normalized(sums)
        core().normalize(sums)
        return sums


class Strings(NamedTuple):
    """Strings in texts: for each its number among the distinct ones, and its text, in the order of the texts."""

    numbers: NDArray[np.int64]
    distinct: list[str]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[tuple[int, tuple[list[str], bytes]]]) -> Strings:
        """From what the core left of some parts of the texts: the number of the first text, strings, and the numbers of
        their texts in the part."""
        if len(parts) == 1:
            numbers, distinct = numbered(parts[0][1][0])
            return cls(numbers, distinct, np.frombuffer(parts[0][1][1], np.int64) + parts[0][0])
        numbers, distinct = numbered(chain.from_iterable(strings for _, (strings, _) in parts))
        owners = [np.frombuffer(owners, np.int64) + first for first, (_, owners) in parts]
        return cls(numbers, distinct, np.concatenate(owners) if owners else np.zeros(0, dtype=np.int64))

    def add(self, vectors: Floats, weights: Floats, sums: Floats, total: NDArray[np.float64]) -> None:
        """Add the vectors and weights of the distinct strings to those of the texts."""
        sums += sum_rows(vectors, self.numbers, self.owners.searchsorted(np.arange(len(sums) + 1)), compiled=True)
        np.add.at(total, self.owners, weights[self.numbers])
