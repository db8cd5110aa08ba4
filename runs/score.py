"""Scores models on the paper's six similarity sets and on Birkbeck's misspellings: one JSON line a model.

    python runs/score.py model [model …] [--target vectors]

Short for `lovevec evaluate similarity` and `lovevec evaluate typos`, for scripts that train many models. Reads the sets
from LOVEVEC_DATA (default: ../shared/data beside the repository).
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from lovevec.evaluate.datasets import names_of, similarity_set
from lovevec.evaluate.misspellings import misspellings
from lovevec.evaluate.similarity import similarity
from lovevec.evaluate.typos import lower_cased, trial, typos
from lovevec.love import LOVE
from lovevec.rivals.model import Model
from lovevec.rivals.named import open_table

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data"))


def main() -> None:
    """One JSON line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--target", help="the vectors the models mimic, to score misspellings too")
    given = parser.parse_args()
    sets = [similarity_set(name, DATA) for name in names_of("similarity")]
    table = lower_cased(open_table(given.target)) if given.target else None
    for folder in given.models:
        love = LOVE.load(folder)
        model = Model(love, Path(folder).name)
        found = similarity(model, sets, resamples=1)
        scores = {one.name: one.spearman for one in found.sets} | {"mean": found.mean}
        if table is not None:
            (real,) = typos(model, table, [trial(misspellings("Birkbeck", DATA), table)], resamples=1).sets
            scores |= {"misspellings": real.misspellings, "top1": real.top1.mean, "top10": real.top10.mean}
        rounded = {name: round(value, 1) for name, value in scores.items()}
        print(json.dumps({"model": model.name, **rounded, "seconds": love.about["report"]["seconds"]["training"]}))


if __name__ == "__main__":
    main()
