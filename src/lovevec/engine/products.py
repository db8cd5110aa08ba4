"""Matrix products whose bits depend on their factors alone, not on how many threads the BLAS has.

From a certain size on a BLAS shares a product out among its threads, and then rounds otherwise than one thread would
(measured with OpenBLAS' kernels for Haswell, Zen and Nehalem). So larger products are cut along their result into
blocks below that size. Where the cuts are depends on the shapes alone; numpy computes a stack of products one by one,
so a word's product does not depend on the others in the stack either.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
# One thread computes up to 262,144 multiplications of a matrix product and 460,800 of a vector times a matrix in the
# OpenBLAS that numpy brings from version 2.0 on; 9,216 of the latter in that of numpy 1.26 (up to 512 numbers a row).
MATRIX, VECTOR = 170_000, 300_000 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 6_000
# A last block may be half as large again.
TILE = 12  # rows that Haswell's kernel computes together: cut elsewhere, they round otherwise


def product(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """left [..., m, k] @ right [..., k, n] -> [..., m, n], float32; stacks broadcast as in np.matmul."""
    m, (k, n) = left.shape[-2], right.shape[-2:]
    if m * k * n <= 1.5 * (VECTOR if m == 1 else MATRIX):
        whole: Floats = np.matmul(left, right)
        return whole
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    result = np.empty((*stack, m, n), dtype=np.float32)
    if m == 1:
        for low, high in pairwise(cuts(n, VECTOR // k)):
            result[..., low:high] = np.matmul(left, right[..., low:high])
    elif TILE * k * n > 1.5 * MATRIX and n > 1.5 * TILE:  # not even a few rows fit
        for low, high in pairwise(cuts(n, MATRIX // (TILE * k))):
            result[..., low:high] = product(left, right[..., low:high])
    else:
        for low, high in pairwise(cuts(m, MATRIX // (k * n))):
            result[..., low:high, :] = np.matmul(left[..., low:high, :], right)
    return result


def cuts(size: int, most: int) -> list[int]:
    """Where to cut `size` rows into blocks of at most `most`, multiples of TILE; a small rest joins the last block.

    cuts(100, 40) -> [0, 36, 72, 100];  cuts(80, 40) -> [0, 36, 80]
    """
    step = max(most // TILE, 1) * TILE
    return [*range(0, max(size - step // 2, 1), step), size]


def rows_times(rows: Floats, matrix: Floats) -> Floats:
    """rows [b, k] @ matrix [k, n], one product a row: a row has the same bits in any company."""
    result: Floats = product(rows[:, None, :], matrix)[:, 0, :]
    return result
