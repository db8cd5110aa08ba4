"""The base of LOVE and Attached, and the one result behind everything that they answer.

    lookup = love.lookup(["receive", "recieve", "blorfing", "neural-netwrok"])
    lookup.readings       ["known", "near", "new", "parts"]
    lookup.near(2)        [[("receive", 1.0)], [("receive", 0.83), …], …]: known words, how probably each is meant
    lookup.parts          [(), (), (), (Token("neural", …), Token("netwrok", …))]: how the parts of each are read
    lookup.kinds          [None, None, None, None]: what is no word (500mg: quantity)
    lookup.vectors        [3, dim]
    lookup.confidence     [3]: how probably each vector is right
    lookup.imputed        [3, dim]: made from the spelling alone
    lookup.neighbors(2)   the known words whose vectors are nearest, with their cosine

A part is computed when it is first asked for: a string is read once, however many parts are asked for, and a list of
known words builds no index. `embed`, `near`, `readings`, `confidence` are short ways to a part. Result and base are one
file, if a long one, because each is defined by the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags
from lovevec.engine.nearest import NeighborIndex
from lovevec.errors import LovevecError, Parameter, shown
from lovevec.files.tensors import lengths_of
from lovevec.near.joined import spans_of
from lovevec.near.kinds import NAME, NUMBER, WORD, Part
from lovevec.near.parts import COMPOSITE, PRIORS, UNKNOWN, Composite, Found, find, placed
from lovevec.near.readings import Readings, all_new, likeliest, near_words
from lovevec.progress import Progress, wanted
from lovevec.texts.encode import EncodesTexts
from lovevec.texts.sums import sum_rows
from lovevec.texts.text_reader import Token
from lovevec.units.ragged import offsets_of
from lovevec.units.words import check_words, in_batches, refuse_other_than_words, repeats, word_list
from lovevec.vectors.rows import scale_to

Floats = NDArray[np.float32]
Result = TypeVar("Result")
Words = Iterable[str] | NDArray[Any]
WordsWithScores = list[tuple[str, float]]
WORDS_PER_BATCH = 16_384
LONG_LIST = 250_000  # words: shorter lists are done before anybody would look at a progress bar


class Lookup:
    """What a model or an attached table knows of some strings, `words`. Made by `lookup(words)`."""

    def __init__(
        self, source: WordVectors, words: Sequence[str], in_text: bool = False, may_have_parts: bool = True
    ) -> None:
        self.words, self.in_text, self._source, self._may_have_parts = words, in_text, source, may_have_parts
        # How long the imputed vectors of `unknown` were before they were normalised, once these have been made.
        self.imputed_lengths: Floats | None = None

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _found(self) -> Found:
        look_up = self._source._look_up
        if not self._may_have_parts:
            return Found(*look_up(self.words), {}, {})
        return find(self.words, look_up, self._source._take_apart)

    @property
    def rows(self) -> NDArray[np.int64]:
        """[len(words)]: the row of each known word, or of the known word that a string is a form of; -1 for a string
        that is read as one word, -2 for one that is taken apart."""
        return self._found.rows

    @property
    def unknown(self) -> list[str]:
        """The strings that are read as one unknown word each, in their order and as they are read: without the
        punctuation around them."""
        return self._found.unknown

    @property
    def composites(self) -> dict[int, Composite]:
        """What is taken apart, by its place: the parts, and what holds them together."""
        return self._found.composites

    @cached_property
    def probabilities(self) -> Readings:
        """What each of `unknown` may stand for: rows of known words, their probabilities, and that of a new word."""
        if not self.unknown:
            return all_new(0)
        return self._source._read(self.unknown, self.in_text)

    @property
    def is_read(self) -> bool:
        """Whether the strings have been read, or are to be read as words of a text."""
        return self.in_text or "probabilities" in self.__dict__

    @cached_property
    def vectors(self) -> Floats:
        """[len(words), dim]: a known word's own vector; the mean over its readings for any other string."""
        return self._source._vectors_of(self)

    @cached_property
    def readings(self) -> list[str]:
        """How each string is read: known (itself, or what it is a form of), near (more probably a damaged known word
        than not), parts (several words), new, or empty. A number and a code are new; `kinds` tells which."""
        likely, names = iter(likeliest(self.probabilities)), []
        for place, row in enumerate(self.rows.tolist()):
            if row == COMPOSITE:
                parts = self.composites[place].parts
                name = "parts" if len(parts) > 1 or parts[0].how == WORD else "new"
            else:
                name = "known" if row >= 0 else next(likely)
            names.append(name if self.words[place].strip() else "empty")
        return names

    @cached_property
    def new(self) -> NDArray[np.float64]:
        """[len(words)]: the probability that each string is a new word: none that is known, nor several of them. A
        number or code that is not known is new."""
        new = np.array([float(reading == "new") for reading in self.readings])
        new[self.rows == UNKNOWN] = self.probabilities.new
        new[[reading == "empty" for reading in self.readings]] = 0.0
        return new

    @cached_property
    def kinds(self) -> list[str | None]:
        """What each string is that is no word: a number, quantity, date, address …; None for words."""
        found = (self.composites.get(place) for place in range(len(self.words)))
        return [None if one is None or one.how in PRIORS else one.how for one in found]

    @cached_property
    def parts(self) -> list[tuple[Token, ...]]:
        """For each string that is read as several words what stands where in it, and how that is read; () for
        others."""
        result: list[tuple[Token, ...]] = [()] * len(self.words)
        for place, composite in self.composites.items():
            result[place] = tuple(self._source._texts.tokens_of_parts(self.words[place], composite.parts))
        unknown = np.flatnonzero(self.rows == UNKNOWN).tolist()
        for number in np.flatnonzero(np.array(likeliest(self.probabilities)) == "parts").tolist():
            rows, ends = self.probabilities.part_rows[number].tolist(), self.probabilities.part_ends[number].tolist()
            words = [self._source.words[row] for row in rows if row >= 0]
            form, place = self.unknown[number], unknown[number]
            spans = zip(words, spans_of(form, ends[: len(words)]), strict=True)
            parts = tuple(Part(word, WORD, start, end) for word, (start, end) in spans)
            composite = placed(Composite(parts, "joined", False), form, self.words[place])
            result[place] = tuple(
                self._token_of_joined(place, *one) for one in zip(composite.parts, rows, strict=False)
            )
        return result

    def _token_of_joined(self, place: int, part: Part, row: int) -> Token:
        text = self.words[place][part.start : part.end]
        is_whole = part.end - part.start == len(self.words[place])  # of a listed form nobody knows what stands where
        reading = "known" if is_whole or self._source._look_up([text])[0][0] == row else "near"
        weight = float(self._source._texts.weights[row])
        return Token(text, part.start, part.end, reading, part.text, 1.0, weight)

    def near(self, k: int = 5) -> list[WordsWithScores]:
        """For each string up to k known words that it may stand for, with their probabilities, most probable first. A
        string of several words stands for one only where it may be one damaged word after all: police-man."""
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise LovevecError(f"{Parameter('k')} is {shown(k)}: must be at least 1, a whole number")
        words, unknown = self._source.words, iter(near_words(self._source.words, self.probabilities, k))
        return [
            [(words[row], 1.0)]
            if row >= 0
            else next(unknown)
            if row == UNKNOWN
            else [(words[near], chance) for near, chance in self.composites[place].near[:k]]
            for place, row in enumerate(self.rows.tolist())
        ]

    @cached_property
    def unit_vectors(self) -> Floats:
        """[len(words), dim]: the vectors at unit length, for cosines."""
        return self._source._to_unit_length(self.vectors)

    def neighbors(self, k: int = 5, approximate: bool | None = None) -> list[WordsWithScores]:
        """For each string the k known words whose own vectors are nearest, with their cosine: see
        `WordVectors.neighbors`."""
        known = self._source._known
        lists = known.neighbors(self.words, k, lambda _: self.unit_vectors, self._source._known_word, approximate)
        return cast("list[WordsWithScores]", lists)

    def similar(self, other: Lookup) -> NDArray[np.float64]:
        """[len(words)]: the cosine of each string's vector and that of the string at the same place in `other`; NaN
        where one of the two is empty."""
        left, right = self.unit_vectors.astype(np.float64), other.unit_vectors.astype(np.float64)
        cosines: NDArray[np.float64] = np.clip(np.einsum("ij,ij->i", left, right), -1, 1)
        cosines[[not (a.strip() and b.strip()) for a, b in zip(self.words, other.words, strict=True)]] = np.nan
        return cosines

    @cached_property
    def confidence(self) -> NDArray[np.float64]:
        """[len(words)]: the probability that each vector is right; NaN for a model without calibration. That of several
        words is the mean of theirs."""
        confidence = self._source._confidence_of(self)
        for place, composite in self.composites.items():
            words = [part.text for part in composite.parts if part.how != NUMBER]
            if words:
                confidence[place] = Lookup(self._source, words, may_have_parts=False).confidence.mean()
            elif not np.isnan(confidence[place]):
                confidence[place] = 1.0
        if not np.isnan(confidence).all():
            confidence[[not word.strip() for word in self.words]] = 0.0
        return confidence

    @cached_property
    def imputed(self) -> Floats:
        """[len(words), dim]: vectors made from the spelling alone, of known words too."""
        return self._source._impute_all(self.words)


