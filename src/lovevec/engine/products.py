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
# A block has at most these many; the last one may be half as large again.
MATRIX_MULTIPLICATIONS = 170_000
VECTOR_MULTIPLICATIONS = 300_000 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 6_000
ROWS_PER_TILE = 12  # rows that Haswell's kernel computes together: cut elsewhere, they round otherwise


def product(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """left [..., m, k] @ right [..., k, n] -> [..., m, n], float32; stacks broadcast as in np.matmul."""
    m, (k, n) = left.shape[-2], right.shape[-2:]
    if m * k * n <= 1.5 * (VECTOR_MULTIPLICATIONS if m == 1 else MATRIX_MULTIPLICATIONS):
        whole: Floats = np.matmul(left, right)
        return whole
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    result = np.empty((*stack, m, n), dtype=np.float32)
    if m == 1:
        for low, high in pairwise(cuts(n, VECTOR_MULTIPLICATIONS // k)):
            result[..., low:high] = np.matmul(left, right[..., low:high])
    elif ROWS_PER_TILE * k * n > 1.5 * MATRIX_MULTIPLICATIONS and n > 1.5 * ROWS_PER_TILE:  # not even a few rows fit
        for low, high in pairwise(cuts(n, MATRIX_MULTIPLICATIONS // (ROWS_PER_TILE * k))):
            result[..., low:high] = product(left, right[..., low:high])
    else:
        for low, high in pairwise(cuts(m, MATRIX_MULTIPLICATIONS // (k * n))):
            result[..., low:high, :] = np.matmul(left[..., low:high, :], right)
    return result


def cuts(size: int, most: int) -> list[int]:
    """Where to cut `size` rows into blocks of at most `most`, multiples of ROWS_PER_TILE; a small rest joins the last
    block.

    cuts(100, 40) -> [0, 36, 72, 100];  cuts(80, 40) -> [0, 36, 80]
    """
    step = max(most // ROWS_PER_TILE, 1) * ROWS_PER_TILE
    return [*range(0, max(size - step // 2, 1), step), size]


def rows_times(rows: Floats, matrix: Floats) -> Floats:
    """rows [b, k] @ matrix [k, n], one product a row: the bits of a row do not depend on the other rows."""
    result: Floats = product(rows[:, None, :], matrix)[:, 0, :]
    return result


# Rows of unit length on grids of 2^-11 and of 2^-12: each product is a multiple of 2^-23, and the sizes of those of two
# rows sum to about 1 at most (Cauchy and Schwarz), so that float32's 24 bits hold every sum on the way.
QUERY_BITS, ROW_BITS = 11, 12
ROWS_PER_PRODUCT = 16


def on_grid(rows: Floats, bits: int) -> Floats:
    """Rows rounded to multiples of 2^-bits. A product of rows of at most unit length on the grid of QUERY_BITS with
    such rows on that of ROW_BITS has no rounding at all: it has the same bits in any order of summing, so also beside
    any other rows and in blocks of any shape. A cosine is off by about 0.0002."""
    scale = np.float32(2**bits)
    rounded: Floats = np.rint(rows * scale) / scale
    return rounded


def small_products(rows: Floats, matrix: Floats) -> Floats:
    """rows [b, k] @ matrix [k, n] by products so small that the BLAS takes one thread for each. Else our own threads,
    which share the rows among them, would wait for those of the BLAS. Rows and matrix are on their grids (`on_grid`):
    one row alone, which is not filled up to a block, has the same bits."""
    count, k = rows.shape
    if count == 1 and k * matrix.shape[1] <= VECTOR_MULTIPLICATIONS:
        return product(rows, matrix)
    blocks = np.zeros((-(-count // ROWS_PER_PRODUCT), ROWS_PER_PRODUCT, k), dtype=np.float32)
    blocks.reshape(-1, k)[:count] = rows
    result = np.empty((*blocks.shape[:2], matrix.shape[1]), dtype=np.float32)
    step = max(int(1.5 * MATRIX_MULTIPLICATIONS) // (ROWS_PER_PRODUCT * k), 1)
    for low in range(0, matrix.shape[1], step):
        np.matmul(blocks, matrix[:, low : low + step], out=result[:, :, low : low + step])
    return result.reshape(-1, matrix.shape[1])[:count]
