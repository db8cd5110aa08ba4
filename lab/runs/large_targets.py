"""What the quick preparation of large targets costs a trained model: docs/results/data/large-targets.json.

    python lab/runs/large_targets.py prepare $LOVEVEC_DATA/targets/glove840b-300d-34k.npz /tmp/large
    python lab/runs/large_targets.py train /tmp/large --jobs 6 --json docs/results/data/large-targets.json
    python lab/runs/scale.py page

From 200,000 words on hard negatives come from sorted neighborhoods and synonyms from clusters (train/hard_negatives.py,
train/synonyms.py). A smaller target is prepared in both ways here, and models of several seeds are trained from each,
by the defaults: the same steps, batches and held-back words. Scores are those of score.py, by spelling only, and of the
words held back. `prepare` is for a processor; `train` needs no more than torch, so that it may run elsewhere.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from score import scores_of

from lovevec.files import write_json
from lovevec.train import Prepared, prepare, train
from lovevec.train.hard_negatives import hard_negatives
from lovevec.train.synonyms import find_synonyms
from lovevec.units.ragged import Ragged
from lovevec.vectors.table import ReadReport, VectorTable
from lovevec_lab.methods.table import Table

EXACT, QUICK = "exact", "quick"


def prepare_both(given: argparse.Namespace) -> None:
    """A prepared folder, and beside it what the quick way finds instead."""
    exact = prepare(given.target)
    exact.save(given.folder / EXACT)
    how = exact.settings
    synonyms = find_synonyms(exact.vectors, similarity=how.synonym_similarity, most=how.synonyms, exact=False)
    negatives = hard_negatives(exact.words, synonyms, k=how.negatives, exact=False)
    found = {"negatives": negatives, "synonyms": synonyms.values, "offsets": synonyms.offsets}
    np.savez_compressed(given.folder / f"{QUICK}.npz", **found)


def prepared(folder: Path, way: str) -> Prepared:
    """The target, prepared in one of the two ways."""
    exact = Prepared.load(folder / EXACT)
    if way == EXACT:
        return exact
    with np.load(folder / f"{QUICK}.npz") as found:
        synonyms = Ragged(found["synonyms"], found["offsets"])
        return replace(exact, negatives=found["negatives"], synonyms=synonyms)


def one(given: argparse.Namespace) -> None:
    """Train a model and print its scores."""
    ready = prepared(given.folder, given.way)
    love = train(ready, {"seed": given.seed})
    unseen = love.metadata["report"]["score"]
    report = ReadReport("memory", dim=ready.vectors.shape[1])
    table = Table(VectorTable(ready.words, ready.vectors.astype(np.float32), report), "target")
    scores: dict[str, Any] = {"way": given.way, "seed": given.seed, **scores_of(love, given.way, table)}
    scores |= {f"{shown}_{name}": unseen[shown][name] for shown in ("clean", "typo") for name in ("cosine", "top10")}
    print(json.dumps(scores))


def train_all(given: argparse.Namespace) -> None:
    """Every way and seed in a process of its own, so many at a time."""

    def run(job: tuple[str, int]) -> dict[str, Any]:
        way, seed = job
        command = [sys.executable, __file__, "one", str(given.folder), way, str(seed)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        print(json.dumps(found), flush=True)
        return found

    jobs = [(way, seed) for seed in given.seeds for way in (EXACT, QUICK)]
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(run, jobs))
    target = Prepared.load(given.folder / EXACT).target
    write_json(given.json, {"target": target["name"], "words": target["words"], "results": results})


def main() -> None:
    """Prepare, or train and score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    chosen = parser.add_subparsers(required=True)
    first = chosen.add_parser("prepare")
    first.add_argument("target", type=Path)
    first.add_argument("folder", type=Path)
    first.set_defaults(run=prepare_both)
    every = chosen.add_parser("train")
    every.add_argument("folder", type=Path)
    every.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    every.add_argument("--jobs", type=int, default=1, help="models trained at once")
    every.add_argument("--json", type=Path, required=True)
    every.set_defaults(run=train_all)
    single = chosen.add_parser("one")
    single.add_argument("folder", type=Path)
    single.add_argument("way", choices=(EXACT, QUICK))
    single.add_argument("seed", type=int)
    single.set_defaults(run=one)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
