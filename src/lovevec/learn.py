"""Words that arrive: `love.learn(texts)` gives them rows from their spelling and from the sentences that they came in.

    row(w) = unit( imputed(w) + β(n) · context(w) )        n: the sentences that were looked at
    context(w) = unit( unit(Σ expected) + unit(Σ around / n - usual) )

`expected` is where a sentence expects the word among the vectors, by the model of context (near/context.py); `around`
is the mean of the rows of the words around it, nearer ones and those that count more in texts more; `usual` is what
`around` is of any word. The first tells what kind of word stands there, the second what the text is about.

Texts are read by the model as it was before it learned anything, so that what was learned does not depend on the order
of texts, nor on the goes in which they came. Sums are of whole numbers (model/learned.py), with the same bits anywhere.
Memory does not grow with the texts: of all strings that may be new the TRACKED most frequent are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.threads import in_chunks
from lovevec.errors import LovevecError, Parameter, shown
from lovevec.model.folder import ModelParts
from lovevec.model.known_rows import KnownRows
from lovevec.model.learned import KNOWN, MAX_CONTEXTS, MAX_STEP, NAMED, Learned, origin_of
from lovevec.near import exact
from lovevec.near.context import PAD, PLACES, ROW_SCALE, WINDOW, SentenceReader, whole_rows
from lovevec.near.kinds import WORD, Part, kind_of, plain_form
from lovevec.near.parts import POSSESSIVE
from lovevec.own_words import MAX_LETTERS, OWN_RANK, with_words
from lovevec.progress import Progress
from lovevec.texts.sentence import LIKELY, NEW, NUMBER, OTHER, sequence
from lovevec.texts.text_reader import weights_by_rank
from lovevec.texts.tokens import words_of
from lovevec.units.words import check_words, in_batches, refuse_other_than_words, word_list
from lovevec.vectors.rows import normalized
from lovevec.word_vectors import WordsWithScores, WordVectors

Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]
Model = TypeVar("Model", bound="LearnsWords")
MIN_COUNT = 5
MIN_LETTERS = 3  # of a word that nobody named
CERTAINTY = 0.9  # probability from which on a string is taken for a new word
TRACKED = 32_768  # strings that may be new: 40 MB where the model has 300 dimensions
KEPT = 3 / 4  # of these, when there are too many
EXPECTED = 1.0  # what the expected direction counts beside that of the words around
BETA, HALF_AT = 2.0, 1.0  # β(n) = BETA · n / (n + HALF_AT), chosen by lab/runs/new_words.py
NEAR = 6.0  # places after which a word around counts e times less
WEIGHT_POWER, MAX_WEIGHT, WEIGHT_STEPS = 2, 16.0, 1024  # of the words around: their weights in texts to this power
RANK_OFFSET = 10.0  # of the usual words of texts, whose frequency is 1 / (rank + offset)
TEXTS_PER_BATCH = 512
STRINGS_KEPT = 1 << 18  # whose readings are kept
WINDOWS_PER_BATCH, WINDOWS_PER_CHUNK, ROWS_PER_BLOCK = 4096, 256, 8192
COARSER = 16  # whole numbers of up to 4095 are summed up in steps of so many: up to MAX_STEP
DISTANCES = np.array([*range(WINDOW, 0, -1), *range(1, WINDOW + 1)], dtype=np.float64)


@dataclass(frozen=True)
class LearnedWord:
    """A word that was learned: how often it came, how many of its sentences were looked at, the known words that are
    nearest to what these say, and the known words that are nearest to what its spelling says."""

    word: str
    count: int
    contexts: int
    sentences: WordsWithScores
    spelling: WordsWithScores


class LearnedWords(Mapping[str, LearnedWord]):
    """The words that a model has learned, the most frequent first."""

    def __init__(self, model: WordVectors, parts: ModelParts, k: int = 5) -> None:
        self._model, self._parts, self._learned, self._k = model, parts, parts.learned, k

    @cached_property
    def _places(self) -> dict[str, int]:
        learned = self._learned
        return {} if learned is None else {learned.words[place]: place for place in learned.known.tolist()}

    @property
    def counts(self) -> list[tuple[str, int]]:
        """The words, and how often each came."""
        return [(word, int(self._learned.counts[place])) for word, place in self._places.items() if self._learned]

    def __getitem__(self, word: str) -> LearnedWord:
        place, learned = self._places[word], self._learned
        assert learned is not None
        one, k = learned.take([place]), self._k
        context = context_of(one, usual_around(self._model, self._parts))
        directions = [context.astype(np.float32), self._model.impute([word])]
        sentences, spelling = self._model.neighbors(np.concatenate(directions), k + 1)
        others = ([pair for pair in pairs if pair[0] != word][:k] for pairs in (sentences, spelling))
        return LearnedWord(word, int(one.counts[0]), int(one.contexts[0]), *others)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"LearnedWords({len(self):,} words: {', '.join(f'{word} {count}' for word, count in self.counts[:10])})"


@dataclass(frozen=True)
class LearnOptions:
    """What is learned: the `words` that are named, or all that are new; those that come `min_count` times. `tracked`
    strings are kept at most."""

    words: frozenset[str] | None = None
    min_count: int = MIN_COUNT
    tracked: int = TRACKED

    @classmethod
    def of(cls, words: Iterable[str] | None, min_count: int, lowercase: bool) -> LearnOptions:
        if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 1:
            raise LovevecError(f"{Parameter('min_count')} is {shown(min_count)}: must be at least 1, a whole number")
        if words is None:
            return cls(None, min_count)
        if isinstance(words, str):
            raise LovevecError(f"{Parameter('words')} is one string: must be a list of words")
        named = check_words(sorted(words) if isinstance(words, (set, frozenset)) else words)
        return cls(frozenset(word.lower() if lowercase else word for word in named), min_count)


class LearnsWords(ABC):
    """`learn`, `learned` and `forget`, as LOVE and Attached have them."""

    @abstractmethod
    def _learning_model(self, what: str) -> Any:
        """The LOVE that learns: the model itself, or the one behind a table. Where there is none, an error says what
        cannot be done."""

    @abstractmethod
    def _with_learning_model(self: Model, model: Any) -> Model:
        """The same by that LOVE when it has learned or forgotten words."""

    def learn(
        self: Model,
        texts: Iterable[str],
        words: Iterable[str] | None = None,
        min_count: int = MIN_COUNT,
        *,
        progress: Progress | None = None,
    ) -> Model:
        """The model with the words that arrive in texts: each has a row of its spelling and of the sentences that it
        came in. Of an attached table the model behind it learns the words that neither has, and the table gets rows for
        them in its own space, in memory. It takes a model of context, by which sentences are read.

        Without `words` it finds the new ones itself: strings of letters that are no misspellings, numbers or parts of
        others. What was known stays as it was. More texts improve the rows of words that were learned before; the order
        of texts does not matter, and many goes are as good as one.

        :param texts: running text, one paragraph or sentence a string: a list, or any stream, of any length.
        :param words: learn these words and no others.
        :param min_count: how often a word has to come, in all texts together, to have a row.
        :param progress: where progress is shown.
        :return: a model, or an attached table, which can be saved and loaded as any other.

        >>> love = LOVE.load("my-model")                                          # doctest: +SKIP
        >>> love.learn(open("news.txt")).learned.counts                           # doctest: +SKIP
        [('covid', 1422), ('lockdown', 610)]
        """
        model = self._learning_model("learn")
        parts, reader = model._parts_with_rows("learn"), model._sentence_reader
        if reader is None:
            problem = "this model has no model of context, by which sentences are read"
            raise LovevecError(f"learn: {problem}: `lovevec context corpus.txt -m MODEL -o NEW` teaches it one")
        options = LearnOptions.of(words, min_count, parts.units.lowercase)
        before = without_learned(parts)
        base = model if before is parts else model.copy(parts=before)
        more = learn(base, before, base._sentence_reader, texts, options, progress, model._threads)
        return self._with_learning_model(model.copy(parts=more))

    @property
    def learned(self) -> LearnedWords:
        """The words that were learned from texts, the most frequent first: `learned.counts` are they with how often
        each came, `learned[word]` also tells the known words that are nearest to what its sentences say, and to what
        its spelling says."""
        model = self._learning_model("learned")
        return LearnedWords(model, model.parts)

    def forget(self: Model, words: str | Iterable[str] | None = None) -> Model:
        """The model without words that it learned from texts; without all of them, and all that it noted of others,
        where none is named."""
        model = self._learning_model("forget")
        return self._with_learning_model(model.copy(parts=forgotten(model._parts_with_rows("forget"), words)))


def learn(
    model: WordVectors,
    parts: ModelParts,
    reader: SentenceReader,
    texts: Iterable[str],
    options: LearnOptions,
    progress: Progress | None = None,
    threads: int = 1,
) -> ModelParts:
    """The `parts` of a model that knows the words that arrive in texts. `model` and `parts` are without the words that
    were learned before (`without_learned`), and `parts.learned` is what was learned of them."""
    before = parts.learned or Learned.nothing(reader.context)
    if before.origin != origin_of(reader.context):
        raise LovevecError("learn: what this model has learned is by another model of context: `forget` it before")
    learner = Learner(model, parts, reader, before, options, threads)
    if progress is not None and not isinstance(progress, Progress):
        raise LovevecError(f"{Parameter('progress')} is {shown(progress)}: must be a Progress, of lovevec.progress")
    with (progress or Progress(quiet=True)).phase("learning", unit="texts") as phase:
        for batch in in_batches(_stream(texts), TEXTS_PER_BATCH):
            refuse_other_than_words(batch, learner.texts, "text")
            learner.read(batch)
            phase.advance(len(batch), note=f"{len(learner.place):,} new strings")
    return with_learned(model, parts, learner.learned().with_rows_for(options.min_count, options.words).in_order())


def _stream(texts: Iterable[str]) -> Iterator[str]:
    """The texts one by one; lists, arrays and columns are checked as elsewhere."""
    if isinstance(texts, str):
        return iter([texts])
    return iter(word_list(texts) if hasattr(texts, "__len__") or not isinstance(texts, Iterable) else texts)


def with_learned(model: WordVectors, parts: ModelParts, learned: Learned) -> ModelParts:
    """The `parts` of a model without learned words, with those that have a row by `learned`."""
    known = learned.take(learned.known)
    metadata = {name: value for name, value in parts.metadata.items() if name != "learned"}
    if len(learned):
        metadata["learned"] = {"words": len(known), "texts": learned.read[0], "words_read": learned.read[1]}
    parts = replace(parts, metadata=metadata, learned=learned if len(learned) else None)
    if not len(known):
        return parts
    vectors = learned_vectors(known, model.impute(known.words), usual_around(model, parts))
    return with_words(model, parts, known.words, vectors=vectors, ranks=_ranks(known, len(parts.words)))


def _ranks(known: Learned, count: int) -> NDArray[np.int32]:
    """The ranks of words by how often they came, as words of the language come: the n-th n times as seldom as the
    first. Words of a model's own are never likelier than OWN_RANK."""
    first = 1 / float((1 / np.arange(1, count + 1)).sum()) if count else 1.0
    share = known.counts / max(known.read[1], 1)
    ranks: NDArray[np.int32] = np.clip(first / share, OWN_RANK, max(count, OWN_RANK)).astype(np.int32)
    return ranks


