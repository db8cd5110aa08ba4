"""N-grams as fastText and floret have them, for vectors that exist: rows that make the known words, by least squares.

    <where> with n-grams of 3 to 6 characters: <wh whe her ere re> <whe … where>, each hashed to one of 2^17 rows
    a word is the mean of its rows:  v = A w,  A [words, rows] sparse
    w minimises |A w - U|² + λ |w|², U the target's vectors at unit length

fastText learns its rows from running text, together with the words'; here they can only be fitted to the words', which
is all that a program has that gets nothing but vectors. The best rows there are in that sense are found by conjugate
gradients, so that nothing depends on a rate of learning. λ was chosen on words held back of another target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.read.fasttext_bin import ngram_buckets
from lovevec.vectors.rows import normalized
from lovevec_lab.methods.fallback import FallbackMethod
from lovevec_lab.methods.method import Bools, Floats, Parameters
from lovevec_lab.methods.table import Table

SHORTEST, LONGEST = 3, 6
BUCKETS = 1 << 17
RIDGE = 0.01
STEPS, CLOSE = 25, 3e-3  # of conjugate gradients: at most, and when the residual is this small


class NGrams(FallbackMethod):
    """The table, and behind it rows of n-grams that were fitted to it."""

    def __init__(self, table: Table, ridge: float = RIDGE) -> None:
        super().__init__(table, "n-grams", Parameters(table.parameters.embedding + BUCKETS * table.dim))
        vectors = normalized(np.asarray(table.vectors, dtype=np.float32))
        self.rows = least_squares(mean_matrix(table.words), vectors, ridge)

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The mean of each word's rows; a word too short to have an n-gram has none."""
        means = mean_matrix(words)
        covered: Bools = np.diff(means.indptr) > 0
        return (means @ self.rows).astype(np.float32), covered


def mean_matrix(words: Sequence[str]) -> Any:
    """A [words, rows]: 1 over the number of its n-grams where a word has one."""
    owners, buckets = ngram_buckets([word.encode(errors="surrogatepass") for word in words], SHORTEST, LONGEST, BUCKETS)
    return means_of(owners, buckets, (len(words), BUCKETS))


def means_of(owners: NDArray[np.int64], rows: NDArray[np.int64], shape: tuple[int, int]) -> Any:
    """The sparse matrix [words, rows] that gives each word the mean of its rows: `rows[i]` is one of `owners[i]`'s."""
    from scipy.sparse import csr_array

    counts = np.bincount(owners, minlength=shape[0])
    return csr_array(((1 / counts[owners]).astype(np.float32), (owners, rows)), shape=shape)


def least_squares(means: Any, vectors: Floats, ridge: float = RIDGE) -> NDArray[np.float32]:
    """The rows [rows, dim] that minimise the squares, all dimensions at once: `means` sparse [words, rows]."""
    count = means.shape[1]
    used = np.unique(means.indices)  # rows that no word asks for stay zero
    means = means[:, used]
    transposed = means.T.tocsr()
    residual = transposed @ vectors
    solution, direction = np.zeros_like(residual), residual.copy()
    size = first = np.einsum("ij,ij->j", residual, residual)
    for _ in range(STEPS):
        image = transposed @ (means @ direction) + np.float32(ridge) * direction
        step = size / np.maximum(np.einsum("ij,ij->j", direction, image), 1e-30)
        solution += step * direction
        residual -= step * image
        after = np.einsum("ij,ij->j", residual, residual)
        if np.all(after <= CLOSE**2 * first):
            break
        direction = residual + (after / np.maximum(size, 1e-30)) * direction
        size = after
    rows = np.zeros((count, vectors.shape[1]), np.float32)
    rows[used] = solution
    return rows
