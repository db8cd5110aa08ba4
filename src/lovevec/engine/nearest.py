"""The nearest known words by cosine.

Exact search compares a query with all rows, a block of queries at a time. For many queries in a large table an
approximate index (approximate.py) gives candidates, which are then compared exactly; it may miss some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags
from lovevec.engine.word_map import word_map
from lovevec.errors import LovevecError, Parameter, shown
from lovevec.locks import ForkLock
from lovevec.units.words import word_list

if TYPE_CHECKING:
    from lovevec.engine.approximate import ApproximateIndex

Floats = NDArray[np.float32]
LARGE_TABLE_ROWS = 200_000  # from here on an approximate index may pay
MIN_WORDS_FOR_INDEX = 500  # asked for at once: building the index takes longer than comparing fewer words exactly
COSINES_PER_BLOCK = 1 << 23
CODED_COSINES_PER_BLOCK = 1 << 21  # for coded rows, which are there to save memory
# More than float32 rounding can make of a cosine: what might be among the nearest is computed again in float64.
COSINE_MARGIN = np.float32(1e-5)
NO_COSINE = np.float32(-2)  # below that of any row that counts
COSINES_PER_GROUP = 64
FLOAT16_ROWS_PER_BLOCK = 8192  # converted to float32 at once


class CodedRows(Protocol):
    """Rows of unit length that are stored as small codes, and decoded where they are needed."""

    @property
    def dim(self) -> int:
        """How many numbers a row has."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: NDArray[np.integer]) -> Floats: ...

    def products(self, queries: Floats) -> Floats:
        """The products of queries [q, dim] with all rows: [q, rows]."""


