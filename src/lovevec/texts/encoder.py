"""Texts to vectors: the weighted sum of their words' vectors, at unit length.

A text is cut into runs (what stands between blanks and marks, tokens.py), a run into the words that it stands for. The
sum of a run's words is computed once and remembered, so that running text costs little more than adding rows up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near.readings import Readings, mix_readings
from lovevec.texts.signatures import Signatures
from lovevec.texts.sums import sum_rows
from lovevec.texts.tokens import parts_of, runs_of, span_of, spans_of
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
SIF = 1e-3  # a in a / (a + p): words above this frequency count less and less
RARE_SHARE = 0.5  # of the known words, from the end: a new word weighs what these weigh on average
SIGNATURE_LENGTH = 0.5  # of a spelling's signature, beside its vector of length 1
RUNS_IN_CACHE, RUNS_IN_SMALL_CACHE = 32_768, 8_192
FEW_TEXTS = 64  # for so few nothing is made ready, and numba is not imported


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
    exact        the known words, to look them up as they stand
    is_known     whether a string is a known word, or a form of one
    look_up      the row of each known word, -1 for others; and the others, as they are read
    read         the readings of these
    own          the vectors of known words, by row
    impute       the vectors of new words
    length       that vectors usually have
    """

    words: Sequence[str]
    dim: int
    exact: Container[str]
    is_known: Callable[[str], bool]
    look_up: Callable[[Sequence[str]], tuple[NDArray[np.int64], list[str]]]
    read: Callable[[Sequence[str]], Readings]
    own: Callable[[NDArray[np.integer]], Floats]
    impute: Callable[[Sequence[str]], Floats]
    length: float = 1.0


def weights_by_rank(count: int) -> Floats:
    """a / (a + p) for words in the order of their frequency, p by Zipf's law (Arora et al., 2017): [count]."""
    if not count:
        return np.zeros(0, np.float32)
    frequency = 1 / np.arange(1, count + 1)
    weights: Floats = (SIF / (SIF + frequency / frequency.sum())).astype(np.float32)
    return weights