def without_learned(parts: ModelParts, words: Iterable[str] | None = None) -> ModelParts:
    """The `parts` of a model without the words that it learned, or without some of them; what it learned is kept in
    `parts.learned`."""
    learned = parts.learned
    if learned is None:
        return parts
    dropped = set(learned.known_words if words is None else words)
    places = [place for place, word in enumerate(parts.words) if word not in dropped]
    if len(places) == len(parts.words):
        return parts
    assert parts.rows is not None
    rows = _as_usual(parts.rows.take(np.array(places, dtype=np.int64)))
    return replace(parts, words=[parts.words[place] for place in places], rows=rows)


def _as_usual(rows: KnownRows) -> KnownRows:
    """Without ranks where these are the places, and without weights where these are by rank."""
    ranks, weights = rows.ranks, rows.weights
    ranks = None if np.array_equal(ranks if ranks is not None else [], np.arange(len(rows))) else ranks
    weights = None if weights is not None and np.array_equal(weights, weights_by_rank(len(rows))) else weights
    return replace(rows, ranks=ranks, weights=weights)


def forgotten(parts: ModelParts, words: Iterable[str] | None) -> ModelParts:
    """The `parts` of a model that has forgotten words that it learned, or all of them, and what waited."""
    learned = parts.learned
    known = [] if learned is None else learned.known_words
    if words is not None:
        listed = check_words(
            [words] if isinstance(words, str) else sorted(words) if isinstance(words, (set, frozenset)) else words
        )
        gone = list(dict.fromkeys(word.lower() if parts.units.lowercase else word for word in listed))
        if strange := [word for word in gone if word not in set(known)]:
            raise LovevecError(f"forget: {shown(strange[0])} was not learned")
    if learned is None:
        return parts
    rest = None if words is None else learned.without(gone)
    metadata = {name: value for name, value in parts.metadata.items() if name != "learned"}
    if rest is not None and len(rest):
        metadata["learned"] = {**parts.metadata.get("learned", {}), "words": len(rest.known)}
    less = without_learned(parts, known if words is None else gone)
    return replace(less, metadata=metadata, learned=rest if rest is not None and len(rest) else None)