class NeighborIndex:
    """Known words with vectors of their own, among which neighbors are found. What is computed from them is computed
    when first asked for, by one thread.

    `vectors` [words, dim], or a function that makes them, are of unit length unless `lengths` holds theirs. They are
    float32: 192 MB for 160,000 words of 300 dimensions. Half of that in float16 would have to be converted for every
    block of queries, which takes longer than comparing them. Where memory is dearer than that time, `vectors` are coded
    rows: they are decoded anew for every call, a block at a time, and the neighbors are the same.
    """

    def __init__(
        self,
        words: Sequence[str],
        vectors: Floats | CodedRows | Callable[[], Floats],
        lengths: NDArray[np.floating] | None = None,
    ) -> None:
        self.words, self.lengths = words, lengths
        self._source = vectors
        self._place: Mapping[str, int] | None = None
        self._approximate: ApproximateIndex | None = None
        self._lock = ForkLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return NeighborIndex, (self.words, self._source, self.lengths)

    @property
    def place(self) -> Mapping[str, int]:
        """The row of each word."""
        if self._place is None:
            with self._lock:
                if self._place is None:
                    self._place = word_map(self.words)
        return self._place

    @property
    def vectors(self) -> Floats | CodedRows:
        """The words' own vectors [words, dim], computed now if they were given as a function."""
        source = self._source
        if callable(source):
            with self._lock:
                source = self._source
                if callable(source):
                    source = self._source = source()
        return source

    def neighbors(
        self,
        word: str | Iterable[str] | NDArray[Any],
        k: int,
        embed: Callable[[Sequence[str]], Floats],
        spelled: Callable[[str], str] = str,
        approximate: bool | None = None,
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """The k nearest known words with their cosine, nearest first; of a list of words a list for each.

        `embed` gives words vectors of unit length. The word itself, which is `spelled(word)` among the known words, is
        left out; an empty word has no neighbors. An array of numbers, [dim] or [n, dim], holds vectors instead of
        words: then nothing is left out, and a vector of zeros has no neighbors.

        `approximate` says whether an index is used that may miss some; None leaves it to `approximates`.
        """
        check_count(k)
        if approximate is not None:
            check_flags(approximate=approximate)
        if isinstance(word, np.ndarray) and word.dtype.kind in "fiub" and word.shape != (0,):
            near = self._near_vectors(unit_vectors(word, _dim(self.vectors)), k, approximate)
            return near[0] if word.ndim == 1 else near
        words = [word] if isinstance(word, str) else word_list(word)
        queries = embed(words)
        own = np.array([self.place.get(spelled(each), -1) for each in words], dtype=np.int64)
        lists = [
            [(self.words[row], cosine) for row, cosine in near] if each.strip() else []
            for each, near in zip(words, self._nearest(queries, k, own, approximate), strict=True)
        ]
        return lists[0] if isinstance(word, str) else lists

    def approximates(self, count: int) -> bool:
        """Whether neighbors of `count` words are searched approximately: in a table of LARGE_TABLE_ROWS and more, if
        the extra `ann` is installed, for MIN_WORDS_FOR_INDEX at once or where the index has been built already."""
        if len(self.words) < LARGE_TABLE_ROWS or find_spec("faiss") is None:
            return False
        return count >= MIN_WORDS_FOR_INDEX or self._approximate is not None

    def _nearest(
        self, queries: Floats, k: int, leave_out: NDArray[np.int64] | None, approximate: bool | None
    ) -> list[list[tuple[int, float]]]:
        rows = self.vectors
        by_index = self.approximates(len(queries)) if approximate is None else approximate
        if not by_index or not isinstance(rows, np.ndarray):  # an index of coded rows would take the memory they save
            return nearest(queries, rows, k, leave_out, self.lengths)
        if self._approximate is None:
            from lovevec.engine.approximate import ApproximateIndex

            with self._lock:
                if self._approximate is None:
                    self._approximate = ApproximateIndex(rows, self.lengths)
        own_rows = np.full(len(queries), -1) if leave_out is None else leave_out
        candidates = self._approximate.candidates(queries, k + 1)
        return [
            _rank(query, near[(near >= 0) & (near != own)], rows, k, self.lengths)
            for query, near, own in zip(queries, candidates, own_rows, strict=True)
        ]

    def _near_vectors(self, queries: Floats, k: int, approximate: bool | None = None) -> list[list[tuple[str, float]]]:
        near = self._nearest(queries, k, None, approximate)
        return [
            [(self.words[row], cosine) for row, cosine in rows] if query.any() else []
            for query, rows in zip(queries, near, strict=True)
        ]

    def analogy(
        self,
        words: Sequence[str],
        k: int,
        embed: Callable[[Sequence[str]], Floats],
        spelled: Callable[[str], str] = str,
    ) -> list[tuple[str, float]]:
        """The k known words nearest to b - a + c, where `words` are a, b, c; these three are left out themselves."""
        check_count(k)
        if not all(word.strip() for word in words):
            raise LovevecError("an analogy needs three words; one of these is empty")
        a, b, c = embed(words).astype(np.float64)
        own = {spelled(word) for word in words}
        (near,) = self._near_vectors(unit_vectors(b - a + c, len(a)), int(k) + len(own))
        return [(word, cosine) for word, cosine in near if word not in own][:k]


def check_count(k: object) -> None:
    """Raise an error unless `k` is a number of neighbors: whole, at least 1."""
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise LovevecError(f"{Parameter('k')} is {shown(k)}: must be at least 1, a whole number")


def is_zero(k: object) -> bool:
    """Whether no neighbors are wanted. Asked of a number only: a data frame has no truth value."""
    return isinstance(k, (int, np.integer)) and k == 0


def unit_vectors(vectors: NDArray[Any], dim: int) -> Floats:
    """One vector [dim], or several [n, dim], as rows of unit length [n, dim]; zeros stay zeros."""
    if vectors.ndim not in (1, 2) or vectors.shape[-1] != dim:
        raise LovevecError(
            f"a vector of {dim} numbers expected, or several [n, {dim}], not an array of shape {vectors.shape}"
        )
    rows = np.atleast_2d(vectors).astype(np.float64)
    if not np.isfinite(rows).all():
        raise LovevecError("a vector holds NaN or Inf: it has no neighbors")
    peak = np.abs(rows).max(axis=1, keepdims=True)
    rows /= np.where(peak > 0, peak, 1)  # so that squares neither overflow nor vanish
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    unit: Floats = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def _dim(rows: Floats | CodedRows) -> int:
    return rows.shape[1] if isinstance(rows, np.ndarray) else rows.dim


def nearest(
    queries: Floats,
    rows: Floats | CodedRows,
    k: int,
    leave_out: NDArray[np.int64] | None = None,
    lengths: NDArray[np.floating] | None = None,
) -> list[list[tuple[int, float]]]:
    """For each query [q, dim] the k nearest of `rows` [n, dim]: (row, cosine), nearest first, equal ones in the order
    of the rows.

    Queries are of unit length, and so are the rows, unless `lengths` [n] holds theirs. `leave_out` [q] is for each
    query the one row that does not count, or -1.

    The answer to a query does not depend on the others: float32 products only find candidates.
    """
    results: list[list[tuple[int, float]]] = []
    numbers = COSINES_PER_BLOCK if isinstance(rows, np.ndarray) else CODED_COSINES_PER_BLOCK
    step = max(1, numbers // max(len(rows), 1))
    for low in range(0, len(queries), step):
        block = queries[low : low + step]
        cosine = _products(block, rows)
        if lengths is not None:
            cosine /= lengths
        if leave_out is not None:
            left_out = leave_out[low : low + step]
            queries_with_one = np.flatnonzero(left_out >= 0)
            cosine[queries_with_one, left_out[queries_with_one]] = 2 * NO_COSINE
        results += [_best(query, near, rows, k, lengths) for query, near in zip(block, cosine, strict=True)]
    return results


def _products(queries: Floats, rows: NDArray[Any] | CodedRows) -> Floats:
    """queries [q, dim] @ rows.T; float16 and coded rows become float32 a block at a time, never all at once."""
    if not isinstance(rows, np.ndarray):
        return rows.products(queries)
    if rows.dtype == np.float32:
        whole: Floats = queries @ rows.T
        return whole
    result = np.empty((len(queries), len(rows)), dtype=np.float32)
    for low in range(0, len(rows), FLOAT16_ROWS_PER_BLOCK):
        block = rows[low : low + FLOAT16_ROWS_PER_BLOCK].astype(np.float32)
        result[:, low : low + len(block)] = queries @ block.T
    return result


def _best(
    query: Floats, near: Floats, rows: Floats | CodedRows, k: int, lengths: NDArray[np.floating] | None
) -> list[tuple[int, float]]:
    return _rank(query, np.flatnonzero(near >= max(_least(near, k) - COSINE_MARGIN, NO_COSINE)), rows, k, lengths)


def _rank(
    query: Floats, places: NDArray[np.int64], rows: Floats | CodedRows, k: int, lengths: NDArray[np.floating] | None
) -> list[tuple[int, float]]:
    # Row by row, the products of one row are summed in an order that does not depend on how many rows there are.
    exact = (rows[places].astype(np.float64) * query).sum(axis=1)
    if lengths is not None:
        exact /= lengths[places]
    best = np.lexsort((places, -exact))[:k]
    return [(int(places[i]), float(min(max(exact[i], -1.0), 1.0))) for i in best]


def _least(near: Floats, k: int) -> np.float32:
    """The k-th largest of `near`. Numbers below the k-th largest of the groups' largest ones cannot be it, so only the
    few others are partitioned."""
    if k >= len(near):
        lowest: np.float32 = np.float32(-np.inf)
        return lowest
    groups = len(near) // COSINES_PER_GROUP
    if groups >= k:
        largest = near[: groups * COSINES_PER_GROUP].reshape(groups, COSINES_PER_GROUP).max(axis=1)
        near = near[near >= np.partition(largest, -k)[-k]]
    result: np.float32 = np.partition(near, -k)[-k]
    return result
