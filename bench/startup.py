"""How long until the first vector? Each measurement is a process of its own, several times over; medians.

    python bench/startup.py

Files are in the system's cache after the first round, as they are for anybody who runs a command twice.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

INSIDE = {
    "import lovevec": ("", "import lovevec"),
    "from lovevec import LOVE": ("", "from lovevec import LOVE"),
    "LOVE.load() to the first vector": ("from lovevec import LOVE", "LOVE.load()['mispelling']"),
    "first unknown word after LOVE.load()": ("from lovevec import LOVE; love = LOVE.load()", "love['mispelling']"),
}
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "lovevec --help": [sys.executable, "-m", "lovevec.cli", "--help"],
    "lovevec embed of one word": [sys.executable, "-m", "lovevec.cli", "embed", "mispelling"],
    "lovevec near of one word": [sys.executable, "-m", "lovevec.cli", "near", "mispelling"],
}
TIMED = """
import time
{before}
start = time.perf_counter()
{code}
print(time.perf_counter() - start)
"""
# Linux counts a process with the memory of the one that starts it, so that has to be a small one.
STARTER = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(time.perf_counter() - start, used.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def inside(before: str, code: str) -> float:
    """Seconds that `code` takes in a fresh process, by its own clock."""
    script = TIMED.format(before=before, code=code)
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def whole(command: list[str]) -> tuple[float, float]:
    """Seconds from start to end, and the most memory (MB)."""
    done = subprocess.run([sys.executable, "-c", STARTER, *command], stdout=subprocess.PIPE, text=True, check=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    print("| | seconds | MB at most |\n|---|--:|--:|")
    for name, (before, code) in INSIDE.items():
        print(f"| {name} | {statistics.median(inside(before, code) for _ in range(runs)):.3f} | |", flush=True)
    for name, command in COMMANDS.items():
        found = [whole(command) for _ in range(runs)]
        seconds, memory = (statistics.median(each) for each in zip(*found, strict=True))
        print(f"| {name} | {seconds:.3f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
