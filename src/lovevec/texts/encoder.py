"""Texts to vectors: the weighted sum of their words' vectors, at unit length.

A text is cut into runs (what stands between blanks and marks, tokens.py), a run into the words that it stands for. The
compiled core finds and adds up what is a plain known word, as most are; the rest is looked at here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.engine.threads import in_chunks
from lovevec.near.readings import Readings
from lovevec.texts.signatures import Signatures
from lovevec.texts.sums import sum_rows
from lovevec.texts.tokens import parts_of, runs_of, span_of, spans_of
from lovevec.vectors.rows import normalized

if TYPE_CHECKING:
    from lovevec._core import Rows, WordMap

Floats = NDArray[np.float32]
Left = tuple[tuple[list[str], bytes], tuple[list[str], bytes]]  # words and chunks, with the texts that they stand in
SIF = 1e-3  # a in a / (a + p): words above this frequency count less and less
RARE_SHARE = 0.5  # of the known words, from the end: a new word weighs what these weigh on average
SIGNATURE_LENGTH = 0.5  # of a spelling's signature, beside its vector of length 1
TEXTS_PER_CHUNK = 256  # that a thread takes at a time


class Token(NamedTuple):
    """A word of a text as `encode` sees it.

    text         what stands in the text, from `start` to `end`
    reading      known, near or new
    word         the known word that it is or most probably stands for; None for a new one
    probability  of that word; for a new one that it is new
    weight       how much it counts in the text's vector
    """

    text: str
    start: int
    end: int
    reading: str
    word: str | None
    probability: float
    weight: float

    @property
    def replacement(self) -> str:
        """What would stand in the text if it were spelled right, in the text's case: `Definitely` for `Definately`."""
        if self.reading != "near" or self.word is None:
            return self.text
        if len(self.text) > 1 and self.text.isupper():
            return self.word.upper()
        return self.word[:1].upper() + self.word[1:] if self.text[:1].isupper() else self.word


