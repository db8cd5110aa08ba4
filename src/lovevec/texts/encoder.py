"""Texts to vectors: the weighted sum of their words, at unit length. A word is looked up or read once a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.near.readings import Readings, add_known_rows
from lovevec.progress import Progress, wanted
from lovevec.texts.tokens import parts_of, runs_of, span_of, spans_of
from lovevec.units.characters import to_codes
from lovevec.units.words import in_batches, refuse_other_than_words, word_list
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
LookUp = Callable[[Sequence[str]], tuple[NDArray[np.int64], list[str]]]
BATCH = 1024
MANY = 50_000  # texts: on a terminal their progress is shown
USUAL = 1e-3  # a in a / (a + p): words above this frequency count less and less
RARE = 0.5  # the share of the known words, from the end, whose mean weight a new word has
SIGNED = 0.5  # the length of a spelling's signature beside its vector's
PAIR_BITS = 12
PAIRS, TO_PAIR = 1 << PAIR_BITS, np.uint64(64 - PAIR_BITS)
BLOCK = 256
REMEMBERED, FEW_REMEMBERED = 32_768, 8_192  # runs of letters; where memory is dear
FEW = 64  # texts: for so few nothing is made ready, and numba not imported


def in_turn(vectors: Floats, chosen: NDArray[np.int64], ends: NDArray[np.int64], result: Floats) -> None:
    """Add to each row of `result` vectors[chosen] from its end to the next, all rows' first ones first."""
    counts = np.diff(ends)
    longest_first = np.argsort(-counts, kind="stable")
    starts, counts = ends[:-1][longest_first], counts[longest_first]
    sums = np.zeros_like(result)
    for step in range(int(counts.max(initial=0))):
        going = int(np.searchsorted(-counts, -step, side="left"))  # those with more than `step`
        sums[:going] += vectors[chosen[starts[:going] + step]]
    result[longest_first] = sums


class Token(NamedTuple):
    """A word of a text as it was seen: what stands in the `text`; its `reading`: known, near or new; the known `word`
    that it is or most probably stands for, None for a new one; its `weight`."""

    text: str
    reading: str
    word: str | None
    weight: float


class Source(NamedTuple):
    """Where words come from.

    exact     the known words, to look them up as they stand
    is_known  whether a string is a known word, or a form of one
    look_up   the row of each known word, -1 for others; and the others, as they are to be read
    read      the readings of these
    own       the vectors of known words, by row
    impute    the vectors of new words
    length    that vectors usually have
    """

    words: Sequence[str]
    dim: int
    exact: Container[str]
    is_known: Callable[[str], bool]
    look_up: LookUp
    read: Callable[[Sequence[str]], Readings]
    own: Callable[[NDArray[np.integer]], Floats]
    impute: Callable[[Sequence[str]], Floats]
    length: float = 1.0


def weights_by_rank(count: int) -> Floats:
    """a / (a + p) for words in the order of their frequency, p by Zipf's law (Arora et al., 2017)."""
    chance = 1 / np.arange(1, count + 1)
    weights: Floats = (USUAL / (USUAL + chance / chance.sum())).astype(np.float32) if count else np.zeros(0, np.float32)
    return weights


