"""Robust backed-off estimation: an unknown word's vector is put together from those of known words spelled alike.

After Fukuda, Yoshinaga, Kitsuregawa, "Robust Backed-off Estimation of Out-of-Vocabulary Embeddings" (Findings of EMNLP
2020). Its abstract settles the method's shape: known words with similar surfaces are collected by segmenting the
unknown word and by approximate string matching, and their pre-trained vectors are aggregated; the LOVE paper adds that
the top k of the whole vocabulary are matched. More than that, and code, was not to be had: how the vectors are weighed,
and all numbers, are ours. Computed is

    candidates   the 20 known words with the most n-grams in common, and the up to 3 longest words of the likeliest
                 segmentation (candidates.py)
    features     of each: n-gram cosine, shares of the characters that begin and that end both words, edit similarity
                 (optimal string alignment), whether it is a segment, and what share of the word that segment is
    vector       e = Σ a_i v_i over the candidates' own vectors, a = softmax(θ · f_i) over their features

The features' weights θ are learned from the target: 3,000 known words are taken for unknown, each left out of its own
candidates, and the mean cosine of the estimate e and the own vector u is made as large as it can be. The cosine needs
only the products c_i = v_i · u and M_ij = v_i · v_j, so that an example costs a few hundred numbers, however wide its
vectors are. A word without any candidate has no vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import MissingExtra
from lovevec.units.characters import normalise
from lovevec.vectors.rows import normalized
from lovevec_lab.methods.candidates import Overlap, Rows, Segments
from lovevec_lab.methods.method import Bools, Floats, Parameters
from lovevec_lab.methods.table import Table
from lovevec_lab.methods.with_fallback import WithFallback

SIMILAR, SEGMENTS = 20, 3
EXAMPLES = 3000
BATCH = 512
FEATURES = ("n-grams", "beginning", "end", "edits", "segment", "share")
OVERLAP, BEGINNING, ENDING, EDITS, SEGMENT, SHARE = range(len(FEATURES))
STEPS, RATE = 200, 0.2
SLOW, SLOWER, TINY = 0.9, 0.999, 1e-12

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """For n words their candidates: rows of the table [n, k] (0 where not `there`), features [n, k, f]."""

    rows: Rows
    there: Bools
    features: Doubles


@dataclass(frozen=True, eq=False)
class Examples:
    """`features` [n, k, f], `there` [n, k] (which candidates there are), `own` [n, k] = c, `between` [n, k, k] = M;
    u is of unit length."""

    features: Doubles
    there: Bools
    own: Doubles
    between: Doubles


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
            candidates = self.candidates(words[low : low + BATCH])
            weights = attention(candidates.features, candidates.there, self.theta).astype(np.float32)
            result[low : low + BATCH] = np.matmul(weights[:, None, :], self.known.vectors[candidates.rows])[:, 0, :]
            covered[low : low + BATCH] = candidates.there.any(axis=1)
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
        own = np.sort(rng.permutation(len(self.known.words))[:count])
        parts = np.split(own, range(BATCH, len(own), BATCH))
        found = [self._compared(part, [self._spelled[row] for row in part.tolist()]) for part in parts]
        return Examples(*(np.concatenate(same) for same in zip(*found, strict=True)))

    def _compared(self, own: Rows, words: Sequence[str]) -> tuple[Doubles, Bools, Floats, Floats]:
        """The parts of Examples for the words at the rows `own`."""
        candidates = self.candidates(words, own)
        vectors, target = self.known.vectors[candidates.rows], normalized(self.known.vectors[own])
        products = np.matmul(vectors, target[:, :, None])[:, :, 0]
        return candidates.features, candidates.there, products, np.matmul(vectors, vectors.transpose(0, 2, 1))


def attention(features: Doubles, there: Bools, theta: Doubles) -> Doubles:
    """a [n, k]; all zeros where there is no candidate."""
    score = np.where(there, features @ theta, -np.inf)
    most = score.max(axis=1, keepdims=True, initial=-np.inf)
    grown = np.exp(score - np.where(np.isfinite(most), most, 0)) * there
    result: Doubles = grown / np.maximum(grown.sum(axis=1, keepdims=True), TINY)
    return result


def cosine_and_slope(examples: Examples, theta: Doubles) -> tuple[float, Doubles]:
    """The mean cosine of the estimates and its gradient by θ."""
    a = attention(examples.features, examples.there, theta)
    spread = np.matmul(examples.between, a[:, :, None])[:, :, 0]
    product = (a * examples.own).sum(axis=1, keepdims=True)
    length = np.sqrt(np.maximum((a * spread).sum(axis=1, keepdims=True), TINY))
    by_a = examples.own / length - product * spread / length**3
    by_score = a * (by_a - (a * by_a).sum(axis=1, keepdims=True))
    slope: Doubles = np.einsum("nk,nkf->f", by_score, examples.features) / len(a)
    return float((product / length).mean()), slope


def fit(examples: Examples) -> Doubles:
    """θ [f], from zeros, by Adam on all examples at once."""
    theta = np.zeros(examples.features.shape[2])
    mean, square = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, STEPS + 1):
        slope = cosine_and_slope(examples, theta)[1]
        mean = SLOW * mean + (1 - SLOW) * slope
        square = SLOWER * square + (1 - SLOWER) * slope**2
        theta += RATE * (mean / (1 - SLOW**step)) / (np.sqrt(square / (1 - SLOWER**step)) + TINY)
    return theta
