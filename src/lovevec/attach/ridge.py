"""Ridge regression with an intercept: the linear map from one space to another that does not overreact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def ridge(source: NDArray[Any], result: NDArray[Any], strength: float) -> tuple[Floats, Floats]:
    """(map [a, b], offset [b]) so that source [n, a] @ map + offset is near result [n, b].

    Normal equations in float64; `strength` is in units of the mean variance of the source, so that it means the same
    in any space.
    """
    source_mean, result_mean = source.mean(axis=0, dtype=np.float64), result.mean(axis=0, dtype=np.float64)
    centred = source - source_mean
    gram = centred.T @ centred
    gram[np.diag_indices_from(gram)] += strength * np.trace(gram) / len(gram)
    slope = np.linalg.solve(gram, centred.T @ (result - result_mean))
    return slope.astype(np.float32), (result_mean - source_mean @ slope).astype(np.float32)
