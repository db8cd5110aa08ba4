"""Robust backed-off estimation: an unknown word's vector is put together from those of known words spelled alike.

After Fukuda, Yoshinaga, Kitsuregawa, "Robust Backed-off Estimation of Out-of-Vocabulary Embeddings" (Findings of EMNLP
2020). Its abstract settles the method's shape: known words with similar surfaces are collected by segmenting the
unknown word and by approximate string matching, and their pre-trained vectors are aggregated; the LOVE paper adds that
the top k of the whole vocabulary are matched. More than that, and code, was not to be had: how the vectors are weighed,
and all numbers, are ours. Computed is

    candidates   the 20 known words with the most n-grams in common (overlap.py), and the up to 3 longest words of the
                 likeliest segmentation (segments.py)
    features     of each: n-gram cosine, shares of the characters that begin and that end both words, edit similarity
                 (optimal string alignment), whether it is a segment, and what share of the word that segment is
    vector       Σ a_i v_i over the candidates' own vectors, a the softmax of the features' weighted sum (weighing.py)

The features' weights are learned from the target: 3,000 known words are taken for unknown, each left out of its own
candidates, and the cosine between estimate and own vector is made as large as it can be. A word without any candidate
has no vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import MissingExtra
from lovevec.methods.method import Bools, Floats, Parameters
from lovevec.methods.overlap import Overlap
from lovevec.methods.segments import Segments
from lovevec.methods.table import Table
from lovevec.methods.weighing import Examples, attention, fit
from lovevec.methods.with_fallback import WithFallback
from lovevec.units.characters import normalise
from lovevec.vectors.normalized import normalized

SIMILAR, SEGMENTS = 20, 3
EXAMPLES = 3000
BATCH = 512
FEATURES = ("n-grams", "beginning", "end", "edits", "segment", "share")
OVERLAP, BEGINNING, ENDING, EDITS, SEGMENT, SHARE = range(len(FEATURES))

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """For n words their candidates: rows of the table [n, k] (0 where not `there`), features [n, k, f]."""

    rows: Rows
    there: Bools
    features: NDArray[np.float64]


class BackedOff(WithFallback):
    """The table, with a learned mixture of similar words' vectors in the place of an unknown word's."""

    def __init__(self, table: Table, *, examples: int = EXAMPLES, seed: int = 0) -> None:
        super().__init__(table, "Backed-off", Parameters(table.parameters.embedding, len(FEATURES)))
        try:
            from rapidfuzz.distance import OSA, Postfix, Prefix
            from rapidfuzz.process import cpdist
        except ImportError:
            raise MissingExtra("rapidfuzz", "rivals") from None
        self._alike = {BEGINNING: Prefix.normalized_similarity, ENDING: Postfix.normalized_similarity}
        self._alike[EDITS] = OSA.normalized_similarity
        self._cpdist = cpdist
        self._spelled = [normalise(word, self.lowercase) for word in table.words]
        self._overlap, self._segments = Overlap(self._spelled), Segments(table.row)
        self.theta = fit(self._examples(examples, seed))

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The mixtures."""
        result = np.zeros((len(words), self.dim), dtype=np.float32)
        covered = np.zeros(len(words), dtype=np.bool_)
        for low in range(0, len(words), BATCH):
            found = self.candidates(words[low : low + BATCH])
            weights = attention(found.features, found.there, self.theta).astype(np.float32)
            result[low : low + BATCH] = np.matmul(weights[:, None, :], self.table.vectors[found.rows])[:, 0, :]
            covered[low : low + BATCH] = found.there.any(axis=1)
        return result, covered

    def candidates(self, words: Sequence[str], leave_out: Rows | None = None) -> Candidates:
        """Similar words, then segments. `leave_out` names one row for each word that is none of its candidates."""
        none = np.full(len(words), -1, dtype=np.int64)
        shape = len(words), SIMILAR + SEGMENTS
        rows, there = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
        features = np.zeros((*shape, len(FEATURES)))
        for n, (near, alike) in enumerate(self._overlap.nearest(words, SIMILAR, leave_out)):
            rows[n, : len(near)], there[n, : len(near)] = near, True
            features[n, : len(near), OVERLAP] = alike
        for n, (word, own) in enumerate(zip(words, (none if leave_out is None else leave_out).tolist(), strict=True)):
            segments = sorted(self._segments(word, own), key=lambda row: -len(self._spelled[row]))[:SEGMENTS]
            place = slice(SIMILAR, SIMILAR + len(segments))
            rows[n, place], there[n, place] = segments, True
            features[n, place, SEGMENT] = 1
            features[n, place, SHARE] = [len(self._spelled[row]) / len(word) for row in segments]
        which, column = np.nonzero(there)
        if len(which):
            one = [words[n] for n in which.tolist()]
            other = [self._spelled[row] for row in rows[which, column].tolist()]
            for feature, alike_by in self._alike.items():
                features[which, column, feature] = self._cpdist(one, other, scorer=alike_by, dtype=np.float32)
        return Candidates(rows, there, features)

    def _examples(self, count: int, seed: int) -> Examples:
        """Known words as if they were not."""
        rng = np.random.default_rng([seed, 0xBAC])
        own = np.sort(rng.permutation(len(self.table.words))[:count])
        parts = np.split(own, range(BATCH, len(own), BATCH))
        found = [self._compared(part, [self._spelled[row] for row in part.tolist()]) for part in parts]
        return Examples(*(np.concatenate(same) for same in zip(*found, strict=True)))

    def _compared(self, own: Rows, words: Sequence[str]) -> tuple[NDArray[np.float64], Bools, Floats, Floats]:
        """The parts of Examples for the words at the rows `own`."""
        found = self.candidates(words, own)
        vectors, target = self.table.vectors[found.rows], normalized(self.table.vectors[own])
        products = np.matmul(vectors, target[:, :, None])[:, :, 0]
        return found.features, found.there, products, np.matmul(vectors, vectors.transpose(0, 2, 1))