def context_of(learned: Learned, usual: Numbers, share: float = EXPECTED) -> Numbers:
    """What the sentences of words say, as directions: [words, dim]. `usual` is what is `around` any word; the expected
    direction counts `share` beside that of the words around."""
    expected = normalized(learned.expected.astype(np.float64))
    mean = learned.around / np.maximum(learned.contexts, 1)[:, None]
    around = normalized(np.where(learned.contexts[:, None] > 0, mean - usual, 0.0))
    context: Numbers = normalized(share * expected + around)
    return context


def learned_vectors(learned: Learned, imputed: Floats, usual: Numbers) -> Floats:
    """The rows of words by their spelling and their sentences: [words, dim]."""
    contexts = learned.contexts.astype(np.float64)
    beta = BETA * contexts / (contexts + HALF_AT)
    rows = imputed.astype(np.float64) + beta[:, None] * context_of(learned, usual)
    vectors: Floats = normalized(rows).astype(np.float32)
    return vectors


def usual_around(model: WordVectors, parts: ModelParts) -> Numbers:
    """The mean of the rows of the words of texts, by how frequent they are and how much they count: [dim], in the steps
    of `Learned.around`."""
    rows, weights = parts.rows, model.text_encoder().weights
    assert rows is not None
    ranks = np.arange(len(rows)) if rows.ranks is None else rows.ranks
    shares = _weights_around(weights) / (ranks + RANK_OFFSET)
    total = np.zeros(rows.dim)
    for low in range(0, len(rows), ROWS_PER_BLOCK):
        part = slice(low, low + ROWS_PER_BLOCK)
        some = np.arange(len(rows))[part]
        total += (shares[part, None] * whole_rows(model._own_vectors(some))).sum(axis=0)
    result: Numbers = total / max(float(shares.sum()), 1e-12) / COARSER
    return result