class WordSource(NamedTuple):
    """Where the words of texts get their vectors from.

    words, dim   the known words; numbers of a vector
    is_known     whether a string is a known word, or a form of one
    look_up      the row of each known word, -1 for others; and the others, as they are read
    read         the readings of these, as words of a text
    own          the vectors of known words, by row
    weigh        the readings of unknown strings and their vectors, with the weights of known words and of new ones
                 multiplied in: (strings, weights, new weight) -> (vectors, readings)
    core         the compiled core's map of the words and table of their rows; None where numpy computes
    lowercase    whether a word that is not known is looked for in lower case
    length       that vectors usually have
    threads      that compute
    """

    words: Sequence[str]
    dim: int
    is_known: Callable[[str], bool]
    look_up: Callable[[Sequence[str]], tuple[NDArray[np.int64], list[str]]]
    read: Callable[[Sequence[str]], Readings]
    own: Callable[[NDArray[np.integer]], Floats]
    weigh: Callable[[Sequence[str], Floats, float], tuple[Floats, Readings]]
    core: tuple[WordMap, Rows] | None = None
    lowercase: bool = True
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

    def encode(self, texts: Sequence[str], normalize: bool = True, center: Floats | None = None) -> Floats:
        """[len(texts), dim]; zeros for a text without words. `center` [dim] is taken off every text's unit vector."""
        sums, weights = (self._sums if self.source.core is None else self._compiled_sums)(texts)
        if center is not None:
            sums = self._at_unit_length(sums)
            sums[sums.any(axis=1)] -= center
        if normalize:
            return self._at_unit_length(sums)
        if center is None:
            sums /= np.where(weights > 0, weights, 1).astype(np.float32)[:, None]
        return sums

    def _sums(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.float64]]:
        """Of each text the sum of its words' vectors times their weights [len(texts), dim], and the sum of the
        weights."""
        chunks = [runs_of(text) for text in texts]
        ids, distinct = _numbered(chain.from_iterable(chunks))
        vectors, weights = self._weighted_chunks(distinct)
        ends = np.array([0, *accumulate(map(len, chunks))], dtype=np.int64)
        total = np.append(0.0, np.cumsum(weights[ids], dtype=np.float64))
        return sum_rows(vectors, ids, ends), total[ends[1:]] - total[ends[:-1]]

    def _compiled_sums(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.float64]]:
        """As `_sums`. The core adds up the plain known words and hands back what else stands in the texts: unknown
        words of nothing but letters, and other chunks."""
        source, parts = self.source, self.source.core
        assert parts is not None
        sums, weights = np.empty((len(texts), source.dim), dtype=np.float32), np.empty(len(texts))
        signatures = self.signatures.core if self.signature_length else None
        options = signatures, self.weights, self.signature_length * source.length, source.lowercase
        parts_left: list[tuple[int, Left]] = []

        def run(part: slice) -> None:
            found = core().sum_texts(*parts, *options, texts[part], sums[part], weights[part])
            parts_left.append((part.start, found))

        in_chunks(run, len(texts), TEXTS_PER_CHUNK, source.threads)
        parts_left.sort(key=itemgetter(0))
        for kind, weigh in enumerate((self._weighted_unknown, self._weighted_chunks)):
            ids, distinct = _numbered(chain.from_iterable(left[kind][0] for _, left in parts_left))
            if distinct:
                owners = np.concatenate([first + np.frombuffer(left[kind][1], np.int64) for first, left in parts_left])
                vectors, more = weigh(distinct)
                sums += sum_rows(vectors, ids, np.searchsorted(owners, np.arange(len(texts) + 1)), compiled=True)
                np.add.at(weights, owners, more[ids])
        return sums, weights

    def tokens(self, text: str) -> list[Token]:
        """The words of a text, in their order."""
        places = self._word_spans(text)
        rows, unknown = self.source.look_up([word for word, _, _ in places])
        readings = self.source.read(unknown)
        others = iter(range(len(unknown)))
        weights, words = self._reading_weights(readings), self.source.words
        tokens = []
        for (_, start, end), row in zip(places, rows.tolist(), strict=True):
            place = text[start:end], start, end
            if row >= 0:
                tokens.append(Token(*place, "known", words[row], 1.0, float(self.weights[row])))
                continue
            other = next(others)
            near, weight, new = int(readings.rows[other, 0]), float(weights[other]), float(readings.new[other])
            if new >= 0.5:
                tokens.append(Token(*place, "new", None, new, weight))
            else:
                word = words[near] if near >= 0 else None
                tokens.append(Token(*place, "near", word, float(readings.probabilities[other, 0]), weight))
        return tokens

    def _word_spans(self, text: str) -> list[tuple[str, int, int]]:
        """The words of a text with the place where each stands: (word, start, end). A word that is not spelled out
        there (the name of an emoji, e-mail as email) has the place of what it was made of."""
        spans = []
        for run, (start, end) in zip(runs_of(text), spans_of(text), strict=True):
            inside = 0
            for word in parts_of(run, self.source.is_known):
                low, high = span_of(word, run, inside)
                unchanged = len(run) == end - start  # nothing was composed or left out: letters stand where they stood
                spans.append((word, start + low, start + high) if unchanged else (word, start, end))
                inside = high if low or high < len(run) else inside
        return spans

    def greatest(self, texts: Sequence[str], normalize: bool = True) -> Floats:
        """[len(texts), dim]: in each dimension the greatest number among a text's words, each vector times its weight;
        zeros for a text without words."""
        words = [[part for run in runs_of(text) for part in parts_of(run, self.source.is_known)] for text in texts]
        ids, distinct = _numbered(chain.from_iterable(words))
        counts = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        vectors, filled = self._weighted_words(distinct)[0], counts > 0
        result = np.zeros((len(texts), self.source.dim), dtype=np.float32)
        if filled.any():
            starts = (np.cumsum(counts) - counts)[filled]
            result[filled] = np.maximum.reduceat(vectors[ids], starts, axis=0)
        return normalized(result) if normalize else result

    def counts(self, texts: Iterable[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often each known word stands in the texts, and in how many of them: [known words] each. A word that is
        not known counts for those that it may stand for, by their probability."""
        occurrences: Counter[str] = Counter()
        documents: Counter[str] = Counter()
        for text in texts:
            runs = runs_of(text)
            occurrences.update(runs)
            documents.update(set(runs))
        parts = [(word, run) for run in occurrences for word in parts_of(run, self.source.is_known)]
        rows, unknown = self.source.look_up([word for word, _ in parts])
        readings, known = self.source.read(unknown), rows >= 0
        near = readings.rows >= 0

        def by_known_word(counter: Counter[str]) -> NDArray[np.float64]:
            numbers, total = np.array([counter[run] for _, run in parts], dtype=float), np.zeros(len(self.source.words))
            np.add.at(total, rows[known], numbers[known])
            np.add.at(total, readings.rows[near], (numbers[~known][:, None] * readings.probabilities)[near])
            return total

        return by_known_word(occurrences), by_known_word(documents)

    def _weighted_chunks(self, chunks: Sequence[str]) -> tuple[Floats, Floats]:
        """Of each run, or whatever stands between two blanks, the sum of its words' vectors times their weights, and
        the sum of their weights."""
        parts = [[word for run in runs_of(chunk) for word in parts_of(run, self.source.is_known)] for chunk in chunks]
        if all(len(words) == 1 for words in parts):
            return self._weighted_words([words[0] for words in parts])
        ids, distinct = _numbered(chain.from_iterable(parts))
        ends = np.array([0, *accumulate(map(len, parts))], dtype=np.int64)
        vectors, weights = self._weighted_words(distinct)
        compiled = self.source.core is not None
        return sum_rows(vectors, ids, ends, compiled), sum_rows(weights[:, None], ids, ends, compiled)[:, 0]

    def _weighted_words(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Of each word its vector times its weight, and its weight."""
        source = self.source
        rows, unknown = source.look_up(words)
        known = rows >= 0
        vectors = np.empty((len(words), source.dim), dtype=np.float32)
        weights = np.empty(len(words), dtype=np.float32)
        weights[known] = self.weights[rows[known]]
        vectors[known] = self._own(rows[known])
        if unknown:
            vectors[~known], readings = source.weigh(unknown, self.weights, self.new_weight)
            weights[~known] = self._reading_weights(readings)
        return self._add_signatures(words, vectors, weights), weights

    def _weighted_unknown(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """The same for words that are not known."""
        vectors, readings = self.source.weigh(words, self.weights, self.new_weight)
        weights = self._reading_weights(readings)
        return self._add_signatures(words, vectors, weights), weights

    def _add_signatures(self, words: Sequence[str], vectors: Floats, weights: Floats) -> Floats:
        """Vectors, which nobody else holds, with the signatures of their words."""
        if self.signature_length:
            scale = np.float32(self.signature_length * self.source.length)
            self.signatures.add(words, scale * weights, vectors)
        return vectors

    def _own(self, rows: NDArray[np.integer]) -> Floats:
        own: Floats = self.source.own(rows) * self.weights[rows][:, None]
        return own

    def _reading_weights(self, readings: Readings) -> Floats:
        """The mean of the weights of what each string may stand for."""
        own = np.where(readings.rows >= 0, self.weights[readings.rows], 0) if len(self.weights) else 0.0
        near = (readings.probabilities * own).sum(axis=1)
        weights: Floats = (near + readings.new * self.new_weight).astype(np.float32)
        return weights

    def _at_unit_length(self, sums: Floats) -> Floats:
        """Sums, which nobody else holds, at unit length."""
        if self.source.core is None:
            return normalized(sums)
        core().normalize(sums)
        return sums


def _numbered(strings: Iterable[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The distinct strings, in the order of their first occurrence, and for each string its number among them."""
    place: dict[str, int] = {}
    numbers = [place.setdefault(string, len(place)) for string in strings]
    return np.array(numbers, dtype=np.int64), list(place)
