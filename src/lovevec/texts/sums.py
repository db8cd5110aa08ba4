"""Sums of rows, one for each text. Rows are added one after the other in blocks of fixed size, so that a text's sum has
the same bits whatever other texts are in the call, by numpy and by the compiled core alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core

Floats = NDArray[np.float32]
ROWS_PER_SUM = 256


def sum_rows(
    vectors: NDArray[Any], chosen: NDArray[np.int64], ends: NDArray[np.int64], compiled: bool = False
) -> Floats:
    """[len(ends) - 1, dim]: row i is the sum of vectors[chosen[ends[i] : ends[i + 1]]].

    More than ROWS_PER_SUM rows are added up block by block, and then the blocks' sums.
    """
    counts = np.diff(ends)
    if counts.max(initial=0) > ROWS_PER_SUM:
        blocks = -(-counts // ROWS_PER_SUM)
        number = np.arange(blocks.sum()) - np.repeat(np.cumsum(blocks) - blocks, blocks)
        starts = np.repeat(ends[:-1], blocks) + number * ROWS_PER_SUM
        block_sums = sum_rows(vectors, chosen, np.append(starts, ends[-1]), compiled)
        return sum_rows(block_sums, np.arange(len(starts)), np.append(0, np.cumsum(blocks)), compiled)
    result = np.empty((len(counts), vectors.shape[1]), dtype=np.float32)
    (core().sum_rows if compiled else _add_in_turn)(vectors, chosen, ends, result)
    return result


def _add_in_turn(vectors: NDArray[Any], chosen: NDArray[np.int64], ends: NDArray[np.int64], result: Floats) -> None:
    """The first rows of all sums are added first, then the second ones: numpy loops over rows, not over sums."""
    counts = np.diff(ends)
    longest_first = np.argsort(-counts, kind="stable")
    starts, counts = ends[:-1][longest_first], counts[longest_first]
    sums = np.zeros_like(result)
    for step in range(int(counts.max(initial=0))):
        unfinished = int(np.searchsorted(-counts, -step, side="left"))
        sums[:unfinished] += vectors[chosen[starts[:unfinished] + step]]
    result[longest_first] = sums