def _weights_around(weights: Floats) -> Numbers:
    """How much words count that stand around another one, by how much they count in texts."""
    return np.minimum(weights.astype(np.float64) ** WEIGHT_POWER, MAX_WEIGHT)


class Learner:
    """Reads texts and adds up what they say of the words that are new.

    :param model: reads the strings; it knows none of the words that were learned before.
    :param parts: its parts.
    :param reader: its model of context.
    :param before: what was learned before.
    :param options: which words are learned.
    :param threads: that compute.
    """

    def __init__(
        self,
        model: WordVectors,
        parts: ModelParts,
        reader: SentenceReader,
        before: Learned,
        options: LearnOptions,
        threads: int = 1,
    ) -> None:
        self.model, self.reader, self.before, self.options, self.threads = model, reader, before, options, threads
        self.lowercase, self.step = parts.units.lowercase, float(reader.context.scales[1]) * ROW_SCALE * COARSER or 1.0
        encoder, size = model.text_encoder(), max(len(before), 64)
        self.weights = _weights_around(encoder.weights)
        self.decay = exact.exp(-(DISTANCES - 1) / NEAR)
        self.place = {word: place for place, word in enumerate(before.words)}
        self.known = {before.words[place] for place in before.known.tolist()}
        named = {before.words[place] for place in np.flatnonzero(before.status & NAMED).tolist()}
        self.named = named | (options.words or frozenset())
        self.counts, self.contexts = _longer(before.counts, size), _longer(before.contexts, size)
        self.expected, self.around = _longer(before.expected, size), _longer(before.around, size)
        self.texts, self.words = 0, 0
        self._seen: dict[str, tuple[int, str | None]] = {}
        self._owners: list[int] = []
        self._windows: list[list[int]] = []

    def learned(self) -> Learned:
        """All that was read, with rows for the words that had one before."""
        words, count = tuple(self.place), len(self.place)
        status = [KNOWN * (word in self.known) + NAMED * (word in self.named) for word in words]
        return Learned(
            words,
            np.array(status, dtype=np.uint8),
            self.counts[:count].copy(),
            self.contexts[:count].copy(),
            self.expected[:count].copy(),
            self.around[:count].copy(),
            (self.before.read[0] + self.texts, self.before.read[1] + self.words),
            self.before.origin,
        )

    def read(self, texts: Sequence[str]) -> None:
        """Add what some texts say."""
        words = [words_of(text) for text in texts]
        if len(self._seen) > STRINGS_KEPT:
            self._seen.clear()
        distinct = dict.fromkeys(word.text for some in words for word in some)
        self._look_at([string for string in distinct if string not in self._seen])
        for text, some in zip(texts, words, strict=True):
            self.texts += 1
            self.words += len(some)
            seen = [self._seen[word.text] for word in some]
            if any(key is not None for _, key in seen):
                parts = [Part(word.text, WORD, word.start, word.end) for word in some]
                self._add(*sequence(text, parts, [row for row, _ in seen]), [key for _, key in seen])
        self._add_up()

    def _add(self, line: list[int], places: list[int], keys: Sequence[str | None]) -> None:
        """Count the words of a text that are learned, and put their sentences with those that wait to be added up."""
        padded = [PAD] * WINDOW + line + [PAD] * WINDOW
        for place, key in zip(places, keys, strict=True):
            if key is None:
                continue
            owner = self._place_of(key)
            self.counts[owner] += 1
            window = padded[place : place + WINDOW] + padded[place + WINDOW + 1 : place + PLACES + 1]
            if self.contexts[owner] < MAX_CONTEXTS and max(window) >= 0:
                self.contexts[owner] += 1
                self._owners.append(owner)
                self._windows.append(window)
                if len(self._windows) >= WINDOWS_PER_BATCH:
                    self._add_up()

    def _place_of(self, key: str) -> int:
        place = self.place.get(key)
        if place is not None:
            return place
        if len(self.place) >= max(self.options.tracked, 2 * len(self.known)):
            self._drop_rare()
        place = self.place[key] = len(self.place)
        if place == len(self.counts):
            self.counts, self.contexts = _longer(self.counts, 2 * place), _longer(self.contexts, 2 * place)
            self.expected, self.around = _longer(self.expected, 2 * place), _longer(self.around, 2 * place)
        return place

    def _drop_rare(self) -> None:
        """Keep the most frequent strings, of equally frequent ones those that came first; and all words with a row."""
        self._add_up()
        words, count = list(self.place), len(self.place)
        stays = np.fromiter((word in self.known for word in words), np.bool_, count)
        order = np.lexsort((np.arange(count), -self.counts[:count], ~stays))
        kept = np.sort(order[: max(int(KEPT * count), int(stays.sum()))])
        self.place = {words[old]: new for new, old in enumerate(kept.tolist())}
        for array in (self.counts, self.contexts, self.expected, self.around):
            array[: len(kept)] = array[kept]
            array[len(kept) :] = 0

    def _add_up(self) -> None:
        if not self._windows:
            return
        windows, owners = np.array(self._windows, dtype=np.int32), np.array(self._owners, dtype=np.int64)
        self._windows, self._owners = [], []
        expected, around = np.empty((2, len(windows), self.reader.context.dim), dtype=np.int16)

        def run(part: slice) -> None:
            steps = np.rint(self.reader.expected(windows[part]).astype(np.float64) / self.step)
            expected[part] = np.clip(steps, -MAX_STEP, MAX_STEP)
            around[part] = self._around(windows[part])

        in_chunks(run, len(windows), WINDOWS_PER_CHUNK, self.threads)
        np.add.at(self.expected, owners, expected)
        np.add.at(self.around, owners, around)

    def _around(self, windows: NDArray[np.int32]) -> Numbers:
        """The weighted means of the rows of the words in windows, in whole numbers: [windows, dim]."""
        distinct, number = np.unique(windows, return_inverse=True)
        known = distinct >= 0
        rows, weights = np.zeros((len(distinct), self.reader.context.dim)), np.zeros(len(distinct))
        rows[known] = whole_rows(self.model._own_vectors(distinct[known]))
        weights[known] = self.weights[distinct[known]]
        number = number.reshape(windows.shape)
        shares = np.rint(weights[number] * self.decay * WEIGHT_STEPS)
        sums = np.matmul(shares[:, None], rows[number])[:, 0]  # of whole numbers: exact
        result: Numbers = np.rint(sums / np.maximum(shares.sum(axis=1), 1)[:, None] / COARSER)
        return result

    def _look_at(self, strings: Sequence[str]) -> None:
        """What strings are in the sentences of others, a row or a sign, and as which word they are learned, if so."""
        if not strings:
            return
        rows, unknown = self.model._look_up(strings)
        others = iter(unknown)
        asked: list[tuple[str, str]] = []
        for string, row in zip(strings, rows.tolist(), strict=True):
            if row >= 0:
                self._seen[string] = row, None
                continue
            word = next(others)
            if bare := POSSESSIVE.sub("", word):
                word = bare
            if kind_of(plain_form(word)) is not None:
                self._seen[string] = NUMBER, self._named(word)
            elif not word.isalpha():
                self._seen[string] = OTHER, self._named(word)
            else:
                asked.append((string, word))
        self._read([string for string, _ in asked], [word for _, word in asked])

    def _named(self, word: str) -> str | None:
        key = word.lower() if self.lowercase else word
        return key if key in self.named else None

    def _read(self, strings: Sequence[str], words: Sequence[str]) -> None:
        """The same for strings that hold one word of letters, which is not known as it stands."""
        rows, unknown = self.model._look_up(words)
        readings, places = self.model._read(unknown, in_text=True), iter(range(len(unknown)))
        for string, word, row in zip(strings, words, rows.tolist(), strict=True):
            if row >= 0:
                self._seen[string] = row, None
                continue
            place = next(places)
            likely, new = readings.probabilities[place, 0] >= LIKELY, readings.new[place] >= CERTAINTY
            key = word.lower() if self.lowercase else word
            may = self.options.words is None or key in self.known
            learnt = key in self.named or (new and may and len(word) >= MIN_LETTERS and _is_plain(word))
            learnt = learnt and len(word) <= MAX_LETTERS
            self._seen[string] = int(readings.rows[place, 0]) if likely else NEW, key if learnt else None


def _is_plain(word: str) -> bool:
    """Whether a word is written as one: all in lower case, all in capitals, with one at its begin, or without case."""
    return word[1:].islower() or word.isupper() or word.lower() == word.upper()


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy with room for more rows, of zeros."""
    result = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    result[: len(array)] = array
    return result
