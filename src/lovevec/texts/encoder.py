"""Texts to vectors: the weighted sum of their words' vectors, at unit length.

A text is cut into words (tokens.py); of a word that is not known its parts count, where it holds several
(near/parts.py). The compiled core finds and adds up what is a plain known word, as most are; the rest is looked at
here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.engine.threads import in_chunks
from lovevec.near.kinds import NAME, NUMBER, WORD, Part
from lovevec.near.parts import UNKNOWN, Composite, Found, find
from lovevec.near.readings import Readings, likeliest
from lovevec.near.torn import TornWords, may_be_torn
from lovevec.texts.lines import NO_CHUNKS, ChunkLines, asked_words, lines_of_chunks
from lovevec.texts.sentence import Sentences, TextParts, has_sentence, is_unknown, is_unsure
from lovevec.texts.signatures import Signatures
from lovevec.texts.sums import sum_rows
from lovevec.texts.tokens import CHUNK, CLOSING, OPENING, Word, runs_of, runs_of_chunk, words_of
from lovevec.units.ragged import offsets_of
from lovevec.vectors.rows import normalized

if TYPE_CHECKING:
    from lovevec._core import Rows, WordMap

Floats = NDArray[np.float32]
Weighted = tuple[str, str, float]  # a word or a part of one: as it is looked up, how, and its share
Item = TypeVar("Item", str, Weighted)
SIF = 1e-3  # a in a / (a + p): words above this frequency count less and less
RARE_SHARE = 0.5  # of the known words, from the end: a new word weighs what these weigh on average
# Of a spelling's signature, beside its vector of length 1; of a new word's, whose vector says less, and two of which
# may be two names that look alike.
SIGNATURE_LENGTH, NEW_SIGNATURE_LENGTH = 0.6, 0.9
HAS_LETTER = re.compile(r"[^\W_]")
TEXTS_PER_CHUNK = 256  # that a thread takes at a time


class Token(NamedTuple):
    """A word of a text as `encode` sees it.

    text         what stands in the text, from `start` to `end`
    reading      known, near, parts (several words that are run together) or new
    word         the known word that it is or most probably stands for, or several; None for a new one
    probability  of that word; for a new one that it is new
    weight       how much it counts in the text's vector
    candidates   of a word that is not known: the known words that it may stand for and their probabilities
    """

    text: str
    start: int
    end: int
    reading: str
    word: str | None
    probability: float
    weight: float
    candidates: tuple[tuple[str, float], ...] = ()

    @property
    def replacement(self) -> str:
        """What would stand in the text if it were spelled right, in the text's case: `Definitely` for `Definately`."""
        if self.reading not in ("near", "parts") or self.word is None:
            return self.text
        if len(self.text) > 1 and self.text.isupper():
            return self.word.upper()
        return self.word[:1].upper() + self.word[1:] if self.text[:1].isupper() else self.word


class WordSource(NamedTuple):
    """Where the words of texts get their vectors from.

    words, dim   the known words; numbers of a vector
    look_up      the row of each known word, -1 for others; and the others, as they are read
    take_apart   what each string that is not known is: one word, or several
    read         the readings of these, as words of a text
    own          the vectors of known words, by row
    weigh        the readings of unknown strings and their vectors, with the weights of known words and of new ones
                 multiplied in: (strings, weights, new weight) -> (vectors, readings)
    mix          the same vectors by other readings: (strings, readings, weights, new weight)
    impute       the vectors of names that are not known: from the spelling
    number_codes the vectors of numbers that are not known
    core         the compiled core's map of the words and table of their rows; None where numpy computes
    lowercase    whether a word that is not known is looked for in lower case
    torn         which neighbors are one word torn in two; None for none
    sentences    what sentences say of their words; None where words are read alone
    length       that vectors usually have
    threads      that compute
    """

    words: Sequence[str]
    dim: int
    look_up: Callable[[Sequence[str]], tuple[NDArray[np.int64], list[str]]]
    take_apart: Callable[[Sequence[str]], Sequence[str | Composite]]
    read: Callable[[Sequence[str]], Readings]
    own: Callable[[NDArray[np.integer]], Floats]
    weigh: Callable[[Sequence[str], Floats, float], tuple[Floats, Readings]]
    mix: Callable[[Sequence[str], Readings, Floats, float], Floats]
    impute: Callable[[Sequence[str]], Floats]
    number_codes: Callable[[Sequence[str]], Floats]
    core: tuple[WordMap, Rows] | None = None
    lowercase: bool = True
    torn: TornWords | None = None
    sentences: Sentences | None = None
    length: float = 1.0
    threads: int = 1


