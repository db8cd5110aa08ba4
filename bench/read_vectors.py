"""How fast, and in how much memory, are word vectors read from text? Ours beside gensim and numpy.

    python bench/read_vectors.py --rows 100000 --dim 300

Each reader runs in a process of its own, so that its peak memory is its own; time is the median of the runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

STYLES = {"glove": "{:.5g}", "fasttext": "{:.4f}", "gensim": "{!s}", "repr": "{}"}


def write_file(path: Path, rows: int, dim: int, style: str, seed: int = 0) -> None:
    """Write word2vec text; the numbers of a few thousand rows are used over and over to save time."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.35 if style in ("glove", "fasttext") else 0.06, (min(rows, 2000), dim)).astype(np.float32)
    tails = [" ".join(map(STYLES[style].format, row)) + "\n" for row in values]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{rows} {dim}\n")
        for row in range(rows):
            file.write(f"word{row} {tails[row % len(tails)]}")


def read_lovevec(path: Path) -> int:
    """Read all with ours."""
    from lovevec.vectors import read_vectors

    return len(read_vectors(path))


def read_gensim(path: Path) -> int:
    """Read all with gensim."""
    from gensim.models import KeyedVectors

    return len(KeyedVectors.load_word2vec_format(str(path)))


def read_loadtxt(path: Path) -> int:
    """Read a tenth with numpy, numbers only: it takes long and leaves the words out."""
    header = path.open().readline().split()
    rows, dim = int(header[0]) // 10, int(header[1])
    table = np.loadtxt(
        path,
        np.float32,
        comments=None,
        skiprows=1,
        max_rows=rows,
        usecols=range(1, dim + 1),
        encoding="utf-8",
    )
    return len(table)


READERS = {"lovevec": read_lovevec, "gensim": read_gensim, "np.loadtxt": read_loadtxt}


def peak_memory() -> int:
    """Give the most bytes of memory that this process held so far.

    Linux counts it per program in VmHWM; ru_maxrss would take over the peak of the process that started us.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(reader: str, path: Path) -> None:
    """Run one reader here and print what it took as JSON."""
    before = peak_memory()
    start = time.perf_counter()
    rows = READERS[reader](path)
    seconds = time.perf_counter() - start
    print(json.dumps({"rows": rows, "seconds": seconds, "before": before, "peak": peak_memory()}))


def run(reader: str, path: Path) -> dict[str, float]:
    """Run one reader in a process of its own."""
    command = [sys.executable, __file__, "--reader", reader, "--file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    """Write a file, read it with each reader, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--style", choices=sorted(STYLES), default="glove", help="how the numbers are printed")
    parser.add_argument("--readers", nargs="+", choices=sorted(READERS), default=list(READERS))
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        measure(options.reader, options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        write_file(path, options.rows, options.dim, options.style)
        rates: dict[str, float] = {}
        memory: dict[str, tuple[float, float]] = {}
        for reader in options.readers:
            runs = [run(reader, path) for _ in range(options.runs)]
            rates[reader] = statistics.median(each["rows"] / each["seconds"] for each in runs)
            matrix = runs[0]["rows"] * options.dim * 4
            peak = max(each["peak"] for each in runs)
            base = min(each["before"] for each in runs)
            memory[reader] = (peak / matrix, (peak - base) / matrix)
    print(f"{options.rows:,} rows × {options.dim}, numbers as {options.style} prints them\n")
    print("| reader | rows/s | × gensim | peak memory ÷ matrix | … without the interpreter |")
    print("|---|---:|---:|---:|---:|")
    for reader, rate in rates.items():
        ratio = f"{rate / rates['gensim']:.1f}" if "gensim" in rates else "–"
        print(f"| {reader} | {rate:,.0f} | {ratio} | {memory[reader][0]:.2f} | {memory[reader][1]:.2f} |")


if __name__ == "__main__":
    main()
