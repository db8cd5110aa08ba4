"""`lovevec bulk` against `love.embed` in memory: words a second and core, and the memory of driver and workers.

    python bench/bulk.py --words 1000000
    python bench/bulk.py --words 100000000 --folder /big/disk --precision float16 --json bulk.json

A fifth of the words are distinct: typos of known words, the later ones with a number behind, drawn by a seed. So nearly
all have to be read, which is the slowest case. The in-memory rate is that of one process on a sample of the same words,
on all cores, before Ray is started. The disk needs 1.2 GB (float16: 0.6 GB) for a million words of 300 dimensions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from engines import typos

from lovevec import LOVE
from lovevec.engine.threads import usable_cores

BLOCK = 1_000_000
SAMPLE = 500_000
TURN = 0.25  # seconds between two looks at memory


def write_words(path: Path, count: int, known: list[str], seed: int) -> None:
    """So many words, a fifth of them distinct: each fifth is a new one, the others come again, few of them often."""
    rng = np.random.default_rng(seed)
    base = np.array(typos(known, min(200_000, max(1000, count // 5))), dtype=object)
    distinct = max(1, count // 5)
    with path.open("w", encoding="utf-8") as file:
        for low in range(0, count, BLOCK):
            size = min(BLOCK, count - low)
            number = (distinct * rng.random(size) ** 4).astype(np.int64)
            number[::5] = np.arange(low, low + size, 5) // 5 % distinct
            stem, times = base[number % len(base)], number // len(base)
            file.writelines(
                f"{word}{turn if turn else ''}\n" for word, turn in zip(stem.tolist(), times.tolist(), strict=True)
            )


def peak_of(process: subprocess.Popen[bytes]) -> dict[str, float]:
    """MB of the driver and of the largest worker, at most, until the process ends; shared memory counts in both."""
    peak = {"driver": 0.0, "worker": 0.0}
    while process.poll() is None:
        try:
            driver = psutil.Process(process.pid)
            peak["driver"] = max(peak["driver"], driver.memory_info().rss / 1e6)
            for child in driver.children(recursive=True):
                if "write_parts" in " ".join(child.cmdline()) or "split_words" in " ".join(child.cmdline()):
                    peak["worker"] = max(peak["worker"], child.memory_info().rss / 1e6)
        except psutil.NoSuchProcess:
            pass
        time.sleep(TURN)
    return peak


def main() -> None:
    """Print a Markdown table, and write the numbers as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=usable_cores())
    parser.add_argument("--precision", choices=("float32", "float16"), default="float32")
    parser.add_argument("--distinct", action="store_true", help="each word once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where words and vectors go for a while (default: the system's)")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    love = LOVE.load(engine="numba")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        words, out = Path(folder) / "words.txt", Path(folder) / "vectors"
        write_words(words, given.words, list(love.words), given.seed)
        with words.open(encoding="utf-8") as file:
            sample = [line.rstrip("\n") for line, _ in zip(file, range(SAMPLE), strict=False)]
        love.embed(sample[:50_000])  # compiles
        start = time.perf_counter()
        for low in range(0, len(sample), 8192):
            love.embed(sample[low : low + 8192])
        memory_rate = len(sample) / (time.perf_counter() - start) / love.engine.threads
        options = ["--json", "--precision", given.precision, "--workers", str(given.workers)]
        options += ["--distinct"] if given.distinct else []
        command = [sys.executable, "-m", "lovevec.cli", "bulk", str(words), "-o", str(out), *options]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        peak = peak_of(process)
        seconds = time.perf_counter() - start
        assert process.returncode == 0
        assert process.stdout is not None
        summary = json.loads(process.stdout.read())
    whole = given.words / seconds / given.workers
    rate = summary["rows"] / summary["seconds"] / given.workers
    result = {
        "words": given.words,
        "rows": summary["rows"],
        "workers": given.workers,
        "in memory, words/s a core": round(memory_rate),
        "bulk, rows/s a core": round(rate),
        "share": round(rate / memory_rate, 3),
        "without start, rows/s a core": round(summary["rows"] / summary["busy"]),
        "whole command, words/s a core": round(whole),
        "driver MB": round(peak["driver"]),
        "worker MB": round(peak["worker"]),
        "seconds": round(seconds, 1),
        "bytes": summary["bytes"],
    }
    if given.json:
        Path(given.json).write_text(json.dumps(result, indent=2) + "\n")
    print("| " + " | ".join(result) + " |\n|" + "--:|" * len(result))
    print("| " + " | ".join(f"{value:,}" for value in result.values()) + " |")


if __name__ == "__main__":
    main()
