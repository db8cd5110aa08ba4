"""What training costs against the number of words and the dimension: one Markdown table.

    python lab/runs/cost.py glove6b.npz words 10000 34000 100000 340000
    python lab/runs/cost.py $LOVEVEC_DATA/targets/glove840b-300d-34k.npz dim 50 100 200 300 768

Each row is a run of `lovevec train` with one epoch in a process of its own. Smaller dimensions are the first columns;
larger ones a random rotation into more columns, which keeps all angles.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from lovevec.train.target import load_target

PHASES = ("reading", "vocabulary", "synonyms", "hard negatives", "training")


def with_dim(path: str, dim: int, folder: str) -> str:
    """The same words in another dimension."""
    target = load_target(path)
    vectors = target.vectors[:, :dim]
    if dim > target.dim:
        square = np.random.default_rng(0).normal(size=(dim, target.dim))
        vectors = target.vectors @ np.linalg.qr(square)[0].T.astype(np.float32)
    made = Path(folder) / f"{dim}.npz"
    np.savez(made, words=np.array(target.words), vectors=vectors)
    return str(made)


def cost(path: str, limit: int) -> dict[str, float]:
    """Seconds a phase, peak memory and epoch rate of one run."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "model"
        flags = ["--epochs", "1", "--limit", str(limit), "--device", "cpu", "-q"]
        subprocess.run([sys.executable, "-m", "lovevec.cli", "train", path, "-o", str(output), *flags], check=True)
        report = json.loads((output / "report.json").read_text())
    found = report["report"]
    return {
        "words": report["target"]["words"],
        "dim": report["target"]["dim"],
        **{phase: found["seconds"].get(phase, 0.0) for phase in PHASES},
        "memory": found["peak_memory_mb"],
    }


def main() -> None:
    """Print a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("what", choices=["words", "dim"])
    parser.add_argument("sizes", nargs="+", type=int)
    given = parser.parse_args()
    columns = ["words", "dim", *(f"{phase} s" for phase in PHASES[:-1]), "one epoch s", "words/s", "peak MB"]
    print(f"| {' | '.join(columns)} |\n{'|--:' * len(columns)}|")
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = with_dim(given.target, size, folder) if given.what == "dim" else given.target
            row = cost(path, size if given.what == "words" else 0)
        phases = " | ".join(f"{row[phase]:.1f}" for phase in PHASES)
        rate = row["words"] / row["training"]
        print(f"| {row['words']:,} | {row['dim']} | {phases} | {rate:,.0f} | {row['memory']:,} |", flush=True)


if __name__ == "__main__":
    main()
