"""The nearest known words: milliseconds a query, batched and one by one, over 34,000 known words.

python bench/neighbors.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
from engines import typos

from lovevec import LOVE
from lovevec.engine.nearest import NeighborIndex


def milliseconds(run: Callable[[], object], runs: int, queries: int) -> float:
    """The median over several runs, for one query."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times) / queries


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=int, default=34_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    love = LOVE.load()
    index = NeighborIndex(love.words[: options.known], lambda: love.embed(love.words[: options.known]))
    words = typos(love.words, options.queries)
    vector = dict(zip(words, love.embed(words), strict=True))  # so that the search alone is measured

    def embed(words: Sequence[str]) -> np.ndarray:
        return np.array([vector[word] for word in words])

    index.neighbors(words[0], 10, embed)
    batched = milliseconds(lambda: index.neighbors(words, 10, embed), options.runs, len(words))
    single = milliseconds(lambda: [index.neighbors(word, 10, embed) for word in words[:50]], options.runs, 50)
    print(f"| {options.known:,} known words, 10 nearest | ms a query |\n|---|--:|")
    print(f"| {len(words):,} queries at once | {batched:.2f} |\n| one by one | {single:.2f} |")


if __name__ == "__main__":
    main()
