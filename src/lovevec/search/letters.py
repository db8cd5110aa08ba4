"""Trigrams of the letters of terms: what finds codes and names, and words in a form that nobody has read.

Around a term there is a blank on either side: ` wo`, `wor`, `ord`, `rd `. A trigram has the weight log(1 + N / n), for
the n of N terms that have it. A text's vector is the sum over its terms, so that its product with a query's is a sum
over terms, too: each term is compared with the query once, however many texts it stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.units.ragged import Ragged, offsets_of

CODE_BITS = 21  # of a code point
TEXTS_PER_BLOCK = 65_536


def trigrams(terms: Sequence[str]) -> Ragged:
    """The trigrams of each term, as one number of three code points each: [terms] rows."""
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    text = "".join(f" {term} " for term in terms)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    if not len(terms):
        return Ragged(np.zeros(0, np.int64), np.zeros(1, np.int64))
    grams = codes[:-2] << 2 * CODE_BITS | codes[1:-1] << CODE_BITS | codes[2:]
    offsets = offsets_of(lengths)
    return Ragged(grams[np.repeat(2 * np.arange(len(terms)), lengths) + np.arange(offsets[-1])], offsets)


class Letters(NamedTuple):
    """The trigrams of a collection's terms.

    grams    [trigrams] those that there are, in order
    weights  [trigrams] float32
    terms    the terms that have each trigram, and how often: rows [trigrams]
    counts   [len(terms.values)]
    """

    grams: NDArray[np.int64]
    weights: NDArray[np.float32]
    terms: Ragged
    counts: NDArray[np.float32]

    @classmethod
    def of(cls, strings: Sequence[str]) -> Letters:
        """From the terms of a collection."""
        own = trigrams(strings)
        grams, places = np.unique(own.values, return_inverse=True)
        keys = places.astype(np.int64) * max(len(strings), 1) + own.owners
        distinct, counts = np.unique(keys, return_counts=True)
        lengths = np.bincount(distinct // max(len(strings), 1), minlength=len(grams))
        weights = np.log1p(len(strings) / np.maximum(lengths, 1)).astype(np.float32)
        rows = Ragged((distinct % max(len(strings), 1)).astype(np.int32), offsets_of(lengths))
        return cls(grams.astype(np.int64, copy=False), weights, rows, counts.astype(np.float32))

    def norms(self, texts: Ragged, counts: NDArray[np.float32]) -> NDArray[np.float32]:
        """[texts] the length of each one's vector, for texts as bags of terms."""
        of_terms = self._of_terms(int(texts.values.max(initial=-1)) + 1)
        norms = np.zeros(len(texts))
        for low in range(0, len(texts), TEXTS_PER_BLOCK):
            some = texts.take(np.arange(low, min(low + TEXTS_PER_BLOCK, len(texts))))
            grams = of_terms[0].take(some.values)
            own = counts[texts.offsets[low] : texts.offsets[low] + len(some.values)]
            of_gram = np.repeat(own, grams.lengths) * of_terms[1].take(some.values).values
            owners = np.repeat(some.owners, grams.lengths)
            keys, where = np.unique(owners * len(self.grams) + grams.values, return_inverse=True)
            sums = np.bincount(where, of_gram) * self.weights[keys % len(self.grams)]
            norms[low : low + len(some)] = np.bincount(keys // len(self.grams), sums**2, len(some))
        return np.sqrt(norms).astype(np.float32)

    def _of_terms(self, count: int) -> tuple[Ragged, Ragged]:
        """The trigrams of each term, and how often each stands in it."""
        owners = self.terms.owners
        order = np.argsort(self.terms.values, kind="stable")
        offsets = offsets_of(np.bincount(self.terms.values, minlength=count))
        return Ragged(owners[order], offsets), Ragged(self.counts[order], offsets)  # type: ignore[arg-type]

    def query(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float32], float]:
        """A query of these words: its trigrams by their numbers, each with weight times weight times count, and the
        length of its vector."""
        grams, counts = np.unique(trigrams(words).values, return_counts=True)
        rare = float(np.log1p(max(len(self.grams), 1)))
        if not len(self.grams):
            return np.zeros(0, np.int64), np.zeros(0, np.float32), float(np.sqrt((counts**2).sum())) * rare
        places = np.minimum(self.grams.searchsorted(grams), len(self.grams) - 1)
        known = self.grams[places] == grams
        weights = np.where(known, self.weights[places], rare)
        length = float(np.sqrt(((weights * counts) ** 2).sum()))
        return places[known], (weights**2 * counts)[known].astype(np.float32), length

    def products(self, places: NDArray[np.int64], values: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        """[count] the product of each term's vector with that of a query."""
        some = self.terms.take(places)
        wanted = Ragged(self.counts, self.terms.offsets)  # type: ignore[arg-type]
        weights = np.repeat(values, some.lengths) * wanted.take(places).values
        return np.bincount(some.values, weights, count).astype(np.float32)
