"""The signals by which a text answers a query, and the candidates that they find.

    words     BM25 over words as they are read: a word of the query counts for the stems that it may mean, by shares
    letters   the cosine of trigrams of letters, each by how rare it is among the terms
    meaning   the cosine of vectors of whole texts

Each finds its best texts; all signals of all that were found are then computed, so that a candidate has the same
features whichever signal found it. Numpy and the compiled core (native/collection.h) give the same bits.

Where there are many texts, only those are compared number by number that sketches of their vectors leave (meaning.py):
the ten best hits of `bench/search.py`'s queries stay the same.

Postings and vectors are our own arrays and not those of bm25s or faiss: a query has shares where these take words, all
signals need the same texts at once, and an index shall load by mapping its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.engine.threads import in_chunks
from lovevec.search.letters import Letters
from lovevec.search.meaning import Meaning, Signs, coded_query
from lovevec.search.terms import Reading
from lovevec.units.ragged import Ragged, offsets_of

Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]
FEATURES = (
    "words",  # BM25, as a share of what the words of the query weigh
    "coverage",  # of the query's weight, what the text has, in any form of a word
    "backward",  # of the text's weight, what the query has
    "exact",  # of the query's weight, what the text has in the same form
    "letters",  # the cosine of trigrams
    "letters_covered",  # of the query's trigrams, what the text has
    "meaning",  # the cosine of vectors
    "numbers",  # of the query's words with digits, the share that the text has; 1 for none
    "numbers_backward",  # of the text's words with digits, the share that the query has; 1 for none
)
DEPTH = 100  # texts that each signal finds
K1, B = 1.2, 0.75
TERMS_BY_LETTERS = 64  # whose texts the letters find, each at least half as much like the query as the best
POSTINGS = 200_000  # that a signal looks at; more only for the first of its terms
TEXTS_PER_CHUNK = 65_536  # whose meaning a thread compares at a time,
NEAR_BY_SIGNS = 8192  # texts that are compared number by number, or more: LEAST_PER_CHUNK of each chunk
LEAST_PER_CHUNK = 512
LEAST = 1e-9  # that is divided by
# Of documents the best candidates say what else to look for (pseudo-relevance feedback, Rocchio 1971).
WORDS_OF_DOCUMENTS = 20  # texts with so many words on average
FEEDBACK_TEXTS, FEEDBACK_STEMS, FEEDBACK_STEEPNESS = 5, 30, 2.0
ALL = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Query:
    """A query as it is read.

    words     its words, cut as texts are, each once, and how often each stands there
    readings  which terms each may mean
    codes     [dim] its meaning in whole numbers, and the scale that makes them a vector of unit length
    """

    words: Sequence[str]
    counts: Sequence[int]
    readings: Sequence[Reading]
    codes: NDArray[np.int16]
    scale: float


class Entries(NamedTuple):
    """What the words of a query may mean: places in a list of terms or stems, a row for each word, with shares."""

    ends: Rows
    places: Rows
    shares: Numbers

    @classmethod
    def of(cls, words: Sequence[dict[int, float]], place: dict[int, int]) -> Entries:
        """From the shares of each word."""
        lengths = np.array([len(own) for own in words], dtype=np.int64)
        flat = [place[one] for own in words for one in own]
        shares = [share for own in words for share in own.values()]
        return cls(offsets_of(lengths), np.array(flat, dtype=np.int64), np.array(shares, dtype=np.float64))


class Asked(NamedTuple):
    """A query in arrays: what signals compute with.

    masses       [words] how much each counts: the rarity of what it may mean, by shares, times how often it is there
    is_number    [words] whether it has a digit, as uint8
    terms        [terms] distinct ones that its words may mean, and whether each is that of a number: is_asked
    stems        [stems] theirs, in order; for each `weights`, shares times rarity, its `best` share, and its `rarity`
    of_terms     which terms each word may mean
    of_stems     which stems each word may mean
    products     [terms of the collection] of trigrams with the query
    length       of the query's vector of trigrams
    total        of the masses
    """

    masses: Numbers
    is_number: NDArray[np.uint8]
    terms: Rows
    stems: Rows
    is_asked: NDArray[np.uint8]
    weights: Numbers
    best: Numbers
    rarity: Numbers
    of_terms: Entries
    of_stems: Entries
    products: Floats
    length: float
    total: float


@dataclass(frozen=True, eq=False)
class Signals:
    """A collection, as it is searched.

    bags     [texts] rows of terms, and how often each stands there: counts [len(bags.values)]
    stems    [terms] the stem of each term, as a number
    is_number [terms] whether it has a digit
    letters  trigrams of the terms
    norms    [texts] how long the vector of trigrams is
    meaning  vectors of the texts
    compiled whether the compiled core computes
    threads  that compare meanings
    """

    bags: Ragged
    counts: Floats
    stems: NDArray[np.int32]
    is_number: NDArray[np.bool_]
    letters: Letters
    norms: Floats
    meaning: Meaning
    compiled: bool = False
    threads: int = 1

    def __len__(self) -> int:
        return len(self.bags)

    @cached_property
    def postings(self) -> tuple[Ragged, Floats]:
        """The texts of each term [terms], and how often it stands there."""
        order = np.argsort(self.bags.values, kind="stable")
        offsets = offsets_of(np.bincount(self.bags.values, minlength=len(self.stems)))
        return Ragged(self.bags.owners.astype(np.int32)[order], offsets), self.counts[order]

    @cached_property
    def terms_of_stems(self) -> Ragged:
        """The terms of each stem."""
        order = np.argsort(self.stems, kind="stable").astype(np.int32)
        return Ragged(order, offsets_of(np.bincount(self.stems)))

    @cached_property
    def _stems_of_texts(self) -> tuple[Rows, NDArray[np.int32]]:
        """Each pair of a text and a stem in it, once: the texts, in order, and the stems."""
        keys = np.sort(self.bags.owners << 32 | self.stems[self.bags.values])
        if len(keys):
            keys = keys[np.append(True, keys[1:] != keys[:-1])]
        return keys >> 32, (keys & 0xFFFFFFFF).astype(np.int32)

    @cached_property
    def rarity(self) -> Floats:
        """[stems] idf: log(1 + (N - n + 0.5) / (n + 0.5)), for the n of N texts that have a term of the stem."""
        within = np.bincount(self._stems_of_texts[1], minlength=len(self.terms_of_stems))
        return np.log1p((len(self) - within + 0.5) / (within + 0.5)).astype(np.float32)

    @cached_property
    def of_nothing(self) -> float:
        """The rarity of what no text has."""
        return float(np.log1p((len(self) + 0.5) / 0.5))

    @cached_property
    def damping(self) -> Floats:
        """[texts] what is added to a count in BM25's fraction: more for longer texts."""
        sizes = np.bincount(self.bags.owners, self.counts, len(self))
        mean = max(float(sizes.mean()), LEAST) if len(self) else 1.0
        return (K1 * (1 - B + B * sizes / mean)).astype(np.float32)

    @cached_property
    def masses(self) -> Numbers:
        """[texts] the sum of the rarities of its stems."""
        texts, stems = self._stems_of_texts
        masses = np.bincount(texts, self.rarity[stems], len(self)).astype(np.float64)
        del self.__dict__["_stems_of_texts"]
        return masses

    @cached_property
    def signs(self) -> Signs:
        """Sketches of the texts' meaning."""
        return Signs.of(self.meaning)

    @cached_property
    def core(self) -> Any:
        """The same for the compiled core."""
        postings, counts = self.postings
        return core().Collection(
            dim=self.meaning.codes.shape[1],
            bags=self.bags.values,
            bag_ends=self.bags.offsets,
            counts=self.counts,
            stem_of=self.stems,
            is_number=self.is_number.astype(np.uint8),
            damping=self.damping,
            norms=self.norms,
            masses=self.masses,
            posting_texts=postings.values,
            posting_ends=postings.offsets,
            posting_counts=counts,
            codes=self.meaning.codes,
            scale=self.meaning.scale,
            signs=self.signs.bits,
        )

    def candidates(self, query: Query, allowed: NDArray[np.bool_] | None = None) -> tuple[Rows, Floats]:
        """The texts that the signals find, in order of their rows, and their features [found, len(FEATURES)]."""
        if not len(self):
            return np.zeros(0, np.int64), np.zeros((0, len(FEATURES)), np.float32)
        asked = self.asked(query)
        found = [self.best_by_words(asked, allowed), self.best_by_letters(asked, allowed)]
        rows = np.unique(np.concatenate([*found, self.best_by_meaning(query, allowed)]))
        return rows, self.features(query, asked, rows)

    @cached_property
    def are_documents(self) -> bool:
        """Whether these are texts of several sentences rather than names and titles."""
        return bool(len(self)) and float(self.counts.sum()) / len(self) >= WORDS_OF_DOCUMENTS

    def _bm25(self, rows: Rows) -> tuple[Rows, NDArray[np.int32], Numbers]:
        """The texts of some rows as vectors of unit length by BM25: places in `rows`, stems, and numbers."""
        bags = self.bags.take(rows)
        counts = Ragged(self.counts, self.bags.offsets).take(rows).values.astype(np.float64)  # type: ignore[arg-type]
        owners, stems = bags.owners, self.stems[bags.values]
        numbers = counts / (counts + self.damping[rows][owners]) * self.rarity[stems]
        lengths = np.sqrt(np.bincount(owners, numbers**2, len(rows)))
        return owners, stems, numbers / np.maximum(lengths, LEAST)[owners]

    def feedback(self, rows: Rows, totals: Numbers) -> Numbers:
        """[len(rows)] how much candidates are like the best ones by their `totals`, in meaning and in words, from 0 to
        2: what answers a question is like other answers, also where it has none of the question's words."""
        best = highest(totals, FEEDBACK_TEXTS)
        weights = np.exp(FEEDBACK_STEEPNESS * (totals[best] - totals[best[0]]))
        weights /= weights.sum()
        vectors = self.meaning.codes[rows[best]] * self.meaning.scale[rows[best]].astype(np.float64)[:, None]
        codes, scale = coded_query((vectors * weights[:, None]).sum(axis=0).astype(np.float32))
        owners, stems, numbers = self._bm25(rows)
        there, places = np.unique(stems, return_inverse=True)
        centre = np.zeros(len(there))
        for row, weight in zip(best.tolist(), weights.tolist(), strict=True):
            own = owners == row
            np.add.at(centre, places[own], weight * numbers[own])
        kept = highest(centre, FEEDBACK_STEMS)
        chosen = np.zeros(len(there))
        chosen[kept] = centre[kept]
        chosen /= max(float(np.sqrt((chosen**2).sum())), LEAST)
        words = np.bincount(owners, numbers * chosen[places], len(rows))
        return self.meaning.cosines(codes, scale, rows).astype(np.float64) + words

    def asked(self, query: Query) -> Asked:
        """A query in arrays."""
        of_terms = [dict(zip(reading.terms, reading.shares, strict=True)) for reading in query.readings]
        of_stems: list[dict[int, float]] = []
        for shares in of_terms:
            own: dict[int, float] = {}
            for term, share in shares.items():
                stem = int(self.stems[term])
                own[stem] = min(own.get(stem, 0.0) + share, 1.0)
            of_stems.append(own)
        terms = list(dict.fromkeys(term for shares in of_terms for term in shares))
        stems = sorted({stem for shares in of_stems for stem in shares})
        rarity = {stem: float(self.rarity[stem]) for stem in stems}
        weights, best, masses = dict.fromkeys(stems, 0.0), dict.fromkeys(stems, 0.0), []
        for shares, reading, count in zip(of_stems, query.readings, query.counts, strict=True):
            for stem, share in shares.items():
                weights[stem] += share * count * rarity[stem]
                best[stem] = max(best[stem], share)
            known = sum(share * float(self.rarity[self.stems[term]]) for term, share in _pairs(reading))
            masses.append((known + max(1 - sum(reading.shares), 0.0) * self.of_nothing) * count)
        is_number = [any(map(str.isdigit, word)) for word in query.words]
        numbers = {term for shares, one in zip(of_terms, is_number, strict=True) if one for term in shares}
        words = [word for word, count in zip(query.words, query.counts, strict=True) for _ in range(count)]
        places, values, length = self.letters.query(words)
        return Asked(
            np.array(masses, dtype=np.float64),
            np.array(is_number, dtype=np.uint8),
            np.array(terms, dtype=np.int64),
            np.array(stems, dtype=np.int64),
            np.array([term in numbers for term in terms], dtype=np.uint8),
            np.array([weights[stem] for stem in stems], dtype=np.float64),
            np.array([best[stem] for stem in stems], dtype=np.float64),
            np.array([rarity[stem] for stem in stems], dtype=np.float64),
            Entries.of(of_terms, {term: place for place, term in enumerate(terms)}),
            Entries.of(of_stems, {stem: place for place, stem in enumerate(stems)}),
            self.letters.products(places, values, len(self.stems)),
            length,
            max(sum(masses), LEAST),
        )

    def best_by_words(self, asked: Asked, allowed: NDArray[np.bool_] | None) -> Rows:
        """The texts that the words find."""
        terms = self.terms_of_stems.take(asked.stems)
        return self._best(terms.values.astype(np.int64), np.repeat(asked.weights, terms.lengths), False, allowed)

    def best_by_letters(self, asked: Asked, allowed: NDArray[np.bool_] | None) -> Rows:
        """The texts that the letters find."""
        products = asked.products
        alike = np.flatnonzero(products >= max(float(products.max(initial=0)) / 2, LEAST))
        terms = alike[highest(products[alike], TERMS_BY_LETTERS)]
        return self._best(terms, products[terms].astype(np.float64), True, allowed)

    def _best(self, terms: Rows, weights: Numbers, by_norms: bool, allowed: NDArray[np.bool_] | None) -> Rows:
        """The DEPTH texts with the highest sums over terms, of counts by norms or by BM25."""
        postings, counts = self.postings
        order = np.argsort(-weights, kind="stable")
        terms, weights = terms[order], weights[order]
        some = np.cumsum(postings.offsets[terms + 1] - postings.offsets[terms]) <= POSTINGS
        some[:1] = True
        terms, weights = terms[some], weights[some]
        if self.compiled:
            found = np.empty(DEPTH, dtype=np.int64)
            count = self.core.best(terms, weights, by_norms, _mask(allowed), found)
            return found[:count]
        chosen = postings.take(terms)
        texts = chosen.values.astype(np.int64)
        own = Ragged(counts, postings.offsets).take(terms).values  # type: ignore[arg-type]
        below = self.norms[texts] if by_norms else own + self.damping[texts]
        scores = np.repeat(weights, chosen.lengths) * own / below
        if allowed is not None:
            keep = allowed[texts]
            texts, scores = texts[keep], scores[keep]
        distinct, places = np.unique(texts, return_inverse=True)
        return distinct[highest(np.bincount(places, scores, len(distinct)), DEPTH)]

    def best_by_meaning(self, query: Query, allowed: NDArray[np.bool_] | None) -> Rows:
        """The texts that mean what the query means: those with the highest cosines, above 0. Only so many
        are compared with it, those that are nearest by their signs."""
        if not query.scale:
            return np.zeros(0, np.int64)
        signs = self.signs.asked(query.codes, query.scale)
        most = max(NEAR_BY_SIGNS * TEXTS_PER_CHUNK // len(self), LEAST_PER_CHUNK)
        mask, parts = _mask(allowed), list[tuple[Rows, Floats]]()

        def run(part: slice) -> None:
            if not self.compiled:
                parts.append(self._nearest(query, signs, most, allowed, part))
                return
            rows, cosines = np.empty(DEPTH, dtype=np.int64), np.empty(DEPTH, dtype=np.float32)
            within = part.start, min(part.stop, len(self)), most
            count = self.core.nearest(query.codes, query.scale, signs, mask, *within, rows, cosines)
            parts.append((rows[:count], cosines[:count]))

        in_chunks(run, len(self), TEXTS_PER_CHUNK, self.threads)
        rows, cosines = (np.concatenate(one) for one in zip(*parts, strict=True))
        order = np.lexsort((rows, -cosines))[:DEPTH]
        return rows[order]

    def _nearest(
        self, query: Query, signs: NDArray[np.uint64], most: int, allowed: NDArray[np.bool_] | None, part: slice
    ) -> tuple[Rows, Floats]:
        """The nearest texts of a part, and their cosines, by numpy."""
        rows = np.arange(len(self))[part]
        rows = rows if allowed is None else rows[allowed[part]]
        rows = np.sort(rows[highest(-self.signs.gaps(signs, rows), most)])
        cosines = self.meaning.cosines(query.codes, query.scale, rows)
        best = highest(cosines, DEPTH)
        best = best[cosines[best] > 0]
        return rows[best], cosines[best]

    def features(self, query: Query, asked: Asked, rows: Rows) -> Floats:
        """[len(rows), len(FEATURES)] of the texts of these rows."""
        if self.compiled:
            result = np.empty((len(rows), len(FEATURES)), dtype=np.float32)
            arrays = (*asked[:8], *asked.of_terms, *asked.of_stems, asked.products, query.codes)
            self.core.judge(asked.total, asked.length, K1 + 1, query.scale, rows, result, *arrays)
            return result
        bags, count = self.bags.take(rows), len(rows)
        counts = Ragged(self.counts, self.bags.offsets).take(rows).values  # type: ignore[arg-type]
        owners, terms = bags.owners, bags.values
        has_terms = _matrix(asked.terms, owners, terms, counts, count)
        has_stems = _matrix(asked.stems, owners, self.stems[terms], counts, count)
        saturation = has_stems / (has_stems + self.damping[rows][:, None]) * (K1 + 1)
        coverage, _ = _covered(asked, asked.of_stems, has_stems)
        exact, numbers = _covered(asked, asked.of_terms, has_terms)
        there = has_stems > 0
        letters = np.bincount(owners, asked.products[terms] * counts, count)
        present = np.bincount(owners, asked.products[terms], count)
        have = np.bincount(owners, self.is_number[terms], count)
        wanted = asked.terms[asked.is_asked > 0]
        shared = np.bincount(owners, self.is_number[terms] & np.isin(terms, wanted), count)
        asked_numbers = int(asked.is_number.sum())
        columns = [
            _in_turn(asked.weights * saturation) / asked.total,
            coverage / asked.total,
            _in_turn(there * (asked.best * asked.rarity)) / np.maximum(self.masses[rows], LEAST),
            exact / asked.total,
            letters / np.maximum(self.norms[rows].astype(np.float64) * asked.length, LEAST),
            np.minimum(present / max(asked.length * asked.length, LEAST), 1),
            self.meaning.cosines(query.codes, query.scale, rows),
            numbers / asked_numbers if asked_numbers else np.ones(count),
            np.where(have > 0, shared / np.maximum(have, 1), 1),
        ]
        return np.stack(columns, axis=1).astype(np.float32)


def _pairs(reading: Reading) -> zip[tuple[int, float]]:
    return zip(reading.terms, reading.shares, strict=True)


def _mask(allowed: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    return ALL if allowed is None else np.ascontiguousarray(allowed).view(np.uint8)


def _matrix(wanted: Rows, owners: Rows, values: NDArray[Any], counts: NDArray[Any], texts: int) -> Numbers:
    """[texts, len(wanted)] how often each of these terms or stems stands in each text."""
    order = np.argsort(wanted, kind="stable")
    places = np.minimum(wanted[order].searchsorted(values), max(len(wanted) - 1, 0))
    if not len(wanted):
        return np.zeros((texts, 0))
    there = wanted[order][places] == values
    keys = owners[there] * len(wanted) + order[places[there]]
    matrix = np.bincount(keys, counts[there], texts * len(wanted)).astype(np.float64)
    return matrix.reshape(texts, len(wanted))


def _in_turn(numbers: Numbers) -> Numbers:
    """The sums of rows, added one by one from the first."""
    return np.add.accumulate(numbers, axis=1)[:, -1] if numbers.shape[1] else np.zeros(len(numbers))


def _covered(asked: Asked, entries: Entries, has: Numbers) -> tuple[Numbers, Numbers]:
    """For each text Σ mass of a word · the greatest share of what it may mean and the text has; and, without masses,
    the same of words with digits."""
    covered, numbers = np.zeros(len(has)), np.zeros(len(has))
    for word, mass in enumerate(asked.masses.tolist()):
        own = slice(entries.ends[word], entries.ends[word + 1])
        met = ((has[:, entries.places[own]] > 0) * entries.shares[own]).max(axis=1, initial=0)
        covered += met * mass
        if asked.is_number[word]:
            numbers += met
    return covered, numbers


def highest(scores: NDArray[Any], count: int) -> Rows:
    """The places of the highest scores, the best first; of equal ones the first."""
    if len(scores) > count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
        places = np.sort(np.concatenate([above, equal[: count - len(above)]]))
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")]
