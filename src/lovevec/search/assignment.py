"""The best way to give each query a record of its own: the assignment with the highest sum of gains.

Queries come one after another. Each looks for the cheapest way to a free record, or to a query that would rather have
none, along which those before it change theirs (shortest augmenting paths; Jonker and Volgenant, 1987), among the few
candidates that each has.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from lovevec.search.blocking import Candidates

NOBODY = -1


def assign(pairs: Candidates, gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[pairs] which are chosen: no query and no record twice, and the sum of their gains, which are above 0, the
    highest there is."""
    options: dict[int, list[tuple[int, float, int]]] = {}
    for place, (query, record, gain) in enumerate(
        zip(pairs.queries.tolist(), pairs.records.tolist(), gains.tolist(), strict=True)
    ):
        if gain > 0:
            options.setdefault(query, []).append((record, gain, place))
    owner: dict[int, int] = {}  # of a record: the query that has it
    chosen: dict[int, int] = {}  # of a query: the place of its pair
    price: dict[int, float] = {}  # of a record
    for query in options:
        _augment(query, options, owner, chosen, price)
    result = np.zeros(len(gains), np.bool_)
    result[list(chosen.values())] = True
    return result


def _augment(
    start: int,
    options: dict[int, list[tuple[int, float, int]]],
    owner: dict[int, int],
    chosen: dict[int, int],
    price: dict[int, float],
) -> None:
    """Give a query a record, or none, in the way that costs least: Dijkstra's algorithm over reduced costs."""
    best = {query: _value(query, options, price) for query in (start,)}
    heap: list[
        tuple[float, int, int, int, int]
    ] = []  # cost, kind (0 free record or none, 1 taken), query, record, place
    cost_of: dict[int, float] = {}  # of a record that is settled
    came: dict[int, tuple[int, int]] = {}  # of a record: the query from which, and the pair
    reached = {start: 0.0}
    queue = [start]
    end: tuple[int, int, int] | None = None
    total = 0.0
    while True:
        while queue:
            query = queue.pop()
            value = best.setdefault(query, _value(query, options, price))
            base = reached[query]
            heappush(heap, (base + value, 0, query, NOBODY, NOBODY))  # the query goes without
            for record, gain, place in options[query]:
                if record not in cost_of:
                    cost = base + value - (gain - price.get(record, 0.0))
                    heappush(heap, (cost, int(record in owner), query, record, place))
        total, _, query, record, place = heappop(heap)
        if record == NOBODY:
            end = (query, record, place)
            break
        if record in cost_of:
            continue
        cost_of[record], came[record] = total, (query, place)
        if record not in owner:
            end = (query, record, place)
            break
        reached[owner[record]] = total
        queue.append(owner[record])
    for record, cost in cost_of.items():
        price[record] = price.get(record, 0.0) + total - cost
    _turn(start, end, came, owner, chosen, options)


def _value(query: int, options: dict[int, list[tuple[int, float, int]]], price: dict[int, float]) -> float:
    """What a query can gain at most at these prices; 0 for none."""
    return max(0.0, *(gain - price.get(record, 0.0) for record, gain, _ in options[query]))


def _turn(
    start: int,
    end: tuple[int, int, int],
    came: dict[int, tuple[int, int]],
    owner: dict[int, int],
    chosen: dict[int, int],
    options: dict[int, list[tuple[int, float, int]]],
) -> None:
    """Change the choices along the way that was found, from its end to its start."""
    query, record, place = end
    while True:
        held = chosen.get(query)
        before = None if held is None else next(one for one, _, at in options[query] if at == held)
        if record == NOBODY:
            chosen.pop(query, None)
        else:
            owner[record], chosen[query] = query, place
        if query == start:
            return
        assert before is not None
        record = before
        query, place = came[record]
