"""How the time for hard negatives and synonyms grows with the number of words, beside comparing all pairs.

    python bench/hard_negatives.py            up to 34,000 words, about a minute on two cores
    python bench/hard_negatives.py --full     up to 300,000 words

Words are the most frequent of English when `LOVEVEC_DATA` (by default ../shared/data from the repository)
has them, else made up. Processor time grows as words to the power of `growth` from one line to the next.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from lovevec.train.hard_negatives import hard_negatives
from lovevec.train.synonyms import find_synonyms

SIZES = (5_000, 10_000, 34_000)
FULL_SIZES = (*SIZES, 100_000, 300_000)
ALL_PAIRS_UP_TO = 34_000
SYNONYMS_UP_TO = 100_000
DIMENSIONS = 100
DATA = Path(os.environ.get("LOVEVEC_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def read_or_make_words(count: int) -> tuple[list[str], str]:
    """Give the `count` most frequent words, or as many made-up ones, and say which."""
    path = DATA / "words" / "wordfreq_en_top.tsv"
    if path.exists():
        with path.open(encoding="utf-8") as file:
            return [line.split("\t")[0] for line, _ in zip(file, range(count), strict=False)], path.name
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    share = 1 / np.arange(3, len(letters) + 3)
    words: dict[str, None] = {}
    while len(words) < count:
        lengths = np.clip(rng.normal(7.5, 2.5, count).astype(int), 2, None)
        drawn = rng.choice(letters, (count, lengths.max()), p=share / share.sum())
        words.update(dict.fromkeys("".join(row[:length]) for row, length in zip(drawn, lengths, strict=True)))
    return list(words)[:count], "made-up words"


def all_pairs(words: list[str], k: int = 100) -> None:
    """Compare every pair and pick the k nearest of each row: what there is to beat."""
    for start in range(0, len(words), 256):
        strip = words[start : start + 256]
        table = cdist(strip, words, scorer=Levenshtein.distance, dtype=np.uint8, workers=-1)
        for row in table:
            np.argpartition(row, k)[:k]


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Time one run: (wall, processor) seconds; processor time tells a busy machine from slow code."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    """Print a Markdown table, one line per size, as soon as each is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="go on to 300,000 words")
    full = parser.parse_args().full
    sizes = FULL_SIZES if full else SIZES
    words, source = read_or_make_words(sizes[-1])
    vectors = np.random.default_rng(0).standard_normal((len(words), DIMENSIONS), dtype=np.float32)
    print(f"{source}; k = 100; {os.cpu_count()} cores; synonyms of {DIMENSIONS}-d vectors\n")
    print("| words | hard negatives s | processor s | words/s | growth | all pairs s | synonyms s |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    before: tuple[int, float] | None = None
    for size in sizes:
        some = words[:size]
        wall, processor = seconds(lambda some=some: hard_negatives(some))
        growth = f"{math.log(processor / before[1]) / math.log(size / before[0]):.2f}" if before else "–"
        brute = f"{seconds(lambda some=some: all_pairs(some))[0]:.1f}" if size <= ALL_PAIRS_UP_TO else "–"
        rows = vectors[:size]
        same = f"{seconds(lambda rows=rows: find_synonyms(rows))[0]:.1f}" if size <= SYNONYMS_UP_TO else "–"
        cells = (f"{size:,}", f"{wall:.1f}", f"{processor:.1f}", f"{size / wall:,.0f}", growth, brute, same)
        print(f"| {' | '.join(cells)} |", flush=True)
        before = size, processor


if __name__ == "__main__":
    main()
