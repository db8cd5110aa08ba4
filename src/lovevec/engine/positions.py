"""Positional attention: constant n x n weights for each input length n, softmax(P Pᵀ / s) over sinusoids P."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sinusoids(length: int, dim: int) -> NDArray[np.float64]:
    """Fixed position embeddings [length, dim]: even columns sine, odd columns cosine, falling frequencies."""
    position = np.arange(length)[:, None]
    even = np.arange(0, dim, 2)
    angle = position / 10_000.0 ** (even / dim)
    out = np.empty((length, dim))
    out[:, 0::2] = np.sin(angle)
    out[:, 1::2] = np.cos(angle[:, : dim // 2])
    return out


def positional_attention(length: int, dim: int, scale: float) -> NDArray[np.float64]:
    """A_n = softmax(P Pᵀ / s), [length, length]: how much each position takes from each other."""
    position = sinusoids(length, dim)
    logits = position @ position.T / scale
    weights: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def attention_by_length(longest: int, dim: int, scale: float) -> NDArray[np.float32]:
    """[longest + 1, longest, longest]: entry n holds A_n in its corner and zeros elsewhere."""
    table = np.zeros((longest + 1, longest, longest), dtype=np.float32)
    for length in range(1, longest + 1):
        table[length, :length, :length] = positional_attention(length, dim, scale)
    return table


def shared_attention(longest: int, dim: int, scale: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """All A_n up to `longest` from one table, since only the sums of the rows depend on n:

    A_n[i, j] = table[i, j] * share[n, i],    table [longest, longest], share [longest + 1, longest]
    """
    position = sinusoids(longest, dim)
    logits = position @ position.T / scale
    table = np.exp(logits - np.diagonal(logits)[:, None])
    share = np.zeros((longest + 1, longest))
    share[1:] = 1 / np.cumsum(table, axis=1).T
    return table.astype(np.float32), share.astype(np.float32)
