"""Rows of a batch, each computed as if it were alone, so that a word's vector does not depend on its company."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
TINY = np.float32(1e-30)


def rows_times(rows: Floats, matrix: Floats) -> Floats:
    """rows @ matrix, one product a row: BLAS rounds by the shape of the product, so every row gets the same shape."""
    result: Floats = np.matmul(rows[:, None, :], matrix)[:, 0, :]
    return result


def normalized(rows: Floats) -> Floats:
    """Rows at length 1, along the last axis."""
    length = np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
    result: Floats = rows / np.maximum(length, TINY)
    return result