def weights_by_rank(count: int) -> Floats:
    """a / (a + p) for words in the order of their frequency, p by Zipf's law (Arora et al., 2017): [count]."""
    if not count:
        return np.zeros(0, np.float32)
    frequency = 1 / np.arange(1, count + 1)
    weights: Floats = (SIF / (SIF + frequency / frequency.sum())).astype(np.float32)
    return weights


class TextEncoder:
    """Known words with weights, and what makes vectors of texts from them. Immutable, safe to share between threads.

    :param source: where words get their vectors from.
    :param weights: [known words] how much each counts in a text; by default by its rank (`weights_by_rank`).
    :param signature_length: how much the spelling of a word counts beside its vector; 0 leaves signatures out.
    """

    def __init__(
        self, source: WordSource, weights: Floats | None = None, signature_length: float = SIGNATURE_LENGTH
    ) -> None:
        self.source, self.signature_length = source, signature_length
        self.weights = weights_by_rank(len(source.words)) if weights is None else weights
        rare = self.weights[int(RARE_SHARE * len(self.weights)) :]
        self.new_weight = float(rare.mean()) if len(rare) else 1.0
        self.signatures = Signatures(source.dim, source.core is not None)

    def with_weights(self, weights: Floats, signature_length: float = SIGNATURE_LENGTH) -> TextEncoder:
        """The same words with other weights [known words]."""
        return TextEncoder(self.source, weights, signature_length)

    def encode(
        self, texts: Sequence[str], normalize: bool = True, center: Floats | None = None, context: bool = True
    ) -> Floats:
        """[len(texts), dim]; zeros for a text without words. `center` [dim] is taken off every text's unit vector.
        Without `context` each word is read alone."""
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
        ids, distinct = _numbered(chain.from_iterable(chunks))
        vectors, weights, unsure = self._weighted_chunks(distinct)
        ends = np.array([0, *accumulate(map(len, chunks))], dtype=np.int64)
        total, doubts = np.append(0.0, np.cumsum(weights[ids], dtype=np.float64)), offsets_of(unsure[ids])
        return sum_rows(vectors, ids, ends), total[ends[1:]] - total[ends[:-1]], doubts[ends[1:]] > doubts[ends[:-1]]

    def _chunks(self, text: str) -> list[str]:
        """What stands between blanks, torn words in one piece."""
        chunks, torn = CHUNK.findall(text), self.source.torn
        if torn is None:
            return chunks
        bare = [
            chunk.lstrip(OPENING) for chunk in chunks
        ]  # marks may stand before the first part and behind the second
        groups, place = [], 0
        while place < len(chunks):
            second = chunks[place + 1].rstrip(CLOSING) if place + 1 < len(chunks) else ""
            size = 2 if second and torn.is_torn(bare[place], second, self._row_of) else 1
            groups.append("".join(chunks[place : place + size]))
            place += size
        return groups

    def _row_of(self, word: str) -> int:
        return int(self.source.look_up([word])[0][0])

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
        strings, counts = _unknown_words(some)
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

    def parts_of_texts(self, texts: Sequence[str]) -> list[TextParts]:
        """The words of texts, in their order, as parts; of one that holds several these. What stands nowhere, as the
        name of a kind, is left out."""
        words = self._words(texts)
        strings = [word.text for some in words for word in some]
        found, first, result = find(strings, self.source.look_up, self.source.take_apart), 0, list[list[Part]]()
        for some in words:
            result.append(_placed(some, range(first, first + len(some)), found))
            first += len(some)
        return self._looked_up(texts, result)

    def _looked_up(self, texts: Sequence[str], parts: Sequence[list[Part]]) -> list[TextParts]:
        strings = [part.text for some in parts for part in some]
        rows, unknown = self.source.look_up(strings)
        result, first, as_read = (
            list[TextParts](),
            0,
            dict(zip(np.flatnonzero(rows < 0).tolist(), unknown, strict=True)),
        )
        for text, some in zip(texts, parts, strict=True):
            own = [
                part if place not in as_read else part._replace(text=as_read[place])
                for place, part in enumerate(some, first)
            ]
            result.append(TextParts(text, own, rows[first : first + len(some)]))
            first += len(some)
        return result

    def in_sentences(self, texts: Sequence[TextParts], readings: Readings) -> Readings:
        """Readings of the unknown words of texts -> the same in their sentences."""
        sentences = self.source.sentences
        return readings if sentences is None else sentences.read(texts, readings)

    def read_in_sentences(self, sentences: Sequence[Sequence[str]], found: Found) -> Readings:
        """The readings of `found.unknown` in their sentences. `found` are the words of all sentences, looked up; a mark
        that stands as a word of its own is one here, too, between the others."""
        texts, owners, first = [" ".join(words) for words in sentences], list[int](), 0
        parts: list[list[Part]] = []
        for words in sentences:
            places = [place for place, word in enumerate(words) if HAS_LETTER.search(word)]
            ends = list(accumulate((len(word) + 1 for word in words), initial=0))
            placed = [[Word(words[place], ends[place], ends[place + 1] - 1)] for place in places]
            some = [_placed(word, [first + place], found) for place, word in zip(places, placed, strict=True)]
            owners += [first + place for place, of_word in zip(places, some, strict=True) for _ in of_word]
            parts.append(list(chain.from_iterable(some)))
            first += len(words)
        looked_up = self._looked_up(texts, parts)
        inside = _unknown_words(looked_up)[0]
        numbers, distinct = _numbered([*found.unknown, *inside])
        readings, count = self.source.read(distinct), len(found.unknown)
        alone = readings.some(numbers[:count])
        unknown = np.array(owners, dtype=np.int64)[is_unknown(looked_up)]
        whole = found.rows[unknown] == UNKNOWN  # and no part of a word that holds several
        asked = np.zeros(len(found.rows), dtype=np.bool_)
        asked[unknown[whole]] = True
        in_text = self.in_sentences(looked_up, readings.some(numbers[count:]))
        return alone.put(asked[found.rows == UNKNOWN], in_text.some(whole))

    def tokens(self, text: str, context: bool = True) -> list[Token]:
        """The words of a text, in their order; without `context` each is read alone."""
        parts = self.parts_of_texts([text])
        readings = self.read_words(parts)
        return self.tokens_of(parts, self.in_sentences(parts, readings) if context else readings)[0]

    def read_words(self, texts: Sequence[TextParts]) -> Readings:
        """The readings of the unknown words of texts, in their order, each by itself."""
        return self.source.read(_unknown_words(texts)[0])

    def _words(self, texts: Sequence[str]) -> list[list[Word]]:
        """The words of texts, torn ones in one piece."""
        words, torn = [words_of(text) for text in texts], self.source.torn
        if torn is None:
            return words
        pairs = [
            one.text + other.text
            for some in words
            for one, other in pairwise(some)
            if may_be_torn(one.text, other.text)
        ]
        known = frozenset(np.array(pairs, dtype=object)[self.source.look_up(pairs)[0] >= 0]) if pairs else frozenset()
        if not known:
            return words
        return [self._joined(text, some, torn, known) for text, some in zip(texts, words, strict=True)]

    def _joined(self, text: str, words: Sequence[Word], torn: TornWords, known: frozenset[str]) -> list[Word]:
        joined: list[Word] = []
        for word in words:
            before = joined[-1] if joined else None
            if (
                before is not None
                and len(before.text) == before.end - before.start  # not torn itself
                and before.text + word.text in known
                and CHUNK.search(text, before.end, word.start) is None
                and torn.is_torn(before.text, word.text, self._row_of)
            ):
                joined[-1] = Word(before.text + word.text, before.start, word.end)
            else:
                joined.append(word)
        return joined

    def tokens_of_parts(self, text: str, parts: Sequence[Part]) -> list[Token]:
        """What stands at the places of some parts of a text, each as it is read alone. A part with a share of its own,
        the name of its kind, stands nowhere."""
        own = self._looked_up([text], [[part for part in parts if part.share == 1]])
        return self.tokens_of(own, self.read_words(own))[0]

    def tokens_of(self, texts: Sequence[TextParts], readings: Readings) -> list[list[Token]]:
        """The words of texts as tokens; `readings` are those of the unknown ones, in their order."""
        weights, likely = self.reading_weights(readings).tolist(), likeliest(readings)
        read = iter(range(len(likely)))
        return [self._tokens(parts, readings, likely, weights, read) for parts in texts]

    def _tokens(
        self, parts: TextParts, readings: Readings, likely: Sequence[str], weights: Sequence[float], read: Iterator[int]
    ) -> list[Token]:
        words, tokens = self.source.words, list[Token]()
        for part, row in zip(parts.parts, parts.rows.tolist(), strict=True):
            place = parts.text[part.start : part.end], part.start, part.end
            if row >= 0:
                reading = "near" if " " in place[0].strip() else "known"  # torn in two
                tokens.append(Token(*place, reading, words[row], 1.0, float(self.weights[row])))
                continue
            if part.how != WORD:
                tokens.append(Token(*place, "new", None, 1.0, self.new_weight))
                continue
            other = next(read)
            near = readings.rows[other].tolist(), readings.probabilities[other].tolist()
            candidates = tuple((words[row], chance) for row, chance in zip(*near, strict=True) if row >= 0)
            if likely[other] == "new":
                token = Token(*place, "new", None, float(readings.new[other]), weights[other], candidates)
            elif likely[other] == "parts":
                several = " ".join(words[row] for row in readings.part_rows[other].tolist() if row >= 0)
                token = Token(*place, "parts", several, float(readings.parts[other]), weights[other], candidates)
            else:
                token = Token(*place, "near", *candidates[0], weights[other], candidates)
            tokens.append(token)
        return tokens

    def parts_of(self, text: str) -> list[Weighted]:
        """The words of a text in their order, or what they hold: as each is looked up, how, and its share."""
        runs = [word.text for word in self._words([text])[0]]
        return [part for parts in self._parts_of_runs(runs) for part in parts]

    def greatest(self, texts: Sequence[str], normalize: bool = True) -> Floats:
        """[len(texts), dim]: in each dimension the greatest number among a text's words, each vector times its weight;
        zeros for a text without words."""
        words = [self.parts_of(text) for text in texts]
        ids, distinct = _numbered(chain.from_iterable(words))
        counts = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        vectors, filled = self._weighted_parts(distinct)[0], counts > 0
        result = np.zeros((len(texts), self.source.dim), dtype=np.float32)
        if filled.any():
            starts = (np.cumsum(counts) - counts)[filled]
            result[filled] = np.maximum.reduceat(vectors[ids], starts, axis=0)
        return normalized(result) if normalize else result

    def weights_in(self, texts: Sequence[str]) -> Floats:
        """[known words] the weights times how rare each word is in a collection, at the same mean over its words: idf,
        log((1 + texts) / (1 + texts with the word)) + 1."""
        _, within = self.counts(texts)
        weights = self.weights * (np.log((1 + len(texts)) / (1 + np.minimum(within, len(texts)))) + 1)
        there = within > 0
        if there.any():
            weights *= self.weights[there].mean() / max(float(weights[there].mean()), 1e-12)
        result: Floats = weights.astype(np.float32)
        return result

    def counts(self, texts: Iterable[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often each known word stands in the texts, and in how many of them: [known words] each. A word that is
        not known counts for those that it may stand for, by their probability."""
        occurrences: Counter[str] = Counter()
        documents: Counter[str] = Counter()
        for text in texts:
            runs = runs_of(text)
            occurrences.update(runs)
            documents.update(set(runs))
        of_runs = zip(occurrences, self._parts_of_runs(list(occurrences)), strict=True)
        parts = [(text, how, run) for run, found in of_runs for text, how, _ in found]
        rows, unknown = self._look_up_parts([(text, how) for text, how, _ in parts])
        is_read = np.array([how == WORD for _, how in unknown], dtype=np.bool_)
        readings, known = self.source.read([string for string, how in unknown if how == WORD]), rows >= 0
        near, joined = readings.rows >= 0, readings.part_rows >= 0

        def by_known_word(counter: Counter[str]) -> NDArray[np.float64]:
            numbers, total = (
                np.array([counter[run] for *_, run in parts], dtype=float),
                np.zeros(len(self.source.words)),
            )
            np.add.at(total, rows[known], numbers[known])
            read = numbers[~known][is_read][:, None]
            np.add.at(total, readings.rows[near], (read * readings.probabilities)[near])
            np.add.at(
                total, readings.part_rows[joined], np.broadcast_to(read * readings.parts[:, None], joined.shape)[joined]
            )
            return total

        return by_known_word(occurrences), by_known_word(documents)

    def _weighted_chunks(self, chunks: Sequence[str]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Of whatever stands between two blanks the sum of its words' vectors times their weights, the sum of their
        weights, and whether the reading of one is not certain."""
        runs = [runs_of_chunk(chunk) for chunk in chunks]
        number, distinct_runs = _numbered(chain.from_iterable(runs))
        parts_of_runs, each = self._parts_of_runs(distinct_runs), iter(number.tolist())
        return self._weighted_sums(
            [[part for _ in of_chunk for part in parts_of_runs[next(each)]] for of_chunk in runs]
        )

    def _weighted_found(self, found: FoundChunks) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The same of chunks whose words are found."""
        parts = [_weighted(found.distinct, found.found, place) for place in range(len(found.distinct))]
        return self._weighted_sums([[part for place in places for part in parts[place]] for places in found.places])

    def _weighted_sums(self, parts: Sequence[list[Weighted]]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        if all(len(words) == 1 for words in parts):
            return self._weighted_parts([words[0] for words in parts])
        ids, distinct = _numbered(chain.from_iterable(parts))
        ends = np.array([0, *accumulate(map(len, parts))], dtype=np.int64)
        vectors, weights, unsure = self._weighted_parts(distinct)
        compiled, doubts = self.source.core is not None, offsets_of(unsure[ids])
        sums = sum_rows(vectors, ids, ends, compiled), sum_rows(weights[:, None], ids, ends, compiled)[:, 0]
        return *sums, doubts[ends[1:]] > doubts[ends[:-1]]

    def _found(self, chunks: Sequence[str]) -> FoundChunks:
        words = [list(words_of(chunk)) for chunk in chunks]
        numbers, distinct = _numbered(word.text for some in words for word in some)
        each = iter(numbers.tolist())
        places = [[next(each) for _ in some] for some in words]
        return FoundChunks(chunks, words, places, distinct, find(distinct, self.source.look_up, self.source.take_apart))

    def _parts_of_runs(self, runs: Sequence[str]) -> list[list[Weighted]]:
        """The words that each word of a text holds; itself, as a rule."""
        found = find(runs, self.source.look_up, self.source.take_apart)
        return [_weighted(runs, found, place) for place in range(len(runs))]

    def _look_up_parts(self, parts: Sequence[tuple[str, str]]) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
        """The row of each part that is known, -1 for others; and these others as they are read, and how."""
        rows, unknown = self.source.look_up([text for text, _ in parts])
        hows = [how for (_, how), row in zip(parts, rows.tolist(), strict=True) if row < 0]
        return rows, list(zip(unknown, hows, strict=True))

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

    def reading_weights(self, readings: Readings) -> Floats:
        """The mean of the weights of what each string may stand for; of several words the sum."""
        if self.source.core is not None:
            weights = np.empty(len(readings.new), dtype=np.float32)
            core().weigh(*readings, self.weights, self.new_weight, weights)
            return weights
        own = np.where(readings.rows >= 0, self.weights[readings.rows], 0) if len(self.weights) else 0.0
        part = np.where(readings.part_rows >= 0, self.weights[readings.part_rows], 0) if len(self.weights) else 0.0
        near = (readings.probabilities * own).sum(axis=1)
        joined = readings.parts * np.broadcast_to(part, readings.part_rows.shape).sum(axis=1)
        result: Floats = (near + joined + readings.new * self.new_weight).astype(np.float32)
        return result

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
            numbers, distinct = _numbered(parts[0][1][0])
            return cls(numbers, distinct, np.frombuffer(parts[0][1][1], np.int64) + parts[0][0])
        numbers, distinct = _numbered(chain.from_iterable(strings for _, (strings, _) in parts))
        owners = [np.frombuffer(owners, np.int64) + first for first, (_, owners) in parts]
        return cls(numbers, distinct, np.concatenate(owners) if owners else np.zeros(0, dtype=np.int64))

    def add(self, vectors: Floats, weights: Floats, sums: Floats, total: NDArray[np.float64]) -> None:
        """Add the vectors and weights of the distinct strings to those of the texts."""
        sums += sum_rows(vectors, self.numbers, self.owners.searchsorted(np.arange(len(sums) + 1)), compiled=True)
        np.add.at(total, self.owners, weights[self.numbers])


class FoundChunks(NamedTuple):
    """Chunks, the words of each, and which of the distinct words these are; and these, looked up."""

    chunks: Sequence[str]
    words: list[list[Word]]
    places: list[list[int]]
    distinct: list[str]
    found: Found

    def parts(self, chunk: int) -> list[Part]:
        return _placed(self.words[chunk], self.places[chunk], self.found)


def _placed(words: Iterable[Word], places: Iterable[int], found: Found) -> list[Part]:
    """The parts of some words of a text, by their places among what was found; of one that holds several these. What
    stands nowhere is left out."""
    parts = list[Part]()
    for (string, start, end), place in zip(words, places, strict=True):
        composite = found.composites.get(place)
        if composite is None:
            parts.append(Part(found.words.get(place, string), WORD, start, end))
            continue
        own = [part for part in composite.parts if part.share == 1]
        if len(string) == end - start:  # nothing was composed or left out: letters stand where they stood
            parts += [part._replace(start=start + part.start, end=start + part.end) for part in own]
        else:
            parts += [part._replace(start=start, end=end) for part in own]
    return parts


def _weighted(strings: Sequence[str], found: Found, place: int) -> list[Weighted]:
    """The words that a string holds; itself, as a rule."""
    if place in found.composites:
        return [(part.text, part.how, part.share) for part in found.composites[place].parts]
    return [(found.words.get(place, strings[place]), WORD, 1.0)]


def _numbered(items: Iterable[Item]) -> tuple[NDArray[np.int64], list[Item]]:
    """The distinct items, in the order of their first occurrence, and for each item its number among them."""
    place: dict[Item, int] = {}
    numbers = [place.setdefault(item, len(place)) for item in items]
    return np.array(numbers, dtype=np.int64), list(place)


def _unknown_words(texts: Iterable[TextParts]) -> tuple[list[str], list[int]]:
    """The words of texts that are not known and are read, in their order; and how many each text has."""
    strings, counts = list[str](), list[int]()
    for _, parts, rows in texts:
        before = len(strings)
        strings += [part.text for part, row in zip(parts, rows.tolist(), strict=True) if row < 0 and part.how == WORD]
        counts.append(len(strings) - before)
    return strings, counts
