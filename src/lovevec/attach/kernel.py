"""The search of neighbors.py in one compiled pass (numba), word after word. Everything is a whole number, so that both
find the very same neighbors.

    cosines    products of int16 with int8, summed in int32: the compiler makes one instruction of 16 or 32 of them
    the best   by counting how many have each cosine, roughly; only those that are left are put in order
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compile import compiled
from lovevec.near.kernel import put_first

LEVEL_BITS, LEVELS = 22, 1 << 10  # of a key of 32 bits: a cosine by about 0.004
LOWEST = LEVELS // 2


@compiled
def search(
    queries: Any, centres: Any, known: Any, starts: Any, shifts: Any, place_bits: Any, probes: Any, room: Any, keys: Any
) -> Any:
    """The keys of the nearest known words of each query into `keys` [queries, count], the nearest first; what is not
    filled stays. Keys are negated here, so that the nearest has the least."""
    clusters, behind, counts = room
    for query in range(len(queries)):
        steps = queries[query]
        for cluster in range(len(centres)):
            clusters[cluster] = key(steps, centres, cluster, shifts[0], place_bits)
        many = 0
        for probe in range(put_best_first(clusters, len(centres), probes, counts)):
            cluster = ~clusters[probe] & ((1 << place_bits) - 1)
            for place in range(starts[cluster], starts[cluster + 1]):
                behind[many] = key(steps, known, place, shifts[1], place_bits)
                many += 1
        for place in range(put_best_first(behind, many, keys.shape[1], counts)):
            keys[query, place] = ~behind[place]


@compiled
def key(query: Any, codes: Any, place: Any, shift: Any, place_bits: Any) -> Any:
    """The negated key of one row of codes."""
    total = np.int32(0)
    for column in range(len(query)):
        total = np.int32(total + np.int32(query[column]) * np.int32(codes[place, column]))
    return ~(((total >> shift) << place_bits) + place)


@compiled
def put_best_first(behind: Any, many: Any, most: Any, counts: Any) -> Any:
    """Put the least `most` of the first `many` numbers first, in order; returns how many these are."""
    if many > most:
        counts[:] = 0
        for place in range(many):
            counts[(behind[place] >> LEVEL_BITS) + LOWEST] += 1
        level, total = 0, counts[0]
        while total < most:
            level += 1
            total += counts[level]
        bar, kept = (level - LOWEST + 1) << LEVEL_BITS, 0
        for place in range(many):  # without a branch: which are kept cannot be foretold
            number = behind[place]
            behind[kept] = number
            kept += number < bar
        many = kept
    most = min(most, many)
    put_first(behind, 0, most, many)
    return most


def room(clusters: int, members: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Where a pass works: one for each thread. `members` is as many as all probed clusters can have."""
    return np.zeros(clusters, np.int32), np.zeros(members, np.int32), np.zeros(LEVELS, np.int32)
