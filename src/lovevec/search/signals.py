"""The signals by which a text answers a query, and the candidates that they find.

    words     BM25 over words as they are read: a word of the query counts for the terms that it may mean, by shares
    letters   the cosine of trigrams of letters, each by how rare it is among the terms
    meaning   the cosine of vectors of whole texts

Each finds its best texts; all signals of all that were found are then computed, so that a candidate has the same
features whichever signal found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lovevec.search.letters import Letters
from lovevec.search.meaning import Meaning
from lovevec.search.terms import Reading
from lovevec.units.ragged import Ragged, offsets_of

Floats = NDArray[np.float32]
FEATURES = (
    "words",
    "coverage",
    "backward",
    "exact",
    "letters",
    "letters_covered",
    "meaning",
    "numbers",
    "numbers_backward",
)
DEPTH = 100  # texts that each signal finds
K1, B = 1.2, 0.75
TERMS_BY_LETTERS = 64  # whose texts the letters find
POSTINGS = 200_000  # that a signal looks at; more only for the first of its terms


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


@dataclass(frozen=True, eq=False)
class Signals:
    """A collection, as it is searched.

    bags     [texts] rows of terms, and how often each stands there: counts [len(bags.values)]
    stems    [terms] the stem of each term, as a number
    is_number [terms] whether it has a digit
    letters  trigrams of the terms
    norms    [texts] how long the vector of trigrams is
    meaning  vectors of the texts
    """

    bags: Ragged
    counts: Floats
    stems: NDArray[np.int32]
    is_number: NDArray[np.bool_]
    letters: Letters
    norms: Floats
    meaning: Meaning

    def __len__(self) -> int:
        return len(self.bags)

    @cached_property
    def postings(self) -> tuple[Ragged, Floats]:
        """The texts of each term [terms], and how often it stands there."""
        order = np.argsort(self.bags.values, kind="stable")
        offsets = offsets_of(np.bincount(self.bags.values, minlength=len(self.stems)))
        return Ragged(self.bags.owners[order].astype(np.int32), offsets), self.counts[order]

    @cached_property
    def terms_of_stems(self) -> Ragged:
        """The terms of each stem."""
        order = np.argsort(self.stems, kind="stable").astype(np.int32)
        return Ragged(order, offsets_of(np.bincount(self.stems)))

    @cached_property
    def rarity(self) -> Floats:
        """[stems] idf: log(1 + (N - n + 0.5) / (n + 0.5)), for the n of N texts that have a term of the stem."""
        keys = np.unique(self.bags.owners * max(len(self.terms_of_stems), 1) + self.stems[self.bags.values])
        within = np.bincount(keys % max(len(self.terms_of_stems), 1), minlength=len(self.terms_of_stems))
        return np.log1p((len(self) - within + 0.5) / (within + 0.5)).astype(np.float32)

    @cached_property
    def of_nothing(self) -> float:
        """The rarity of what no text has."""
        return float(np.log1p((len(self) + 0.5) / 0.5))

    @cached_property
    def damping(self) -> Floats:
        """[texts] what is added to a count in BM25's fraction: more for longer texts."""
        sizes = np.bincount(self.bags.owners, self.counts, len(self))
        return (K1 * (1 - B + B * sizes / max(float(sizes.mean()), 1e-9))).astype(np.float32)

    @cached_property
    def masses(self) -> Floats:
        """[texts] the sum of the rarities of its terms."""
        rarity = self.rarity[self.stems[self.bags.values]]
        return np.bincount(self.bags.owners, rarity, len(self)).astype(np.float32)

    def candidates(self, query: Query, allowed: NDArray[np.bool_] | None = None) -> tuple[NDArray[np.int64], Floats]:
        """The texts that the signals find, in order of their rows, and their features [found, len(FEATURES)]."""
        stems, weights = self.stem_weights(query)
        places, values, length = self.letters.query(
            [w for w, n in zip(query.words, query.counts, strict=True) for _ in range(n)]
        )
        products = self.letters.products(places, values, len(self.stems))
        found = [
            self._best_by_words(stems, weights, allowed),
            self._best_by_letters(products, allowed),
            self._best_by_meaning(query, allowed),
        ]
        rows = np.unique(np.concatenate(found))
        return rows, self.features(query, rows, products, length)

    def stem_weights(self, query: Query) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The stems that a query may mean, and how much each counts: share times rarity, of each word of the query."""
        total: dict[int, float] = {}
        for reading, count in zip(query.readings, query.counts, strict=True):
            own: dict[int, float] = {}
            for term, share in zip(reading.terms, reading.shares, strict=True):
                stem = int(self.stems[term])
                own[stem] = min(own.get(stem, 0.0) + share, 1.0)
            for stem, share in own.items():
                total[stem] = total.get(stem, 0.0) + share * count * float(self.rarity[stem])
        stems = np.array(sorted(total), dtype=np.int64)
        return stems, np.array([total[stem] for stem in stems.tolist()])

    def _best_by_words(
        self, stems: NDArray[np.int64], weights: NDArray[np.float64], allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        postings, counts = self.postings
        terms = self.terms_of_stems.take(stems)
        return self._best(postings, counts, terms.values, np.repeat(weights, terms.lengths), self.damping, allowed)

    def _best_by_letters(self, products: Floats, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        count = min(TERMS_BY_LETTERS, len(products))
        terms = np.argsort(-products, kind="stable")[:count]
        terms = terms[products[terms] > 0]
        return self._best(*self.postings, terms, products[terms], None, allowed)

    def _best(
        self,
        postings: Ragged,
        counts: Floats,
        terms: NDArray[np.integer],
        weights: NDArray[np.floating],
        damping: Floats | None,
        allowed: NDArray[np.bool_] | None,
    ) -> NDArray[np.int64]:
        """The DEPTH texts with the highest sums over terms."""
        order = np.argsort(-weights, kind="stable")
        terms, weights = terms[order], weights[order]
        some = np.cumsum(postings.offsets[terms + 1] - postings.offsets[terms]) <= POSTINGS
        some[:1] = True
        chosen = postings.take(terms[some])
        texts = chosen.values.astype(np.int64)
        own = Ragged(counts, postings.offsets).take(terms[some]).values  # type: ignore[arg-type]
        scores = np.repeat(weights[some], chosen.lengths)
        scores = scores * own / self.norms[texts] if damping is None else scores * own / (own + damping[texts])
        if allowed is not None:
            keep = allowed[texts]
            texts, scores = texts[keep], scores[keep]
        distinct, places = np.unique(texts, return_inverse=True)
        sums = np.bincount(places, scores, len(distinct))
        return distinct[highest(sums, DEPTH)]

    def _best_by_meaning(self, query: Query, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        if not query.scale:
            return np.zeros(0, np.int64)
        scores = self.meaning.cosines(query.codes, query.scale)
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        best = highest(scores, DEPTH)
        return best[scores[best] > 0]

    def features(self, query: Query, rows: NDArray[np.int64], products: Floats, length: float) -> Floats:
        """[len(rows), len(FEATURES)] of the texts of these rows."""
        result = np.zeros((len(rows), len(FEATURES)))
        bags = self.bags.take(rows)
        counts = Ragged(self.counts, self.bags.offsets).take(rows).values  # type: ignore[arg-type]
        owners, terms = bags.owners, bags.values
        words, n_stems = len(query.words), max(len(self.terms_of_stems), 1)
        keys, where = np.unique(owners * n_stems + self.stems[terms], return_inverse=True)
        together = np.bincount(where, counts, len(keys))
        stem_owners, stem_of = keys // n_stems, keys % n_stems
        wanted, weights = self.stem_weights(query)
        of_stem = np.zeros(n_stems)
        of_stem[wanted] = weights
        saturation = together / (together + self.damping[rows][stem_owners]) * (K1 + 1)
        total = self.query_mass(query)
        result[:, 0] = np.bincount(stem_owners, of_stem[stem_of] * saturation, len(rows)) / total
        # a word of the query is covered by the likeliest of its terms that the text has
        share, exact = np.zeros(n_stems), np.zeros(len(self.stems))
        covered, exactly = np.zeros(len(rows)), np.zeros(len(rows))
        best_of_stem = np.zeros(n_stems)
        numbers, numbers_there = 0, np.zeros(len(rows))
        asked_number = np.zeros(len(self.stems))
        for place in range(words):
            reading, count = query.readings[place], query.counts[place]
            mine = np.array(reading.terms, dtype=np.int64)
            shares = np.array(reading.shares)
            own = self.stems[mine]
            share[own] = 0
            np.add.at(share, own, shares)
            np.minimum(share, 1, out=share)
            best_of_stem[own] = np.maximum(best_of_stem[own], share[own])
            mass = self.word_mass(reading) * count
            met = np.zeros(len(rows))
            np.maximum.at(met, stem_owners, share[stem_of])
            covered += met * mass
            share[own] = 0
            exact[mine] = shares
            met = np.zeros(len(rows))
            np.maximum.at(met, owners, exact[terms])
            exactly += met * mass
            exact[mine] = 0
            if any(map(str.isdigit, query.words[place])):
                numbers += 1
                asked_number[mine] = 1
                numbers_there += met
        result[:, 1], result[:, 3] = covered / total, exactly / total
        masses = np.bincount(stem_owners, self.rarity[stem_of], len(rows))
        result[:, 2] = np.bincount(stem_owners, best_of_stem[stem_of] * self.rarity[stem_of], len(rows)) / np.maximum(
            masses, 1e-9
        )
        of_letters = np.bincount(owners, products[terms] * counts, len(rows))
        result[:, 4] = of_letters / np.maximum(self.norms[rows] * length, 1e-9)
        present = np.bincount(owners, products[terms], len(rows))
        result[:, 5] = np.minimum(present / max(length**2, 1e-9), 1)
        result[:, 6] = self.meaning.cosines(query.codes, query.scale, rows)
        have = np.bincount(owners, self.is_number[terms], len(rows))
        result[:, 7] = numbers_there / numbers if numbers else 1
        shared = np.bincount(owners, self.is_number[terms] * asked_number[terms], len(rows))
        result[:, 8] = np.where(have > 0, shared / np.maximum(have, 1), 1)
        return result.astype(np.float32)

    def word_mass(self, reading: Reading) -> float:
        """How much a word of the query counts: the rarity of what it may mean, by shares."""
        own = sum(
            share * float(self.rarity[self.stems[term]])
            for term, share in zip(reading.terms, reading.shares, strict=True)
        )
        return own + max(1 - sum(reading.shares), 0.0) * self.of_nothing

    def query_mass(self, query: Query) -> float:
        """How much all its words count."""
        mass = sum(self.word_mass(reading) * count for reading, count in zip(query.readings, query.counts, strict=True))
        return max(mass, 1e-9)


def highest(scores: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    """The places of the highest scores, the best first; of equal ones the first."""
    if len(scores) > count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
        places = np.sort(np.concatenate([above, equal[: count - len(above)]]))
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")]
