"""How quickly is a collection indexed and searched? love.index beside bm25s (words, and trigrams), and rapidfuzz.

    python bench/search.py [--texts 20000] [--queries 500]

Texts are eight words each, by Zipf's law, with a made-up name and a number; queries are some of them, mistyped. Seconds
to index, milliseconds of a query by itself (median) and in a list, and the ratio to bm25s of words in the same run.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged_texts

SYLLABLES = ("ka", "ve", "lo", "ri", "zen", "tor", "mi", "da", "xo", "bri", "qua", "nex", "fi", "sol", "tra", "vi")
Search = Callable[[Sequence[str]], object]


def made_texts(love: LOVE, count: int, seed: int = 0) -> list[str]:
    """Texts of known words, each with a name that one in five texts has alone, and a number."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(10, len(love.words) + 10)
    draws = rng.choice(len(love.words), (count, 6), p=share / share.sum())
    names = ["".join(rng.choice(SYLLABLES, rng.integers(2, 5))) for _ in range(max(count // 5, 1))]
    words, numbers = love.words, rng.integers(0, 3000, count).tolist()
    return [
        f"{' '.join(words[row] for row in text)} {names[place % len(names)]} {numbers[place]}"
        for place, text in enumerate(draws.tolist())
    ]


def words_of(text: str) -> list[str]:
    """In lower case."""
    return re.findall(r"\w+", text.lower())


def trigrams_of(text: str) -> list[str]:
    """Of "Lima": " li", "lim", "ima", "ma "."""
    return [f" {word} "[at : at + 3] for word in words_of(text) for at in range(len(word))]


def by_index(love: LOVE, texts: list[str]) -> Search:
    """love.index, its state built."""
    index = love.index(texts)
    index.search(texts[0])
    return index.search


def by_bm25s(parts: Callable[[str], list[str]], texts: list[str]) -> Search:
    """BM25 over what `parts` makes of a text."""
    import bm25s

    index = bm25s.BM25(backend="numpy")
    index.index([parts(text) for text in texts], show_progress=False)
    return lambda queries: index.retrieve(
        [parts(query) for query in ([queries] if isinstance(queries, str) else queries)], k=10, show_progress=False
    )


def by_rapidfuzz(texts: list[str]) -> Search:
    """The ratio of edits, of all texts."""
    from rapidfuzz import fuzz, process

    return lambda queries: [
        process.extract(query, texts, scorer=fuzz.ratio, limit=10)
        for query in ([queries] if isinstance(queries, str) else queries)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args()
    love = LOVE.load()
    texts = made_texts(love, options.texts)
    queries = damaged_texts(texts[: options.queries], Noise("typo", 0.3), 0)
    ways: dict[str, Callable[[], Search]] = {
        "bm25s, words": lambda: by_bm25s(words_of, texts),
        "bm25s, trigrams": lambda: by_bm25s(trigrams_of, texts),
        "love.index": lambda: by_index(love, texts),
        "rapidfuzz": lambda: by_rapidfuzz(texts),
    }
    print(f"{len(texts):,} texts, {len(queries):,} mistyped queries.\n")
    print("| way             | s to index | ms, one query | ms, in a list | one query, ratio |")
    print("|-----------------|-----------:|--------------:|--------------:|-----------------:|")
    first = None
    for name, make in ways.items():
        start = time.perf_counter()
        search = make()
        indexed = time.perf_counter() - start
        some = queries[: 20 if name == "rapidfuzz" else len(queries)]
        alone = []
        for query in some:
            start = time.perf_counter()
            search(query)
            alone.append(1000 * (time.perf_counter() - start))
        start = time.perf_counter()
        search(some)
        together = 1000 * (time.perf_counter() - start) / len(some)
        median = statistics.median(alone)
        first = median if first is None else first
        print(f"| {name:15} | {indexed:10.1f} | {median:13.2f} | {together:13.2f} | {median / first:16.2f} |")


if __name__ == "__main__":
    main()
