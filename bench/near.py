"""How many unknown words a second, in lists, the whole path? Beside symspellpy and fastText; then one by the command.

    python bench/near.py [--words 200000] [--runs 5]       # one call at a time: bench/latency.py

The words are distinct misspellings of known words, as damage/misspell.py makes them, none of them known. All ways run
in turn, several times over, so that a busy machine is unfair to none. Rates are medians; ratios are medians of ratios
within a turn. `CPU` is what a word costs on all cores together, which says more where others use the machine too.
symspellpy has the same known words and looks up the nearest within two edits (Verbosity.TOP), without a vector;
fastText (bench/engines.py says how to install it) makes a vector of n-grams, without a reading.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from engines import DIM, FASTTEXT, one_by_one, ratio_cells, word_vector_of_fasttext
from startup import whole

from lovevec import LOVE
from lovevec.damage.misspell import misspell
from lovevec_lab.methods.symspell import SymSpellDictionary

UNKNOWN = "tommorow"
SHARES = {"numpy": 0.1, "symspellpy": 0.02}  # of the words: the slow ones would take all day
ALL, SPELLING = "unknown words, compiled", "unknown words by spelling only, compiled"
ASKED = {ALL: 2.5, SPELLING: 8.0}  # times the rate of fastText
Way = Callable[[Sequence[str]], object]


class Cost(NamedTuple):
    """Of a word: seconds by the clock, and of all cores."""

    wall: float
    cpu: float


def misspellings(love: LOVE, count: int, seed: int = 0) -> list[str]:
    """Distinct unknown strings in random order, in memory as if read from a file."""
    rng = np.random.default_rng(seed)
    plain = [word for word in love.words if word.isalpha() and len(word) > 2]
    found: dict[str, None] = {}
    while len(found) < count:
        found |= dict.fromkeys(string for string in misspell(plain, rng) if string not in love)
    return "\n".join(rng.permutation(list(found))[:count]).split("\n")


def cost_of(run: Way, words: Sequence[str]) -> Cost:
    """What a word costs."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(words)
    return Cost((time.perf_counter() - wall) / len(words), (time.process_time() - cpu) / len(words))


def ways_of(love: LOVE, words: Sequence[str]) -> dict[str, tuple[Way, Sequence[str]]]:
    """Name -> what is run, and on which words."""
    compiled, numpy = LOVE.load(engine="compiled"), LOVE.load(engine="numpy")
    known = [love.words[row] for row in np.random.default_rng(1).permutation(len(love.words)).tolist()]
    dictionary = SymSpellDictionary(love.words)
    ways: dict[str, tuple[Way, Sequence[str]]] = {
        ALL: (lambda some: compiled.embed(some, progress=False), words),
        "unknown words, numpy": (lambda some: numpy.embed(some, progress=False), words),
        "symspellpy": (lambda some: [dictionary.correct(word) for word in some], words),
        SPELLING: (compiled.impute, words),
        "known words": (lambda some: compiled.embed(some, progress=False), known),
    }
    try:
        with tempfile.TemporaryDirectory() as folder:
            ways[FASTTEXT] = (one_by_one(word_vector_of_fasttext(love.words, Path(folder)), DIM), words)
    except ImportError as error:
        print(f"{FASTTEXT}: left out ({error})", file=sys.stderr)
    return {
        name: (run, some[: max(1, int(len(some) * next((share for key, share in SHARES.items() if key in name), 1)))])
        for name, (run, some) in ways.items()
    }


def commands(runs: int) -> list[tuple[str, float, float]]:
    """A word by the command: seconds from start to end, and the most memory (MB)."""
    command = [sys.executable, "-m", "lovevec.cli", "embed"]
    rows = []
    for name, word in (("one unknown word", UNKNOWN), ("one known word", "tomorrow")):
        found = [whole([*command, word]) for _ in range(runs)]
        rows.append((name, *(statistics.median(each) for each in zip(*found, strict=True))))
    return rows


def main() -> None:
    """Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    by_command = commands(options.runs)
    love = LOVE.load()
    ways = ways_of(love, misspellings(love, options.words))
    for run, some in ways.values():
        run(some[:2_000])  # indexes are built
    turns = [{name: cost_of(run, some) for name, (run, some) in ways.items()} for _ in range(options.runs)]
    print(f"{options.words:,} distinct misspellings of {len(love.words):,} known words, {love.dim}d;")
    print(f"{os.cpu_count()} cores ({platform.machine()}), load {os.getloadavg()[0]:.1f};", end=" ")
    print(f"medians of {options.runs} runs in turn\n")
    print("| | words/s | CPU, µs a word | words | × symspellpy | … by CPU | × fastText | asked | met |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for name, (_, some) in ways.items():
        rate = statistics.median(1 / turn[name].wall for turn in turns)
        cpu = statistics.median(1e6 * turn[name].cpu for turn in turns)
        ratio = statistics.median(turn["symspellpy"].wall / turn[name].wall for turn in turns)
        of_cpu = statistics.median(turn["symspellpy"].cpu / turn[name].cpu for turn in turns)
        times = [turn[FASTTEXT].wall / turn[name].wall for turn in turns if FASTTEXT in turn]
        by_fasttext = ratio_cells(statistics.median(times) if times else None, ASKED.get(name))
        cells = f"{rate:,.0f} | {cpu:.1f} | {len(some):,} | {ratio:.2g} | {of_cpu:.2g} | {by_fasttext}"
        print(f"| {name} | {cells} |", flush=True)
    print("\n| | seconds | MB at most |\n|---|--:|--:|")
    for name, seconds, memory in by_command:
        print(f"| `lovevec embed` of {name} | {seconds:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
