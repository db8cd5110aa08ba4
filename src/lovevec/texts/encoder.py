"""Texts to vectors: the weighted sum of their words' vectors, at unit length.

A text is cut into words (tokens.py); of a word that is not known its parts count, where it holds several
(near/parts.py). The compiled core finds and adds up what is a plain known word, as most are; the rest is looked at
here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.engine.threads import in_chunks
from lovevec.near.kinds import NAME, NUMBER, WORD, Part
from lovevec.near.parts import Composite, find
from lovevec.near.readings import Readings, likeliest
from lovevec.near.torn import TornWords
from lovevec.texts.signatures import Signatures
from lovevec.texts.sums import sum_rows
from lovevec.texts.tokens import CHUNK, CLOSING, OPENING, Word, runs_of, runs_of_chunk, words_of
from lovevec.vectors.rows import normalized

if TYPE_CHECKING:
    from lovevec._core import Rows, WordMap

Floats = NDArray[np.float32]
Left = tuple[tuple[list[str], bytes], tuple[list[str], bytes]]  # words and chunks, with the texts that they stand in
Weighted = tuple[str, str, float]  # a word or a part of one: as it is looked up, how, and its share
Item = TypeVar("Item", str, Weighted)
SIF = 1e-3  # a in a / (a + p): words above this frequency count less and less
RARE_SHARE = 0.5  # of the known words, from the end: a new word weighs what these weigh on average
# Of a spelling's signature, beside its vector of length 1; of a new word's, whose vector says less, and two of which
# may be two names that look alike.
SIGNATURE_LENGTH, NEW_SIGNATURE_LENGTH = 0.6, 0.9
TEXTS_PER_CHUNK = 256  # that a thread takes at a time


class Token(NamedTuple):
    """A word of a text as `encode` sees it.

    text         what stands in the text, from `start` to `end`
    reading      known, near, parts (several words that are run together) or new
    word         the known word that it is or most probably stands for, or several; None for a new one
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
    impute       the vectors of names that are not known: from the spelling
    number_codes the vectors of numbers that are not known
    core         the compiled core's map of the words and table of their rows; None where numpy computes
    lowercase    whether a word that is not known is looked for in lower case
    torn         which neighbors are one word torn in two; None for none
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
    impute: Callable[[Sequence[str]], Floats]
    number_codes: Callable[[Sequence[str]], Floats]
    core: tuple[WordMap, Rows] | None = None
    lowercase: bool = True
    torn: TornWords | None = None
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
        chunks = [self._chunks(text) for text in texts]
        ids, distinct = _numbered(chain.from_iterable(chunks))
        vectors, weights = self._weighted_chunks(distinct)
        ends = np.array([0, *accumulate(map(len, chunks))], dtype=np.int64)
        total = np.append(0.0, np.cumsum(weights[ids], dtype=np.float64))
        return sum_rows(vectors, ids, ends), total[ends[1:]] - total[ends[:-1]]

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

    def _compiled_sums(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.float64]]:
        """As `_sums`. The core adds up the plain known words and hands back what else stands in the texts: unknown
        words of nothing but letters, and other chunks."""
        source, parts = self.source, self.source.core
        assert parts is not None
        sums, weights = np.empty((len(texts), source.dim), dtype=np.float32), np.empty(len(texts))
        signatures = self.signatures.core if self.signature_length else None
        options = signatures, self.weights, self.signature_length * source.length, source.lowercase, source.torn
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
        words, parts = self._words(text), list[Part]()
        found = find([word.text for word in words], self.source.look_up, self.source.take_apart)
        for place, (string, start, end) in enumerate(words):
            composite = found.composites.get(place)
            if composite is None:
                parts.append(Part(found.words.get(place, string), WORD, start, end))
            elif len(string) == end - start:  # nothing was composed or left out: letters stand where they stood
                parts += [part._replace(start=start + part.start, end=start + part.end) for part in composite.parts]
            else:
                parts += [part._replace(start=start, end=end) for part in composite.parts]
        return self.tokens_of_parts(text, parts)

    def _words(self, text: str) -> list[Word]:
        """The words of a text, torn ones in one piece."""
        words, torn = words_of(text), self.source.torn
        if torn is None:
            return words
        joined: list[Word] = []
        for word in words:
            before = joined[-1] if joined else None
            if (
                before is not None
                and len(before.text) == before.end - before.start  # not torn itself
                and CHUNK.search(text, before.end, word.start) is None
                and torn.is_torn(before.text, word.text, self._row_of)
            ):
                joined[-1] = Word(before.text + word.text, before.start, word.end)
            else:
                joined.append(word)
        return joined

    def tokens_of_parts(self, text: str, parts: Sequence[Part]) -> list[Token]:
        """What stands at the places of some parts of a text, as it is read. A part with a share of its own, the name of
        its kind, stands nowhere."""
        parts = [part for part in parts if part.share == 1]
        rows, unknown = self._look_up_parts([(part.text, part.how) for part in parts])
        readings, words = self.source.read([string for string, how in unknown if how == WORD]), self.source.words
        weights, likely = self.reading_weights(readings).tolist(), likeliest(readings)
        others, read, tokens = iter(unknown), iter(range(len(likely))), []
        for part, row in zip(parts, rows.tolist(), strict=True):
            place = text[part.start : part.end], part.start, part.end
            if row >= 0:
                reading = "near" if " " in place[0].strip() else "known"  # torn in two
                tokens.append(Token(*place, reading, words[row], 1.0, float(self.weights[row])))
                continue
            if next(others)[1] != WORD:
                tokens.append(Token(*place, "new", None, 1.0, self.new_weight))
                continue
            other = next(read)
            if likely[other] == "new":
                tokens.append(Token(*place, "new", None, float(readings.new[other]), weights[other]))
            elif likely[other] == "parts":
                several = " ".join(words[row] for row in readings.part_rows[other].tolist() if row >= 0)
                tokens.append(Token(*place, "parts", several, float(readings.parts[other]), weights[other]))
            else:
                word, chance = words[int(readings.rows[other, 0])], float(readings.probabilities[other, 0])
                tokens.append(Token(*place, "near", word, chance, weights[other]))
        return tokens

    def parts_of(self, text: str) -> list[Weighted]:
        """The words of a text in their order, or what they hold: as each is looked up, how, and its share."""
        runs = [word.text for word in self._words(text)]
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

    def _weighted_chunks(self, chunks: Sequence[str]) -> tuple[Floats, Floats]:
        """Of whatever stands between two blanks the sum of its words' vectors times their weights, and the sum of their
        weights."""
        runs = [runs_of_chunk(chunk) for chunk in chunks]
        number, distinct_runs = _numbered(chain.from_iterable(runs))
        parts_of_runs, each = self._parts_of_runs(distinct_runs), iter(number.tolist())
        parts = [[part for _ in of_chunk for part in parts_of_runs[next(each)]] for of_chunk in runs]
        if all(len(words) == 1 for words in parts):
            return self._weighted_parts([words[0] for words in parts])
        ids, distinct = _numbered(chain.from_iterable(parts))
        ends = np.array([0, *accumulate(map(len, parts))], dtype=np.int64)
        vectors, weights = self._weighted_parts(distinct)
        compiled = self.source.core is not None
        return sum_rows(vectors, ids, ends, compiled), sum_rows(weights[:, None], ids, ends, compiled)[:, 0]

    def _parts_of_runs(self, runs: Sequence[str]) -> list[list[Weighted]]:
        """The words that each word of a text holds; itself, as a rule."""
        found = find(runs, self.source.look_up, self.source.take_apart)
        return [
            [(part.text, part.how, part.share) for part in found.composites[place].parts]
            if place in found.composites
            else [(found.words.get(place, run), WORD, 1.0)]
            for place, run in enumerate(runs)
        ]

    def _look_up_parts(self, parts: Sequence[tuple[str, str]]) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
        """The row of each part that is known, -1 for others; and these others as they are read, and how."""
        rows, unknown = self.source.look_up([text for text, _ in parts])
        hows = [how for (_, how), row in zip(parts, rows.tolist(), strict=True) if row < 0]
        return rows, list(zip(unknown, hows, strict=True))

    def _weighted_parts(self, parts: Sequence[Weighted]) -> tuple[Floats, Floats]:
        """Of each part its vector times its weight, and its weight."""
        source = self.source
        rows, unknown = self._look_up_parts([(text, how) for text, how, _ in parts])
        known, strings = rows >= 0, [text for text, _, _ in parts]
        vectors = np.empty((len(parts), source.dim), dtype=np.float32)
        weights = np.full(len(parts), self.new_weight, dtype=np.float32)
        weights[known] = self.weights[rows[known]]
        vectors[known] = self._own(rows[known])
        others = list(zip(np.flatnonzero(~known).tolist(), unknown, strict=True))
        for how, make in ((NAME, source.impute), (NUMBER, source.number_codes)):
            if some := [(place, text) for place, (text, its) in others if its == how]:
                vectors[[place for place, _ in some]] = make([text for _, text in some]) * np.float32(self.new_weight)
        if some := [(place, text) for place, (text, its) in others if its == WORD]:
            places = [place for place, _ in some]
            vectors[places], readings = source.weigh([text for _, text in some], self.weights, self.new_weight)
            weights[places] = self.reading_weights(readings)
        new = np.where(known, np.float32(0), np.float32(1))
        if some:
            new[places] = readings.new
        self._add_signatures(strings, vectors, weights, new)
        shares = np.array([share for _, _, share in parts], dtype=np.float32)
        if (shares != 1).any():
            vectors *= shares[:, None]
            weights *= shares
        return vectors, weights

    def _weighted_unknown(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """The same for words of letters that are not known."""
        vectors, readings = self.source.weigh(words, self.weights, self.new_weight)
        weights = self.reading_weights(readings)
        self._add_signatures(words, vectors, weights, readings.new)
        return vectors, weights

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
        own = np.where(readings.rows >= 0, self.weights[readings.rows], 0) if len(self.weights) else 0.0
        part = np.where(readings.part_rows >= 0, self.weights[readings.part_rows], 0) if len(self.weights) else 0.0
        near = (readings.probabilities * own).sum(axis=1)
        joined = readings.parts * np.broadcast_to(part, readings.part_rows.shape).sum(axis=1)
        weights: Floats = (near + joined + readings.new * self.new_weight).astype(np.float32)
        return weights

    def _at_unit_length(self, sums: Floats) -> Floats:
        """Sums, which nobody else holds, at unit length."""
        if self.source.core is None:
            return normalized(sums)
        core().normalize(sums)
        return sums


def _numbered(items: Iterable[Item]) -> tuple[NDArray[np.int64], list[Item]]:
    """The distinct items, in the order of their first occurrence, and for each item its number among them."""
    place: dict[Item, int] = {}
    numbers = [place.setdefault(item, len(place)) for item in items]
    return np.array(numbers, dtype=np.int64), list(place)