class TextEncoder:
    """Words with weights. Safe to share between threads: what it remembers of words does not show."""

    def __init__(
        self,
        source: Source,
        weights: Floats | None = None,
        compiled: bool = False,
        low_memory: bool = False,
        signed: float = SIGNED,
    ) -> None:
        self.source, self.compiled, self.low_memory, self.signed = source, compiled, low_memory, signed
        self.remembered = FEW_REMEMBERED if low_memory else REMEMBERED
        self.weights = weights_by_rank(len(source.words)) if weights is None else weights
        rare = self.weights[int(RARE * len(self.weights)) :]
        self.new_weight = float(rare.mean()) if len(rare) else 1.0
        self.signatures = Signatures(source.dim, self._sums)
        self._seen = Seen(self.remembered, source.dim)
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return TextEncoder, (self.source, self.weights, self.compiled, self.low_memory, self.signed)

    def weighing(self, weights: Floats, signed: float = SIGNED) -> TextEncoder:
        """The same words with other weights [known words]; without signatures for `signed=0`."""
        return TextEncoder(self.source, weights, self.compiled, self.low_memory, signed)

    def encode(self, texts: Sequence[str], normalize: bool = True, center: Floats | None = None) -> Floats:
        """[len(texts), dim]; zeros for a text without words."""
        if len(texts) > FEW and not self._seen.place:  # many texts: the most frequent words are made ready at once
            self._looked_up([run for word in self.source.words[: self.remembered // 2] for run in runs_of(word)])
        runs = [runs_of(text) for text in texts]
        ends = np.append(0, np.cumsum(np.fromiter(map(len, runs), dtype=np.int64, count=len(runs))))
        seen, chosen = self._looked_up(list(chain.from_iterable(runs)))
        sums = self._sums(seen.vectors, chosen, ends)
        if center is not None:
            sums = normalized(sums)
            sums[sums.any(axis=1)] -= center
        if normalize:
            return normalized(sums)
        if center is None:
            total = np.append(0.0, np.cumsum(seen.weights[chosen], dtype=np.float64))
            share = total[ends[1:]] - total[ends[:-1]]
            sums /= np.where(share > 0, share, 1).astype(np.float32)[:, None]
        return sums

    def tokens(self, text: str) -> list[Token]:
        """What was seen of a text."""
        pieces = [(run, word) for run in runs_of(text) for word in parts_of(run, self.source.is_known)]
        rows, unknown = self.source.look_up([word for _, word in pieces])
        reading = self.source.read(unknown).in_text()
        weights = self._reading_weights(reading).tolist()
        others = zip(reading.rows[:, 0].tolist(), (reading.new >= 0.5).tolist(), weights, strict=True)
        result = []
        for (run, _), row in zip(pieces, rows.tolist(), strict=True):
            if row >= 0:
                found = Token(run, "known", self.source.words[row], float(self.weights[row]))
            else:
                near, new, weight = next(others)
                word = None if new or near < 0 else self.source.words[near]
                found = Token(run, "new" if new else "near", word, weight)
            result.append(found)
        return result

    def greatest(self, texts: Sequence[str], normalize: bool = True) -> Floats:
        """[len(texts), dim]: in each dimension the greatest number among a text's words, each vector times its weight;
        zeros for a text without words."""
        place: dict[str, int] = {}
        words = [[part for run in runs_of(text) for part in parts_of(run, self.source.is_known)] for text in texts]
        chosen = np.array([place.setdefault(word, len(place)) for text in words for word in text], dtype=np.int64)
        counts = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        vectors, some = self._of_words(list(place))[0], counts > 0
        result = np.zeros((len(texts), self.source.dim), dtype=np.float32)
        if some.any():
            starts = (np.cumsum(counts) - counts)[some]
            result[some] = np.maximum.reduceat(vectors[chosen], starts, axis=0)
        return normalized(result) if normalize else result

    def counts(self, texts: Iterable[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often each known word stands in the texts, and in how many of them: [known words] each. A word that is
        not known counts for those that it may stand for, by their probability."""
        often: Counter[str] = Counter()
        within: Counter[str] = Counter()
        for text in texts:
            runs = runs_of(text)
            often.update(runs)
            within.update(set(runs))
        parts = [(word, run) for run in often for word in parts_of(run, self.source.is_known)]
        rows, unknown = self.source.look_up([word for word, _ in parts])
        reading, known = self.source.read(unknown).in_text(), rows >= 0
        meant = reading.rows >= 0

        def of_known(counted: Counter[str]) -> NDArray[np.float64]:
            numbers, total = np.array([counted[run] for _, run in parts], dtype=float), np.zeros(len(self.source.words))
            np.add.at(total, rows[known], numbers[known])
            np.add.at(total, reading.rows[meant], (numbers[~known][:, None] * reading.probabilities)[meant])
            return total

        return of_known(often), of_known(within)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each of `tokens` stands in the text: (start, end). A word that is not spelled out there (the name of an
        emoji, e-mail as email) has the place of what it was made of."""
        result = []
        for run, (start, end) in zip(runs_of(text), spans_of(text), strict=True):
            inside = 0
            for word in parts_of(run, self.source.is_known):
                low, high = span_of(word, run, inside)
                spelled_so = len(run) == end - start  # nothing was composed or left out: letters stand where they stood
                result.append((start + low, start + high) if spelled_so else (start, end))
                inside = high if low or high < len(run) else inside
        return result

    def _looked_up(self, runs: Sequence[str]) -> tuple[Seen, NDArray[np.int64]]:
        """Where each run's vector stands, and in what. Runs that were not seen before are made all at once."""
        seen = self._seen
        get = seen.place.get
        places = np.fromiter((get(run, -1) for run in runs), dtype=np.int64, count=len(runs))
        missing = np.flatnonzero(places < 0).tolist()
        if not missing:
            return seen, places
        new = list(dict.fromkeys([runs[place] for place in missing]))
        same = {run: lower for run in new if self._is_same(run, lower := run.lower()) and lower in seen.place}
        if same:  # as where a sentence begins
            with self._lock:
                seen.place.update({run: seen.place[lower] for run, lower in same.items()})
            new = [run for run in new if run not in same]
        vectors, weights = self._of_runs(new)
        with self._lock:
            seen = self._seen
            if not seen.has_room(len(new)) or any(run not in seen.place for run in same):
                seen = Seen(max(self.remembered, len(set(runs))), self.source.dim)
                new = list(dict.fromkeys(runs))
                vectors, weights = self._of_runs(new)
                if len(new) <= self.remembered:
                    self._seen = seen
            seen.add(new, vectors, weights)
        return seen, np.fromiter(map(seen.place.__getitem__, runs), dtype=np.int64, count=len(runs))

    def _is_same(self, run: str, lower: str) -> bool:
        """Whether a run is but a known word with a capital."""
        exact = self.source.exact
        return lower in exact and run not in exact and run.isalpha() and self.source.is_known(run)

    def _of_runs(self, runs: Sequence[str]) -> tuple[Floats, Floats]:
        """Of each run the sum of its words' vectors times their weights, and of their weights."""
        parts = [parts_of(run, self.source.is_known) for run in runs]
        place: dict[str, int] = {}
        ids = np.array([place.setdefault(word, len(place)) for words in parts for word in words], dtype=np.int64)
        ends = np.append(0, np.cumsum([len(words) for words in parts]))
        vectors, weights = self._of_words(list(place))
        return self._sums(vectors, ids, ends), self._sums(weights[:, None], ids, ends)[:, 0]

    def _of_words(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Of each word: its vector times its weight, and its weight."""
        source = self.source
        rows, unknown = source.look_up(words)
        have = rows >= 0
        vectors, weights = np.empty((len(words), source.dim), dtype=np.float32), np.empty(len(words), dtype=np.float32)
        weights[have] = self.weights[rows[have]]
        vectors[have] = self._own(rows[have])
        if unknown:
            reading = source.read(unknown).in_text()
            mixed = source.impute(unknown) * (reading.new * self.new_weight).astype(np.float32)[:, None]
            add_known_rows(mixed, reading, self._own)
            vectors[~have], weights[~have] = mixed, self._reading_weights(reading)
        if self.signed:
            vectors += self.signatures(words) * (self.signed * source.length * weights)[:, None]
        return vectors, weights

    def _own(self, rows: NDArray[np.integer]) -> Floats:
        own: Floats = self.source.own(rows) * self.weights[rows][:, None]
        return own

    def _reading_weights(self, reading: Readings) -> Floats:
        """The mean over readings."""
        own = np.where(reading.rows >= 0, self.weights[reading.rows], 0) if len(self.weights) else 0.0
        weights: Floats = ((reading.probabilities * own).sum(axis=1) + reading.new * self.new_weight).astype(np.float32)
        return weights

    def _sums(self, vectors: Floats, chosen: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
        if not self.compiled or len(ends) <= FEW:
            return sums_of(vectors, chosen, ends)
        from lovevec.texts.kernel import add_up

        return sums_of(vectors, chosen, ends, add_up)


class Seen:
    """Runs with the sum of their words, up to `size`; what is added stays as it is."""

    def __init__(self, size: int, dim: int) -> None:
        self.place: dict[str, int] = {}
        self.count = 0
        self.vectors, self.weights = np.empty((size, dim), dtype=np.float32), np.empty(size, dtype=np.float32)

    def has_room(self, count: int) -> bool:
        """Whether so many more can be added."""
        return self.count + count <= len(self.weights)

    def add(self, runs: Sequence[str], vectors: Floats, weights: Floats) -> None:
        """Those that are not there yet."""
        new = [number for number, run in enumerate(runs) if run not in self.place]
        first = self.count
        self.vectors[first : first + len(new)], self.weights[first : first + len(new)] = vectors[new], weights[new]
        self.count += len(new)
        # Last: whoever finds a run finds all of it.
        self.place.update(zip([runs[number] for number in new], range(first, first + len(new)), strict=True))


class Signatures:
    """A random direction for each spelling, alike for spellings alike: the sum of those of its pairs of letters."""

    def __init__(self, dim: int, add_up: Callable[[Floats, NDArray[np.int64], NDArray[np.int64]], Floats]) -> None:
        self.dim, self.add_up = dim, add_up

    @cached_property
    def _directions(self) -> Floats:
        """[PAIRS, dim] of 1 and -1, the same for all time."""
        numbers = np.random.PCG64(0).random_raw(PAIRS * self.dim // 64 + 1)
        bits = np.unpackbits(numbers.astype("<u8").view(np.uint8))[: PAIRS * self.dim]
        return (2.0 * bits.reshape(PAIRS, self.dim) - 1).astype(np.float32)

    def __call__(self, words: Sequence[str]) -> Floats:
        """[len(words), dim] of unit length."""
        codes = to_codes(words, True)
        text, offsets = np.zeros(len(codes.values) + len(codes) + 1, dtype=np.uint64), codes.offsets
        text[np.arange(len(codes.values)) + np.repeat(np.arange(1, len(codes) + 1), codes.lengths)] = codes.values
        pairs = (text[:-1] * np.uint64(0x9E3779B1) + text[1:]) * np.uint64(0x9E3779B97F4A7C15) >> TO_PAIR
        ends = offsets + np.arange(len(offsets))
        return normalized(self.add_up(self._directions, pairs.astype(np.int64), ends))


class Options(NamedTuple):
    """How texts are encoded, by the names that sentence-transformers and model2vec have for it."""

    batch_size: int = BATCH
    show_progress_bar: bool | None = None
    normalize_embeddings: bool = True
    convert_to_numpy: bool = True
    convert_to_tensor: bool = False
    center: Any = None

    def checked(self, dim: int) -> Options:
        """The same; an error for what cannot be."""
        if not isinstance(self.batch_size, (int, np.integer)) or self.batch_size < 1:
            raise LovevecError(f"batch_size is {self.batch_size!r}: must be at least 1, a whole number")
        if self.center is None:
            return self
        center = np.asarray(self.center, dtype=np.float32)
        if center.shape != (dim,) or not np.isfinite(center).all():
            raise LovevecError(f"center has the shape {center.shape}: must be one vector of {dim} finite numbers")
        return self._replace(center=center)


class EncodesTexts:
    """What a LOVE and an attached table have in common: `encode` and `tokens`, by their `_texts`. They never change, so
    that each is its own copy."""

    def __deepcopy__(self, memo: dict[int, Any]) -> EncodesTexts:
        return self

    @cached_property
    def _texts(self) -> TextEncoder:
        raise NotImplementedError

    @overload
    def encode(
        self,
        texts: Iterator[str],
        *,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        normalize_embeddings: bool = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: bool = ...,
        center: Any = ...,
    ) -> Iterator[Floats]: ...
    @overload
    def encode(
        self,
        texts: str | Sequence[str] | NDArray[Any],
        *,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        normalize_embeddings: bool = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: bool = ...,
        center: Any = ...,
    ) -> Floats: ...
    def encode(
        self,
        texts: str | Iterable[str] | NDArray[Any],
        *,
        batch_size: int = BATCH,
        show_progress_bar: bool | None = None,
        normalize_embeddings: bool = True,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        center: Any = None,
    ) -> Floats | Iterator[Floats]:
        """Vectors of whole texts, typos and all: the mean of their words' vectors by how much each word counts.

        A list of texts: [len(texts), dim] of unit length; a text: [dim]; an iterator: an iterator of arrays of up to
        `batch_size` rows, in constant memory. A text without words has zeros. `normalize_embeddings=False` leaves the
        mean as it is; `center`, a vector, is taken off every text's before that (the mean vector of your own texts
        removes what all of them have in common); `convert_to_tensor` gives torch's, without
        `convert_to_numpy` there is a list of vectors. What was seen: `tokens`.
        """
        how = convert_to_numpy, convert_to_tensor
        options = Options(batch_size, show_progress_bar, normalize_embeddings, *how, center)
        found: Floats | Iterator[Floats] = encoded(self._texts, texts, options)
        return found

    def text_encoder(self) -> TextEncoder:
        """What `encode` computes with: its words, weights, and other ways to put words together."""
        return self._texts

    def tokens(self, text: str) -> list[Token]:
        """The words of a text as `encode` sees them: (text, reading, word, weight) each."""
        refuse_other_than_words([text])
        return self._texts.tokens(text)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the words of `tokens(text)` stand in the text: (start, end) each, `text[start:end]`."""
        refuse_other_than_words([text])
        return self._texts.spans(text)


def encoded(
    encoder: TextEncoder, texts: str | Iterable[str] | NDArray[Any], options: Options
) -> Floats | Iterator[Floats] | Any:
    """What `encode` of LOVE and of attached tables gives for a text, a list of texts, or an iterator of texts."""
    options = options.checked(encoder.source.dim)
    if isinstance(texts, str):
        return _converted(_batch(encoder, [texts], options, 0)[0], options)
    if isinstance(texts, Iterator):
        return (_converted(rows, options) for rows in _stream(encoder, texts, options))
    listed = word_list(texts)
    result = np.empty((len(listed), encoder.source.dim), dtype=np.float32)
    quiet = not wanted(options.show_progress_bar, len(listed), MANY)
    with Progress(quiet) as progress, progress.phase("encoding", len(listed), "texts") as phase:
        for low in range(0, len(listed), options.batch_size):
            part = listed[low : low + options.batch_size]
            result[low : low + len(part)] = _batch(encoder, part, options, low)
            phase.advance(len(part))
    return _converted(result, options)


def _stream(encoder: TextEncoder, texts: Iterator[str], options: Options) -> Iterator[Floats]:
    done = 0
    for part in in_batches(texts, options.batch_size):
        yield _batch(encoder, part, options, done)
        done += len(part)


def _batch(encoder: TextEncoder, texts: Sequence[str], options: Options, first: int) -> Floats:
    try:
        return encoder.encode(texts, options.normalize_embeddings, options.center)
    except (TypeError, AttributeError):  # so that good texts need not be looked at one by one
        refuse_other_than_words(texts, first)
        raise


def _converted(rows: Floats, options: Options) -> Any:
    if not options.convert_to_tensor:
        return rows if options.convert_to_numpy else list(rows)
    import torch

    return torch.from_numpy(rows)


def sums_of(
    vectors: Floats, chosen: NDArray[np.int64], ends: NDArray[np.int64], add: Callable[..., None] = in_turn
) -> Floats:
    """[texts, dim] the sum of vectors[chosen] from each end to the next: one after the other up to BLOCK of them, of
    more one block after the other. So no sum depends on what else is added up, nor on who adds."""
    counts = np.diff(ends)
    if counts.max(initial=0) > BLOCK:
        blocks = -(-counts // BLOCK)
        number = np.arange(blocks.sum()) - np.repeat(np.cumsum(blocks) - blocks, blocks)
        starts = np.repeat(ends[:-1], blocks) + number * BLOCK
        vectors, chosen = sums_of(vectors, chosen, np.append(starts, ends[-1]), add), np.arange(len(starts))
        ends = np.append(0, np.cumsum(blocks))
        return sums_of(vectors, chosen, ends, add)
    result = np.zeros((len(counts), vectors.shape[1]), dtype=np.float32)
    add(vectors, chosen, ends, result)
    return result
