"""`lovevec embed` of many words to .npy against `love.embed` in memory: rate and peak memory.

    python bench/stream.py --words 10000000

The words are typos, all different. The in-memory rate is that of batches of 1M words, which are thrown away. The disk
needs 1.2 GB for each million words of 300 dimensions.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from engines import typos

from lovevec import LOVE

BATCH = 1_000_000
# The process says itself how much memory it had at most: what wait4 says counts that of its parent in. Linux only.
COMMAND = r"""
import re, sys
from lovevec.cli import main
assert main(sys.argv[1:]) == 0
print(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1])
"""


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3, help="of the in-memory rate; the stream runs once")
    options = parser.parse_args()
    love = LOVE.load()
    base = typos(love.words, min(BATCH, options.words))
    love.embed(base[:50_000])  # compiles
    rates = []
    for _ in range(options.runs):
        start = time.perf_counter()
        love.embed(base)
        rates.append(len(base) / (time.perf_counter() - start))
    rate = statistics.median(rates)
    with tempfile.TemporaryDirectory() as folder:
        words, vectors = Path(folder) / "words.txt", Path(folder) / "vectors.npy"
        with words.open("w", encoding="utf-8") as file:
            for number in range(-(-options.words // len(base))):
                left = options.words - number * len(base)
                mark = chr(ord("a") + number % 26) if number else ""  # so that no word comes twice
                file.writelines(f"{word}{mark}\n" for word in base[:left])
        start = time.perf_counter()
        command = [sys.executable, "-c", COMMAND, "embed", "-q", "-i", str(words), "-o", str(vectors)]
        memory = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1024
        streamed = options.words / (time.perf_counter() - start)
        assert len(np.load(vectors, mmap_mode="r")) == options.words
    print("| | words/s | of in memory | MB at most |\n|---|--:|--:|--:|")
    print(f"| love.embed of {len(base):,} words | {rate:,.0f} | | |")
    print(f"| lovevec embed of {options.words:,} | {streamed:,.0f} | {streamed / rate:.0%} | {memory:.0f} |")


if __name__ == "__main__":
    main()