class TextEncoder:
    """Known words with weights, and what makes vectors of texts from them. Safe to share between threads: the cache of
    runs changes speed, never a result.

    :param source: where words get their vectors from.
    :param weights: [known words] how much each counts in a text; by default by its rank (`weights_by_rank`).
    :param compiled: whether many texts are added up by the compiled kernel.
    :param low_memory: keeps fewer runs in the cache.
    :param signature_length: how much the spelling of a word counts beside its vector; 0 leaves signatures out.
    :param cache_size: the number of runs in the cache, if not by `low_memory`.
    """

    def __init__(
        self,
        source: WordSource,
        weights: Floats | None = None,
        compiled: bool = False,
        low_memory: bool = False,
        signature_length: float = SIGNATURE_LENGTH,
        cache_size: int | None = None,
    ) -> None:
        self.source, self.compiled, self.signature_length = source, compiled, signature_length
        self.cache_size = cache_size or (RUNS_IN_SMALL_CACHE if low_memory else RUNS_IN_CACHE)
        self.weights = weights_by_rank(len(source.words)) if weights is None else weights
        rare = self.weights[int(RARE_SHARE * len(self.weights)) :]
        self.new_weight = float(rare.mean()) if len(rare) else 1.0
        self.signatures = Signatures(source.dim, self._sum)
        self._cache = RunCache(self.cache_size, source.dim)
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        options = (self.source, self.weights, self.compiled, False, self.signature_length, self.cache_size)
        return TextEncoder, options

    def with_weights(self, weights: Floats, signature_length: float = SIGNATURE_LENGTH) -> TextEncoder:
        """The same words with other weights [known words]."""
        return TextEncoder(self.source, weights, self.compiled, False, signature_length, self.cache_size)

    def encode(self, texts: Sequence[str], normalize: bool = True, center: Floats | None = None) -> Floats:
        """[len(texts), dim]; zeros for a text without words. `center` [dim] is taken off every text's unit vector."""
        if len(texts) > FEW_TEXTS and not self._cache.place:  # of many texts the frequent words are made ready at once
            self._look_up([run for word in self.source.words[: self.cache_size // 2] for run in runs_of(word)])
        runs = [runs_of(text) for text in texts]
        ends = np.append(0, np.cumsum(np.fromiter(map(len, runs), dtype=np.int64, count=len(runs))))
        cache, places = self._look_up(list(chain.from_iterable(runs)))
        sums = self._sum(cache.vectors, places, ends)
        if center is not None:
            sums = normalized(sums)
            sums[sums.any(axis=1)] -= center
        if normalize:
            return normalized(sums)
        if center is None:
            total = np.append(0.0, np.cumsum(cache.weights[places], dtype=np.float64))
            share = total[ends[1:]] - total[ends[:-1]]
            sums /= np.where(share > 0, share, 1).astype(np.float32)[:, None]
        return sums

    def tokens(self, text: str) -> list[Token]:
        """The words of a text, in their order."""
        places = self._word_spans(text)
        rows, unknown = self.source.look_up([word for word, _, _ in places])
        readings = self.source.read(unknown).in_text()
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
        place: dict[str, int] = {}
        words = [[part for run in runs_of(text) for part in parts_of(run, self.source.is_known)] for text in texts]
        ids = np.array([place.setdefault(word, len(place)) for text in words for word in text], dtype=np.int64)
        counts = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        vectors, filled = self._weighted_words(list(place))[0], counts > 0
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
        readings, known = self.source.read(unknown).in_text(), rows >= 0
        near = readings.rows >= 0

        def by_known_word(counter: Counter[str]) -> NDArray[np.float64]:
            numbers, total = np.array([counter[run] for _, run in parts], dtype=float), np.zeros(len(self.source.words))
            np.add.at(total, rows[known], numbers[known])
            np.add.at(total, readings.rows[near], (numbers[~known][:, None] * readings.probabilities)[near])
            return total

        return by_known_word(occurrences), by_known_word(documents)

    def _look_up(self, runs: Sequence[str]) -> tuple[RunCache, NDArray[np.int64]]:
        """A cache that holds all runs, and the place of each in it. Runs that are missing are computed together."""
        cache = self._cache
        get = cache.place.get
        places = np.fromiter((get(run, -1) for run in runs), dtype=np.int64, count=len(runs))
        missing = np.flatnonzero(places < 0).tolist()
        if not missing:
            return cache, places
        new = list(dict.fromkeys([runs[place] for place in missing]))
        same = {run: lower for run in new if self._is_same(run, lower := run.lower()) and lower in cache.place}
        if same:  # as where a sentence begins
            with self._lock:
                cache.place.update({run: cache.place[lower] for run, lower in same.items()})
            new = [run for run in new if run not in same]
        vectors, weights = self._weighted_runs(new)
        with self._lock:
            cache = self._cache
            if not cache.has_room(len(new)) or any(run not in cache.place for run in same):
                cache = RunCache(max(self.cache_size, len(set(runs))), self.source.dim)
                new = list(dict.fromkeys(runs))
                vectors, weights = self._weighted_runs(new)
                if len(new) <= self.cache_size:
                    self._cache = cache
            cache.add(new, vectors, weights)
        return cache, np.fromiter(map(cache.place.__getitem__, runs), dtype=np.int64, count=len(runs))

    def _is_same(self, run: str, lower: str) -> bool:
        """Whether a run is nothing but a known word with a capital."""
        exact = self.source.exact
        return lower in exact and run not in exact and run.isalpha() and self.source.is_known(run)

    def _weighted_runs(self, runs: Sequence[str]) -> tuple[Floats, Floats]:
        """Of each run the sum of its words' vectors times their weights, and the sum of their weights."""
        parts = [parts_of(run, self.source.is_known) for run in runs]
        place: dict[str, int] = {}
        ids = np.array([place.setdefault(word, len(place)) for words in parts for word in words], dtype=np.int64)
        ends = np.append(0, np.cumsum([len(words) for words in parts]))
        vectors, weights = self._weighted_words(list(place))
        return self._sum(vectors, ids, ends), self._sum(weights[:, None], ids, ends)[:, 0]

    def _weighted_words(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Of each word its vector times its weight, and its weight."""
        source = self.source
        rows, unknown = source.look_up(words)
        known = rows >= 0
        vectors, weights = np.empty((len(words), source.dim), dtype=np.float32), np.empty(len(words), dtype=np.float32)
        weights[known] = self.weights[rows[known]]
        vectors[known] = self._own(rows[known])
        if unknown:
            readings = source.read(unknown).in_text()
            mixed = source.impute(unknown)
            mix_readings(mixed, readings, self._own, self.new_weight)
            vectors[~known], weights[~known] = mixed, self._reading_weights(readings)
        if self.signature_length:
            vectors += self.signatures(words) * (self.signature_length * source.length * weights)[:, None]
        return vectors, weights

    def _own(self, rows: NDArray[np.integer]) -> Floats:
        own: Floats = self.source.own(rows) * self.weights[rows][:, None]
        return own

    def _reading_weights(self, readings: Readings) -> Floats:
        """The mean of the weights of what each string may stand for."""
        own = np.where(readings.rows >= 0, self.weights[readings.rows], 0) if len(self.weights) else 0.0
        near = (readings.probabilities * own).sum(axis=1)
        weights: Floats = (near + readings.new * self.new_weight).astype(np.float32)
        return weights

    def _sum(self, vectors: Floats, chosen: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
        return sum_rows(vectors, chosen, ends, self.compiled and len(ends) > FEW_TEXTS)


class RunCache:
    """Runs with the weighted sum of their words, up to `size` of them. What is added stays as it is."""

    def __init__(self, size: int, dim: int) -> None:
        self.place: dict[str, int] = {}
        self.count = 0
        self.vectors, self.weights = np.empty((size, dim), dtype=np.float32), np.empty(size, dtype=np.float32)

    def has_room(self, count: int) -> bool:
        """Whether `count` further runs fit in."""
        return self.count + count <= len(self.weights)

    def add(self, runs: Sequence[str], vectors: Floats, weights: Floats) -> None:
        """Add those runs that are not there yet."""
        new = [number for number, run in enumerate(runs) if run not in self.place]
        first = self.count
        self.vectors[first : first + len(new)], self.weights[first : first + len(new)] = vectors[new], weights[new]
        self.count += len(new)
        # The places come last: a thread that finds a run finds all of it.
        self.place.update(zip([runs[number] for number in new], range(first, first + len(new)), strict=True))
