"""Scores models on the paper's six similarity sets and on Birkbeck's misspellings.

    python runs/score.py model [model …]

Reads the sets from LOVEVEC_DATA (default: ../shared/data beside the repository). LOVE's vectors only, all pairs.
A misspelling counts when its correct word is in the target and it is not; its vector is right at k when the correct
word's target vector is among the k nearest (top1, top10; only with --target).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np

from lovevec import LOVE
from lovevec.targets import load_target
from lovevec.train.score import unit_length

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data"))
# name: file, columns of the two words and of the score
SETS = {
    "RareWord": ("rw", 0, 1, 2),
    "SimLex": ("simLex", 1, 2, 3),
    "MTurk": ("mturk_771", 1, 2, 3),
    "MEN": ("men", 0, 1, 2),
    "WordSim": ("rel353", 1, 2, 3),
    "SimVerb": ("simverb_3500", 2, 3, 1),
}


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks with ties at their mean, as Spearman's ρ wants them."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """ρ x 100."""
    return float(100 * np.corrcoef(ranks(a), ranks(b))[0, 1])


def similarity(love: LOVE) -> dict[str, float]:
    """ρ on each set, and their mean."""
    scores = {}
    for name, (file, first, second, gold) in SETS.items():
        lines = (DATA / "similarity" / f"{file}.txt").read_text("utf-8").splitlines()
        rows = [line.split("\t") for line in lines]
        left, right = love.embed([row[first] for row in rows]), love.embed([row[second] for row in rows])
        scores[name] = spearman((left * right).sum(axis=1), np.array([float(row[gold]) for row in rows]))
    return {**scores, "mean": float(np.mean(list(scores.values())))}


def misspellings(love: LOVE, words: list[str], vectors: np.ndarray) -> dict[str, float]:
    """Share of Birkbeck's misspellings whose correct word's target vector is nearest, or among the 10 nearest."""
    row = {word: number for number, word in enumerate(words)}
    right, wrong, current = [], [], ""
    for line in (DATA / "misspellings" / "missp.dat").read_text("utf-8").splitlines():
        word = line.strip().lower()
        if word.startswith("$"):
            current = word[1:]
        elif current in row and word not in row:
            right.append(row[current])
            wrong.append(word)
    table, made, own = unit_length(vectors), love.embed(wrong), np.array(right)
    rank = np.empty(len(wrong), dtype=np.int64)
    for low in range(0, len(wrong), 1000):
        cosine = made[low : low + 1000] @ table.T
        mine = cosine[np.arange(len(cosine)), own[low : low + 1000]]
        rank[low : low + 1000] = (cosine > mine[:, None]).sum(axis=1)
    return {
        "misspellings": len(wrong),
        "top1": 100 * float((rank < 1).mean()),
        "top10": 100 * float((rank < 10).mean()),
    }


def main() -> None:
    """One JSON line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--target", help="the vectors the models mimic, to score misspellings too")
    given = parser.parse_args()
    target = load_target(given.target) if given.target else None
    for model in given.models:
        love = LOVE.load(model)
        scores = similarity(love)
        if target is not None:
            scores |= misspellings(love, target.words, target.vectors)
        rounded = {name: round(value, 1) for name, value in scores.items()}
        seconds = love.about["report"]["seconds"]["training"]
        sys.stdout.write(json.dumps({"model": Path(model).name, **rounded, "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