class WordVectors(EncodesTexts, ABC):
    """Known words with vectors of their own, and a vector for any other string. Immutable, safe to share between
    threads. Where a method takes words, it takes one word or a list: one word has one result, a list a list of them.
    """

    dim: int
    _known: NeighborIndex

    @abstractmethod
    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        """The row of each known word, -1 for others; and these others as they are read."""

    @abstractmethod
    def _take_apart(self, strings: Sequence[str]) -> Sequence[str | Composite]:
        """What each string that is not known is: one word, or several (near/parts.py)."""

    @abstractmethod
    def _number_codes(self, numbers: Sequence[str]) -> Floats:
        """Vectors of numbers and codes that are not known (near/kinds.py): [len(numbers), dim]."""

    @abstractmethod
    def _read(self, strings: Sequence[str], in_text: bool = False) -> Readings:
        """What strings may stand for, each taken as unknown; `in_text` as words of running text."""

    @abstractmethod
    def _own_vectors(self, rows: NDArray[np.integer]) -> Floats: ...

    @abstractmethod
    def _mean_over_readings(self, lookup: Lookup) -> Floats:
        """The vectors of `lookup.unknown`, [len(unknown), dim]."""

    def _vectors_of(self, lookup: Lookup) -> Floats:
        """A known word's own row; the mean over its readings for any other; for several words the mean of theirs."""
        rows, unknown = lookup.rows, lookup.unknown
        if len(unknown) == len(rows):
            return self._mean_over_readings(lookup)
        if not unknown and not lookup.composites:
            return self._own_vectors(rows)
        result = np.empty((len(rows), self.dim), dtype=np.float32)
        known = rows >= 0
        result[known] = self._own_vectors(rows[known])
        if unknown:
            result[rows == UNKNOWN] = self._mean_over_readings(lookup)
        if lookup.composites:
            composites = list(lookup.composites.values())
            result[list(lookup.composites)] = self._means_of_parts(composites, lookup.in_text)
        return result

    def _means_of_parts(self, composites: Sequence[Composite], in_text: bool) -> Floats:
        """The vectors of strings of several words: the directions of the means of their parts by how much each counts,
        as long as the parts are on average: [len(composites), dim]."""
        parts = [part for composite in composites for part in composite.parts]
        vectors, weights = self._vectors_and_weights(parts, in_text)
        shares = weights * np.array([part.share for part in parts])
        counts = np.array([len(composite.parts) for composite in composites])
        owners = np.repeat(np.arange(len(composites)), counts)
        total = np.maximum(np.bincount(owners, shares, len(composites)), 1e-12)
        lengths = np.bincount(owners, shares * lengths_of(vectors), len(composites)) / total
        weighted = (vectors * shares[:, None]).astype(np.float32)
        return scale_to(sum_rows(weighted, np.arange(len(parts)), offsets_of(counts)), lengths)

    def _vectors_and_weights(self, parts: Sequence[Part], in_text: bool) -> tuple[Floats, NDArray[np.float64]]:
        """The vector of each part of a string by itself, and how much it counts in a text."""
        encoder = self._texts
        rows, unknown = self._look_up([part.text for part in parts])
        vectors = np.empty((len(parts), self.dim), dtype=np.float32)
        weights = np.full(len(parts), encoder.new_weight)
        known = rows >= 0
        vectors[known], weights[known] = self._own_vectors(rows[known]), encoder.weights[rows[known]]
        others = list(zip(np.flatnonzero(~known).tolist(), unknown, strict=True))
        for how, make in ((NAME, self._impute_all), (NUMBER, self._number_codes)):
            if some := [(place, text) for place, text in others if parts[place].how == how]:
                vectors[[place for place, _ in some]] = make([text for _, text in some])
        if some := [(place, text) for place, text in others if parts[place].how == WORD]:
            words = Lookup(self, [text for _, text in some], in_text, may_have_parts=False)
            places = [place for place, _ in some]
            vectors[places] = self._mean_over_readings(words)
            weights[places] = encoder.reading_weights(words.probabilities)
        return vectors, weights

    @abstractmethod
    def _confidence_of(self, lookup: Lookup) -> NDArray[np.float64]: ...

    @abstractmethod
    def _impute_all(self, words: Sequence[str]) -> Floats: ...

    @abstractmethod
    def __contains__(self, word: object) -> bool: ...

    def _to_unit_length(self, vectors: Floats) -> Floats:
        """Vectors of words at unit length, for cosines; those of a model have it already."""
        return vectors

    def _unit_vectors(self, words: Sequence[str]) -> Floats:
        return self._to_unit_length(self._vectors(words))

    def _known_word(self, word: str) -> str:
        """The known word that a string is a form of, which is no neighbor of it; else the string itself."""
        return word

    @property
    def words(self) -> Sequence[str]:
        """The known words, in the order of the table that they come from."""
        return self._known.words

    def __len__(self) -> int:
        """The number of known words."""
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        """The known words, one after the other."""
        return iter(self.words)

    def __getitem__(self, word: str | Sequence[str] | NDArray[Any]) -> Floats:
        """The vector of one word, whatever it is: [dim]; of a list of words: [len(list), dim]."""
        if isinstance(word, str):
            return self._one(word)
        if isinstance(word, (int, np.integer, slice)):
            raise LovevecError(f"word is {shown(word)}: index with a word or a list of words, as love['word']")
        return self._vectors(word_list(word))

    def lookup(self, words: str | Words, *, in_text: bool = False) -> Lookup:
        """Everything that is known of words, computed as it is asked for: vectors, readings, near words, confidence.

        :param words: a list of any strings; one string counts as a list of one.
        :param in_text: whether the words stand in running text, where an unknown string is a misspelling more often
            than in a list of words.
        :return: a `Lookup`.

        >>> love = LOVE.load()
        >>> love.lookup(["receive", "recieve"]).readings
        ['known', 'near']
        """
        return Lookup(self, [words] if isinstance(words, str) else check_words(words), in_text)

    @overload
    def embed(self, words: Iterator[str], *, batch: int = ..., progress: bool | None = ...) -> Iterator[Floats]: ...
    @overload
    def embed(
        self, words: str | Sequence[str] | NDArray[Any], *, batch: int = ..., progress: bool | None = ...
    ) -> Floats: ...
    def embed(
        self, words: str | Words, *, batch: int = WORDS_PER_BATCH, progress: bool | None = None
    ) -> Floats | Iterator[Floats]:
        """Vectors for any strings.

        :param words: one word; a list, tuple, array or column of words; or an iterator.
        :param batch: for an iterator: the number of words that are read from it and computed at a time.
        :param progress: whether a progress bar is shown on stderr; by default for long lists on a terminal.
        :return: [dim] for one word, [len(words), dim] for a list; for an iterator an iterator of arrays of up to
            `batch` rows, in constant memory.

        >>> LOVE.load().embed(["oxgen", "archiitect"]).shape
        (2, 300)
        """
        if not isinstance(batch, int) or batch < 1:
            raise LovevecError(f"batch is {shown(batch)}: must be at least 1, a whole number")
        if isinstance(words, str):
            return self._one(words)
        if isinstance(words, Iterator):
            return self._stream(words, batch)
        strings = word_list(words)
        if progress is not None:
            check_flags(progress=progress)
        if wanted(progress, len(strings), LONG_LIST):
            return self._vectors_with_progress(strings)
        return self._vectors(strings)

    def embed_sentences(self, sentences: Iterable[Sequence[str]], *, context: bool = True) -> list[Floats]:
        """Vectors of the words of sentences, each word read in its sentence: for taggers and other models that read
        sequences.

        Where a misspelling may stand for several words, the others of its sentence have their say. Known words have
        their own rows, and a sentence of one word the vector of this word by itself, in running text.

        :param sentences: lists of words, and of marks as words of their own, as treebanks and taggers have them.
        :param context: False reads each word alone.
        :return: for each sentence [its words, dim].

        >>> one, other = LOVE.load().embed_sentences([["he", "drank", "cofee", "."], ["oxgen"]])
        >>> one.shape, other.shape
        ((4, 300), (1, 300))
        """
        if isinstance(sentences, str):
            raise LovevecError(
                f"{Parameter('sentences')} is one string: must be a list of sentences, each a list of words"
            )
        result, batch, count = list[Floats](), list[Sequence[str]](), 0
        for number, sentence in enumerate(sentences):
            if isinstance(sentence, str):
                problem = "is one string: must be a list of words, as sentence.split() gives it"
                raise LovevecError(f"sentence {number} {problem}")
            batch.append(check_words(sentence))
            count += len(batch[-1])
            if count >= WORDS_PER_BATCH:
                result += self._in_sentences(batch, context)
                batch, count = [], 0
        return result + self._in_sentences(batch, context)

    def _in_sentences(self, sentences: Sequence[Sequence[str]], context: bool) -> list[Floats]:
        lookup = Lookup(self, [word for words in sentences for word in words], in_text=True)
        if context and lookup.unknown:
            lookup.probabilities = self._texts.read_in_sentences(sentences, lookup._found)
        ends = np.cumsum([len(words) for words in sentences])
        return np.split(lookup.vectors, ends[:-1]) if sentences else []

    def _one(self, word: str) -> Floats:
        vector: Floats = Lookup(self, [word]).vectors[0]
        return vector

    def _stream(self, words: Iterator[str], batch: int) -> Iterator[Floats]:
        done = 0
        for part in in_batches(words, batch):
            yield self._vectors(part, done)
            done += len(part)

    def _vectors_with_progress(self, words: Sequence[str]) -> Floats:
        result = np.empty((len(words), self.dim), dtype=np.float32)
        with Progress() as progress, progress.phase("embedding", len(words)) as phase:
            for low in range(0, len(words), WORDS_PER_BATCH):
                part = words[low : low + WORDS_PER_BATCH]
                result[low : low + len(part)] = self._vectors(part, low)
                phase.advance(len(part))
        return result

    def _vectors(self, words: Sequence[str], first: int = 0) -> Floats:
        """[len(words), dim]. In running text, where words come again and again, each is computed once. `first` is the
        place of the first word in what the caller gave, for an error that names the place of a bad one."""
        try:
            if not repeats(words):
                return Lookup(self, words).vectors
            place: dict[str, int] = {}
            places = [place.setdefault(word, len(place)) for word in words]
            vectors: Floats = Lookup(self, list(place)).vectors[places]
            return vectors
        except (TypeError, AttributeError):  # so that good words need not be checked one by one
            refuse_other_than_words(words, first)
            raise

    @overload
    def near(self, word: str, k: int = ...) -> WordsWithScores: ...  # type: ignore[overload-overlap]
    @overload
    def near(self, word: Words, k: int = ...) -> list[WordsWithScores]: ...
    def near(self, word: str | Words, k: int = 5) -> WordsWithScores | list[WordsWithScores]:
        """The known words that a string may stand for, with their probabilities, most probable first.

        A known word stands for itself with probability 1, an empty string for nothing. The rest up to 1 is the
        probability that the string is a new word, and that of the words after the k-th.

        :param word: one word, or a list of words.
        :param k: the number of known words at most.
        :return: (word, probability) pairs; for a list of words a list of pairs for each.
        """
        return _one_or_all(word, self.lookup(word).near(k))

    @overload
    def readings(self, words: str) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def readings(self, words: Words) -> list[str]: ...
    def readings(self, words: str | Words) -> str | list[str]:
        """How each word is read: known (itself, or what it is a form of), near (more probably a damaged known word
        than not), new, or empty. One word has one reading, a list of words a list."""
        return _one_or_all(words, self.lookup(words).readings)

    @overload
    def confidence(self, words: str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def confidence(self, words: Words) -> NDArray[np.float64]: ...
    def confidence(self, words: str | Words) -> float | NDArray[np.float64]:
        """The probability that each word's vector is right: that the word's own target vector (for a misspelling: that
        of the word which was meant) is among the 10 nearest. `lovevec.confidence` says how it is calibrated. NaN for a
        model that is not calibrated; 0 for an empty string. One word has a number, a list of words an array."""
        if isinstance(words, str):
            return float(self.lookup(words).confidence[0])
        strings = check_words(words)
        result = np.empty(len(strings))
        for low in range(0, len(strings), WORDS_PER_BATCH):
            part = slice(low, low + WORDS_PER_BATCH)
            result[part] = Lookup(self, strings[part]).confidence
        return result

    @overload
    def known(self, words: str) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def known(self, words: Words) -> NDArray[np.bool_]: ...
    def known(self, words: str | Words) -> bool | NDArray[np.bool_]:
        """Whether `word in` these vectors: true or false for one word, [len(words)] for a list."""
        if isinstance(words, str):
            return words in self
        return np.array([word in self for word in check_words(words)], dtype=np.bool_)

    def impute(self, words: str | Words) -> Floats:
        """Vectors made from the spelling alone, of known words too: [dim] for one word, [len(words), dim] for a
        list."""
        if isinstance(words, str):
            vector: Floats = self._impute_all([words])[0]
            return vector
        return self._impute_all(check_words(words))

    @overload
    def neighbors(self, word: str, k: int = ..., approximate: bool | None = ...) -> WordsWithScores: ...  # type: ignore[overload-overlap]
    @overload
    def neighbors(self, word: NDArray[Any], k: int = ..., approximate: bool | None = ...) -> list[Any]: ...
    @overload
    def neighbors(self, word: Iterable[str], k: int = ..., approximate: bool | None = ...) -> list[WordsWithScores]: ...
    def neighbors(
        self, word: str | Words, k: int = 5, approximate: bool | None = None
    ) -> WordsWithScores | list[WordsWithScores]:
        """The k known words whose own vectors are nearest, with their cosine, nearest first.

        The word itself is left out; of words equally near the first in the table comes first; an empty word has none.

        :param word: a word or a list of words; or an array of numbers, which is a vector [dim] or several [n, dim] of
            any length, of whose neighbors nothing is left out.
        :param k: the number of neighbors.
        :param approximate: True (extra `ann`) uses an index that finds nearly all neighbors, with exact cosines; False
            compares with all words; by default the index is used for 500 words or more among 200,000 known ones.
        :return: (word, cosine) pairs; for several words or vectors a list of pairs for each.
        """
        return self._known.neighbors(word, k, self._unit_vectors, self._known_word, approximate)

    def analogy(self, a: str, b: str, c: str, k: int = 5) -> WordsWithScores:
        """a is to b as c is to what? The k known words nearest to b - a + c, with their cosine; the three are left out.

        love.analogy("man", "king", "woman")    # [("queen", …), …]
        """
        refuse_other_than_words([a, b, c])
        return self._known.analogy([a, b, c], k, self._unit_vectors, self._known_word)

    @overload
    def similar(self, one: str, other: str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def similar(self, one: Iterable[str], other: Iterable[str]) -> NDArray[np.float64]: ...
    def similar(self, one: str | Iterable[str], other: str | Iterable[str]) -> float | NDArray[np.float64]:
        """The cosine of two words' vectors; NaN when one of them is empty. For two lists of the same length the cosines
        pair by pair: [len(one)]."""
        if isinstance(one, str) and isinstance(other, str):
            return float(self.similar([one], [other])[0])
        if isinstance(one, str) or isinstance(other, str):
            raise LovevecError("similar takes two words, or two lists of words; one of these is a word, one is not")
        left, right = check_words(one), check_words(other)
        if len(left) != len(right):
            raise LovevecError(
                f"pairs of words need two lists of the same length, not {len(left):,} and {len(right):,}"
            )
        cosines = np.empty(len(left))
        for low in range(0, len(left), WORDS_PER_BATCH):
            part = slice(low, low + WORDS_PER_BATCH)
            cosines[part] = Lookup(self, left[part]).similar(Lookup(self, right[part]))
        return cosines


def _one_or_all(word: str | Words, results: list[Result]) -> Result | list[Result]:
    return results[0] if isinstance(word, str) else results
