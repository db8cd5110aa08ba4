"""How many unknown words a second, whole path? Misspellings beside symspellpy; the first compile; one by the command.

    python bench/near.py [--words 200000] [--runs 5]

The words are distinct misspellings of known words, as damage/misspell.py makes them, none of them known. All ways run
in turn, several times over, so that a busy machine is unfair to none. Rates are medians; ratios are medians of ratios
within a turn. `CPU` is what a word costs on all cores together, which says more where others use the machine too.
symspellpy has the same known words and looks up the nearest within two edits (Verbosity.TOP), without a vector.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from startup import whole

from lovevec import LOVE
from lovevec.damage.misspell import misspell
from lovevec_lab.methods.symspell import SymSpellDictionary

UNKNOWN = "tommorow"
SHARES = {"numpy": 0.1, "symspellpy": 0.02}  # of the words: the slow ones would take all day
# Words that the numba path is worth importing for.
COMPILED = """
import time
from lovevec import LOVE
love = LOVE.load(engine="numba")
words = [f"mispeling{number}x" for number in range(12000)]
start = time.perf_counter()
love.embed(words, progress=False)
print(time.perf_counter() - start)
"""


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


def cost_of(run: Callable[[Sequence[str]], object], words: Sequence[str]) -> Cost:
    """What a word costs."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(words)
    return Cost((time.perf_counter() - wall) / len(words), (time.process_time() - cpu) / len(words))


def ways_of(love: LOVE, words: Sequence[str]) -> dict[str, tuple[Callable[[Sequence[str]], object], Sequence[str]]]:
    """Name -> what is run, and on which words."""
    numba, numpy = LOVE.load(engine="numba"), LOVE.load(engine="numpy")
    known = [love.words[row] for row in np.random.default_rng(1).permutation(len(love.words)).tolist()]
    dictionary = SymSpellDictionary(love.words)
    ways = {
        "unknown words, numba": (lambda some: numba.embed(some, progress=False), words),
        "unknown words, numpy": (lambda some: numpy.embed(some, progress=False), words),
        "symspellpy": (lambda some: [dictionary.correct(word) for word in some], words),
        "unknown words by spelling only, numba": (lambda some: numba.engine.embed(some), words),
        "known words": (lambda some: numba.embed(some, progress=False), known),
    }
    return {
        name: (run, some[: max(1, int(len(some) * next((share for key, share in SHARES.items() if key in name), 1)))])
        for name, (run, some) in ways.items()
    }


def compile_seconds() -> tuple[float, float]:
    """Until the first vectors by numba: on a new machine, and when its compiled code is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        first, second = (
            float(
                subprocess.run(
                    [sys.executable, "-c", COMPILED], env=environment, capture_output=True, text=True, check=True
                ).stdout
            )
            for _ in range(2)
        )
    return first, second


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
    by_command = commands(options.runs)  # first: a process is counted with the memory of the one that starts it
    love = LOVE.load()
    ways = ways_of(love, misspellings(love, options.words))
    for run, some in ways.values():
        run(some[:20_000])  # compiled, indexed
    turns = [{name: cost_of(run, some) for name, (run, some) in ways.items()} for _ in range(options.runs)]
    print(f"{options.words:,} distinct misspellings of {len(love.words):,} known words, {love.dim}d;")
    print(f"{os.cpu_count()} cores ({platform.machine()}), load {os.getloadavg()[0]:.1f};", end=" ")
    print(f"medians of {options.runs} runs in turn\n")
    print("| | words/s | CPU, µs a word | × symspellpy | × symspellpy by CPU | words |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, (_, some) in ways.items():
        rate = statistics.median(1 / turn[name].wall for turn in turns)
        cpu = statistics.median(1e6 * turn[name].cpu for turn in turns)
        ratio = statistics.median(turn["symspellpy"].wall / turn[name].wall for turn in turns)
        of_cpu = statistics.median(turn["symspellpy"].cpu / turn[name].cpu for turn in turns)
        print(f"| {name} | {rate:,.0f} | {cpu:.1f} | {ratio:.2g} | {of_cpu:.2g} | {len(some):,} |", flush=True)
    first, second = compile_seconds()
    print("\n| | seconds | MB at most |\n|---|--:|--:|")
    print(f"| numba's first vectors: compiled on a new machine | {first:.1f} | |")
    print(f"| … from its cache | {second:.1f} | |", flush=True)
    for name, seconds, memory in by_command:
        print(f"| `lovevec embed` of {name} | {seconds:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
