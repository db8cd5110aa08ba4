"""The fold: everything of the positional encoder that is linear in the unit vectors, multiplied out once.

    features = E W_V [W_q | W_k]      vocabulary x 2k
    out      = E W_V W_O              vocabulary x d
    Q, K     = A_n features[ids]      A_n the constant positional attention of length n
    w        = 1ᵀ softmax(Q Kᵀ / √k) A_n
    v        = normalise(Σ_j w_j out[id_j])

So a word costs n rows of two tables and a tiny attention. Words of equal length are computed together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.positions import positional_attention
from lovevec.engine.spec import EncoderSpec
from lovevec.ragged import Ragged

Floats = NDArray[np.float32]
BLOCK_UNITS = 32_768
HEAD = ("0.weight", "0.bias", "2.weight", "2.bias")


class Fold:
    """The numpy engine: holds the folded tables and changes nothing after it is built."""

    def __init__(self, spec: EncoderSpec, weights: Mapping[str, Floats]) -> None:
        self.spec = spec
        table = weights["table"] @ weights["factor"] if "factor" in weights else weights["table"]
        value = weights["encoder.value"]
        both = np.concatenate([weights["encoder.query"], weights["encoder.key"]], axis=1)
        self.features: Floats = table @ (value @ both)
        self.out: Floats = table @ (value @ weights["encoder.output"])
        self.head = [weights[f"encoder.head.{name}"] for name in HEAD] if spec.head else None
        self.windows: dict[int, Floats] = {}

    def __call__(self, units: Ragged) -> Floats:
        """Rows of table-row ids -> unit vectors [words, dim]."""
        result = np.empty((len(units), self.spec.dim), dtype=np.float32)
        for rows, ids in units.equal_lengths(BLOCK_UNITS):
            result[rows] = self._equal_length(ids)
        return result

    def _equal_length(self, ids: NDArray[np.integer]) -> Floats:
        """[b, n] -> [b, d]."""
        weights = self.weights(ids)
        pooled = np.matmul(weights[:, None, :], self.out[ids])[:, 0, :]
        if self.head is not None:
            first, first_bias, second, second_bias = self.head
            hidden = np.maximum(normalise(pooled) @ first.T + first_bias, 0)
            pooled = pooled + hidden @ second.T + second_bias
        return normalise(pooled)

    def weights(self, ids: NDArray[np.integer]) -> Floats:
        """w, how much each unit counts: [b, n] for words of one length."""
        count, length = ids.shape
        width = self.spec.key_width
        window = self.window(length)
        mixed = (window @ self.features[ids.T].reshape(length, -1)).reshape(length, count, 2 * width)
        query = mixed[:, :, :width].transpose(1, 0, 2)
        key = mixed[:, :, width:].transpose(1, 2, 0)
        scores = np.matmul(query, key) * np.float32(width**-0.5)
        scores -= scores.max(axis=2, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=2, keepdims=True)
        weights: Floats = scores.sum(axis=1) @ window
        return weights

    def window(self, length: int) -> Floats:
        """A_n, kept once computed; two threads that compute it at once store the same numbers."""
        found = self.windows.get(length)
        if found is None:
            found = positional_attention(length, self.spec.dim, self.spec.position_scale).astype(np.float32)
            self.windows[length] = found
        return found


def fold_sizes(spec: EncoderSpec, rows: int, factor: int) -> dict[str, list[int]]:
    """The tensors that the fold needs, with their shapes."""
    dim, key, head = spec.dim, spec.key_width, spec.head
    sizes = {"table": [rows, factor or dim], "encoder.value": [dim, dim], "encoder.output": [dim, dim]}
    sizes |= {"encoder.query": [dim, key], "encoder.key": [dim, key]}
    if factor:
        sizes["factor"] = [factor, dim]
    if head:
        shapes = ([head, dim], [head], [dim, head], [dim])
        sizes |= {f"encoder.head.{name}": shape for name, shape in zip(HEAD, shapes, strict=True)}
    return sizes


def normalise(rows: Floats) -> Floats:
    """Rows to unit length."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    result: Floats = rows / np.maximum(length, np.finfo(np.float32).tiny)
    return result
