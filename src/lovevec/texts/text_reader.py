"""The words of texts: what stands in a text, how each word is read, and how much it counts.

A text is cut into words (tokens.py); two may be one that was torn (near/torn.py). A word that is not known is taken
apart where it holds several (near/parts.py), else read (near/reader.py), and what it may stand for is weighed by its
sentence (sentence.py). encoder.py makes vectors of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags
from lovevec.engine.compiled import core
from lovevec.near.kinds import WORD, Part
from lovevec.near.parts import UNKNOWN, Composite, Found, find
from lovevec.near.readings import Readings, likeliest
from lovevec.near.torn import TornWords, may_be_torn
from lovevec.texts.sentence import Sentences, TextParts, is_unknown
from lovevec.texts.tokens import CHUNK, CLOSING, OPENING, Word, runs_of, words_of
from lovevec.units.words import check_words, refuse_other_than_words, word_list

if TYPE_CHECKING:
    from lovevec._core import Rows, WordMap

Floats = NDArray[np.float32]
Weighted = tuple[str, str, float]  # a word or a part of one: as it is looked up, how, and its share
Item = TypeVar("Item", str, Weighted)
SIF = 1e-3  # a in a / (a + p): words above this frequency count less and less
RARE_SHARE = 0.5  # of the known words, from the end: a new word weighs what these weigh on average
HAS_LETTER = re.compile(r"[^\W_]")


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


class TextReader:
    """Known words with weights, by which the words of texts are found, read and weighed. Immutable, safe to share
    between threads.

    :param source: where words are looked up and read.
    :param weights: [known words] how much each counts in a text; by default by its rank (`weights_by_rank`).
    """

    def __init__(self, source: WordSource, weights: Floats | None = None) -> None:
        self.source = source
        self.weights = weights_by_rank(len(source.words)) if weights is None else weights
        rare = self.weights[int(RARE_SHARE * len(self.weights)) :]
        self.new_weight = float(rare.mean()) if len(rare) else 1.0

    def parts_of_texts(self, texts: Sequence[str]) -> list[TextParts]:
        """The words of texts, in their order, as parts; of one that holds several these. What stands nowhere, as the
        name of a kind, is left out."""
        words = self._words(check_words(texts, "text"))
        strings = [word.text for some in words for word in some]
        found, first, result = find(strings, self.source.look_up, self.source.take_apart), 0, list[list[Part]]()
        for some in words:
            result.append(parts_of_words(some, range(first, first + len(some)), found))
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

    def read_words(self, texts: Sequence[TextParts]) -> Readings:
        """The readings of the unknown words of texts, in their order, each by itself."""
        return self.source.read(unknown_words(texts)[0])

    def in_sentences(self, texts: Sequence[TextParts], readings: Readings) -> Readings:
        """Readings of the unknown words of texts -> the same in their sentences."""
        sentences = self.source.sentences
        return readings if sentences is None else sentences.read(texts, readings)

    def read_in_sentences(self, sentences: Sequence[Sequence[str]], found: Found) -> Readings:
        """The readings of `found.unknown`, each in its sentence. `found` are the words of all sentences, looked up;
        marks among these part the others, as marks of texts do."""
        parts: list[list[Part]] = []
        owners, first = list[int](), 0  # of each part the number of the word that it stands in
        for words in sentences:
            start, some = 0, list[Part]()
            for number, word in enumerate(words, first):
                if HAS_LETTER.search(word):
                    own = parts_of_words([Word(word, start, start + len(word))], [number], found)
                    owners += [number] * len(own)
                    some += own
                start += len(word) + 1
            parts.append(some)
            first += len(words)
        looked_up = self._looked_up([" ".join(words) for words in sentences], parts)
        inside = unknown_words(looked_up)[0]
        numbers, distinct = numbered([*found.unknown, *inside])
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
        refuse_other_than_words([text], item="text")
        check_flags(context=context)
        parts = self.parts_of_texts([text])
        readings = self.read_words(parts)
        return self.tokens_of(parts, self.in_sentences(parts, readings) if context else readings)[0]

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

    def parts_of(self, text: str) -> list[Weighted]:
        """The words of a text in their order, or what they hold: as each is looked up, how, and its share."""
        refuse_other_than_words([text], item="text")
        runs = [word.text for word in self._words([text])[0]]
        return [part for parts in self.parts_of_runs(runs) for part in parts]

    def weights_in(self, texts: Sequence[str]) -> Floats:
        """[known words] the weights times how rare each word is in a collection, at the same mean over its words: idf,
        log((1 + texts) / (1 + texts with the word)) + 1."""
        texts = check_words(texts, "text")
        return self.weights_by(self.counts(texts)[1], len(texts))

    def weights_by(self, within: NDArray[np.float64], texts: int) -> Floats:
        """The same for known words that stand `within` so many of `texts` [known words]."""
        weights = self.weights * (np.log((1 + texts) / (1 + np.minimum(within, texts))) + 1)
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
        for number, text in enumerate(texts if isinstance(texts, Iterator) else word_list(texts)):
            refuse_other_than_words([text], number, "text")
            runs = runs_of(text)
            occurrences.update(runs)
            documents.update(set(runs))
        of_runs = zip(occurrences, self.parts_of_runs(list(occurrences)), strict=True)
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

    def _row_of(self, word: str) -> int:
        return int(self.source.look_up([word])[0][0])

    def _found(self, chunks: Sequence[str]) -> FoundChunks:
        words = [list(words_of(chunk)) for chunk in chunks]
        numbers, distinct = numbered(word.text for some in words for word in some)
        each = iter(numbers.tolist())
        places = [[next(each) for _ in some] for some in words]
        return FoundChunks(chunks, words, places, distinct, find(distinct, self.source.look_up, self.source.take_apart))

    def parts_of_runs(self, runs: Sequence[str]) -> list[list[Weighted]]:
        """The words that each word of a text holds; itself, as a rule."""
        found = find(runs, self.source.look_up, self.source.take_apart)
        return [weighted(runs, found, place) for place in range(len(runs))]

    def _look_up_parts(self, parts: Sequence[tuple[str, str]]) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
        """The row of each part that is known, -1 for others; and these others as they are read, and how."""
        rows, unknown = self.source.look_up([text for text, _ in parts])
        hows = [how for (_, how), row in zip(parts, rows.tolist(), strict=True) if row < 0]
        return rows, list(zip(unknown, hows, strict=True))


class FoundChunks(NamedTuple):
    """Chunks, the words of each, and which of the distinct words these are; and these, looked up."""

    chunks: Sequence[str]
    words: list[list[Word]]
    places: list[list[int]]
    distinct: list[str]
    found: Found

    def parts(self, chunk: int) -> list[Part]:
        return parts_of_words(self.words[chunk], self.places[chunk], self.found)


def parts_of_words(words: Iterable[Word], places: Iterable[int], found: Found) -> list[Part]:
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


def weighted(strings: Sequence[str], found: Found, place: int) -> list[Weighted]:
    """The words that a string holds; itself, as a rule."""
    if place in found.composites:
        return [(part.text, part.how, part.share) for part in found.composites[place].parts]
    return [(found.words.get(place, strings[place]), WORD, 1.0)]


def numbered(items: Iterable[Item]) -> tuple[NDArray[np.int64], list[Item]]:
    """The distinct items, in the order of their first occurrence, and for each item its number among them."""
    place: dict[Item, int] = {}
    numbers = [place.setdefault(item, len(place)) for item in items]
    return np.array(numbers, dtype=np.int64), list(place)


def unknown_words(texts: Iterable[TextParts]) -> tuple[list[str], list[int]]:
    """The words of texts that are not known and are read, in their order; and how many each text has."""
    strings, counts = list[str](), list[int]()
    for _, parts, rows in texts:
        before = len(strings)
        strings += [part.text for part, row in zip(parts, rows.tolist(), strict=True) if row < 0 and part.how == WORD]
        counts.append(len(strings) - before)
    return strings, counts
