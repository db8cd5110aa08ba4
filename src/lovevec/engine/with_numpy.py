"""The numpy engine: always there, fast from the first word on.

    Q, K = A_n features[ids]                A_n the constant positional attention of length n
    w    = 1ᵀ softmax(Q Kᵀ) A_n             1/√k is in the table
    v    = normalise(Σ_j w_j out[id_j] + Σ_g out[g])     g the rows of the word's n-grams, where the model has any

Words with equally many units and n-grams are computed together, in blocks that stay in the processor's cache. A word's
vector is the same to the bit whatever else is in the call and however many threads there are: every matrix product has
a shape that depends on the word alone (see products.py), because a BLAS may round otherwise when a shape changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.fold import EncoderSpec, Tables
from lovevec.engine.positions import positional_attention
from lovevec.engine.products import product, rows_times
from lovevec.engine.threads import engine_threads, in_chunks
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged, offsets_of

Floats = NDArray[np.float32]
Ids = NDArray[np.integer]
WORDS_PER_NUMPY_CHUNK = 8_192  # that a thread takes at a time
UNITS_PER_BLOCK = 1_536  # computed together: their rows of `out` in float32 are about as big as a core's L2 cache
MIN_UNITS_TO_WIDEN = 65_536  # from here on it pays to widen a whole float16 table instead of the rows at hand
MIN_LENGTH = np.float32(1e-15)  # of a vector: below it squares underflow; a shorter vector stays short


class NumpyEngine:
    """Words -> vectors of unit length. Holds tables and constants, and changes nothing visible once it is built."""

    def __init__(self, spec: EncoderSpec, tables: Tables, units: Units, threads: int | None = None) -> None:
        self.spec, self.tables, self.units = spec, tables, units
        self.threads = threads or engine_threads()
        self._windows: dict[int, Floats] = {}
        # As x @ matrix wants them; a transposed view would be up to four times as slow.
        self._head = tuple(np.array(tensor.T, order="C") for tensor in tables.head)

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised."""
        result = np.empty((len(words), self.spec.dim), dtype=np.float32)
        lengths = np.empty(len(words), dtype=np.float32) if norms is None else norms

        def run(part: slice) -> None:
            self._encode(self.units.encode(words[part]), result[part], lengths[part])

        in_chunks(run, len(words), WORDS_PER_NUMPY_CHUNK, self.threads)
        return result

    def __call__(self, rows: Ragged) -> Floats:
        """[len(rows), dim] the vectors of words that are encoded already, as rows of the ids of table rows."""
        result = np.empty((len(rows), self.spec.dim), dtype=np.float32)
        self._encode(rows, result, np.empty(len(rows), dtype=np.float32))
        return result

    def _encode(self, rows: Ragged, result: Floats, norms: Floats) -> None:
        many = len(rows.values) >= MIN_UNITS_TO_WIDEN
        wide = many and self.tables.precision == "float16"
        out, features = self.wide if wide else (self.tables.out, self.tables.features)
        for words, units, ngrams in self._rectangles(rows):
            pooled = self._pool(units, ngrams, out, features)
            length = _lengths(pooled)
            norms[words] = length
            result[words] = pooled / np.maximum(length, MIN_LENGTH)[:, None]

    def _rectangles(self, rows: Ragged) -> Iterator[tuple[NDArray[np.int64], Ids, Ids]]:
        """(which words, their units' ids [b, n], their n-grams' ids [b, m]), one n and one m at a time."""
        bound = len(self.tables.features)
        if len(self.tables.out) == bound:
            for words, ids in rows.equal_lengths(UNITS_PER_BLOCK):
                yield words, ids, ids[:, :0]
            return
        before = offsets_of(rows.values < bound)[rows.offsets]  # units, not n-grams, before each row
        shapes = rows.lengths << 32 | before[1:] - before[:-1]
        order = np.argsort(shapes, kind="stable")
        shapes = shapes[order]
        changes = np.flatnonzero(shapes[1:] != shapes[:-1]) + 1
        for begin, end in pairwise([0, *changes.tolist(), len(order)] if len(order) else []):
            length, cut = divmod(int(shapes[begin]), 1 << 32)
            step = max(1, UNITS_PER_BLOCK // length)
            for low in range(begin, end, step):
                words = order[low : min(low + step, end)]
                ids = rows.values[rows.offsets[words][:, None] + np.arange(length)]
                yield words, ids[:, :cut], ids[:, cut:]

    def _pool(self, units: Ids, ngrams: Ids, out: NDArray[Any], features: NDArray[Any]) -> Floats:
        """[b, n] and [b, m] -> Σ_j w_j out[id_j], through the head if there is one, + Σ_g out[g]: [b, dim]."""
        window = self.window(units.shape[1])
        scores, total = self._scores(units, features, window)
        weights = product(product((1 / total)[:, None, :], scores), window)
        pooled = self._weighted(weights, units, out)
        if self._head:
            pooled = self._through_head(pooled)
        return pooled + self._weighted(np.float32(1), ngrams, out) if ngrams.shape[1] else pooled

    def _weighted(self, weights: Floats | np.float32, ids: Ids, out: NDArray[Any]) -> Floats:
        """Σ_j weights_j out[id_j]: weights [b, 1, n] or one for all, ids [b, n] -> [b, dim]."""
        scaled = weights * self.tables.out_scale[ids][:, None, :]
        return product(scaled, _as_float32(out[ids]))[:, 0, :]

    def _scores(self, ids: Ids, features: NDArray[Any], window: Floats) -> tuple[Floats, Floats]:
        """exp(Q Kᵀ) up to a factor for each row [b, n, n], and the sums of its rows [b, n]."""
        width = self.spec.key_width
        seen = features[ids] * self.tables.features_scale[ids][:, :, None]
        mixed = product(window, seen)
        scores = product(mixed[:, :, :width], mixed[:, :, width:].transpose(0, 2, 1))
        scores -= scores.max(axis=2, keepdims=True)
        np.exp(scores, out=scores)
        return scores, scores.sum(axis=2)

    def _through_head(self, pooled: Floats) -> Floats:
        first, first_bias, second, second_bias = self._head
        direction = (pooled / np.maximum(_lengths(pooled), MIN_LENGTH)[:, None]).astype(np.float32, copy=False)
        hidden = np.maximum(rows_times(direction, first) + first_bias, 0)
        result: Floats = pooled + (rows_times(hidden, second) + second_bias)
        return result

    def attention(self, ids: Ids) -> Floats:
        """S, the self-attention between the units: [b, n, n] for words of one length; rows sum to 1."""
        scores, total = self._scores(ids, self.tables.features, self.window(ids.shape[1]))
        result: Floats = scores / total[:, :, None]
        return result

    def weights(self, ids: Ids) -> Floats:
        """w, how much each unit counts: [b, n] for words of one length."""
        summed = self.attention(ids).sum(axis=1)
        return product(summed[:, None, :], self.window(ids.shape[1]))[:, 0, :]

    def out_rows(self, ids: Ids) -> Floats:
        """What each unit adds to the vector, before its weight: ids of any shape -> [..., dim]."""
        rows: Floats = self.tables.out[ids] * self.tables.out_scale[ids][..., None]
        return rows

    def window(self, length: int) -> Floats:
        """A_n, kept once computed; two threads that compute it at once store the same numbers."""
        window = self._windows.get(length)
        if window is None:
            window = positional_attention(length, self.spec.dim, self.spec.position_scale).astype(np.float32)
            self._windows[length] = window
        return window

    @cached_property
    def wide(self) -> tuple[Floats, Floats]:
        """Both tables as float32, without their scales: numpy widens float16 slowly, so not row by row."""
        both = _as_float32(self.tables.out), _as_float32(self.tables.features)
        for table in both:
            table.flags.writeable = False
        return both


def _as_float32(rows: NDArray[Any]) -> Floats:
    return rows.astype(np.float32, copy=False)


def _lengths(rows: Floats) -> Floats:
    result: Floats = np.sqrt(np.matmul(rows[:, None, :], rows[:, :, None])[:, 0, 0])
    return result
