"""The nearest known words: milliseconds a query, batched and one by one, over 34,000 known words.

python bench/neighbors.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from engines import typos

from lovevec import LOVE
from lovevec.engine.nearest import Known


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
    given = parser.parse_args()
    love = LOVE.load()
    known = Known(love.words[: given.known], love.embed)
    words = typos(love.words, given.queries)
    vectors = love.embed(words)
    known.neighbors(vectors[:1], words[:1], 10)
    batched = milliseconds(lambda: known.neighbors(vectors, words, 10), given.runs, len(words))
    single = milliseconds(
        lambda: [known.neighbors(vectors[i : i + 1], words[i : i + 1], 10) for i in range(50)], given.runs, 50
    )
    print(f"| {given.known:,} known words, 10 nearest | ms a query |\n|---|--:|")
    print(f"| {len(words):,} queries at once | {batched:.2f} |\n| one by one | {single:.2f} |")


if __name__ == "__main__":
    main()
