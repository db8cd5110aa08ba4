"""Scores models on the paper's six similarity sets and on Birkbeck's misspellings: one JSON line a model.

    python lab/runs/score.py model [model …] [--target vectors]

Short for `lovevec evaluate similarity` and `lovevec evaluate typos`, for scripts that train many models. Reads the sets
from LOVEVEC_DATA (default: ../shared/data beside the repository).
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from lovevec.love import LOVE
from lovevec_lab.evaluate.datasets import names_of
from lovevec_lab.evaluate.similarity import score_similarity, similarity_set
from lovevec_lab.evaluate.typos import lowercase_table, misspellings, score_typos, trial
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.open_method import open_table
from lovevec_lab.methods.table import Table

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))


def scores_of(love: LOVE, name: str, table: Table | None = None, near: bool = False) -> dict[str, float]:
    """Spearman x 100 of each set and their mean; with the target's table, Birkbeck's misspellings too. By spelling only
    unless `near`."""
    model = LoveMethod(love, name, near)
    found = score_similarity(model, [similarity_set(one, DATA) for one in names_of("similarity")], resamples=1)
    scores = {one.name: one.spearman for one in found.sets} | {"mean": found.mean}
    if table is not None:
        (real,) = score_typos(model, table, [trial(misspellings("Birkbeck", DATA), table)], resamples=1).sets
        scores |= {"misspellings": real.misspellings, "top1": real.top1.mean, "top10": real.top10.mean}
    return {one: round(value, 1) for one, value in scores.items()}


def main() -> None:
    """One JSON line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--target", help="the vectors the models mimic, to score misspellings too")
    given = parser.parse_args()
    table = lowercase_table(open_table(given.target)) if given.target else None
    for folder in given.models:
        love, name = LOVE.load(folder), Path(folder).name
        seconds = love.metadata["report"]["seconds"]["training"]
        print(json.dumps({"model": name, **scores_of(love, name, table), "seconds": seconds}))


if __name__ == "__main__":
    main()
