"""A downstream model at several learning rates and seeds: the rate is chosen on dev, its test scores are reported.

Each run gives {"dev": score, "test": {noise: score}, "seconds": …} and is kept by itself: stopped work goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from lovevec.evaluate.result_cache import ResultCache, Score
from lovevec.progress import Progress

RATES = (5e-3, 3e-3, 1e-3, 8e-4, 5e-4)  # the paper's


def run_grid(
    train_one: Callable[[float, int], Score],
    rates: Sequence[float],
    seeds: Sequence[int],
    cells: ResultCache,
    key: Mapping[str, Any],
    progress: Progress,
    name: str = "training",
) -> Score:
    """Run `train_one(rate, seed)` for all rates and seeds, or read what was kept under `key`; see `best_of`."""
    runs = []
    with progress.phase(name, total=len(rates) * len(seeds), unit="runs") as phase:
        for rate in rates:
            for seed in seeds:
                run = cells({**key, "rate": rate, "seed": seed}, partial(train_one, rate, seed))
                runs.append({"rate": rate, "seed": seed, **run})
                phase.advance(note=f"rate {rate:g}, dev {run['dev']:.1f}")
    return best_of(runs)


def best_of(runs: Sequence[Score]) -> Score:
    """The rate that is best on dev in the mean over its seeds (the first of equals): the mean of its test scores under
    each noise, and their standard deviation (`spread`, 0 for one seed). All runs stay in the result."""
    rates = list(dict.fromkeys(run["rate"] for run in runs))
    dev = [float(np.mean([run["dev"] for run in runs if run["rate"] == rate])) for rate in rates]
    best = int(np.argmax(dev))
    chosen = [run["test"] for run in runs if run["rate"] == rates[best]]
    scores = {label: [float(test[label]) for test in chosen] for label in chosen[0]}
    several = len(chosen) > 1
    return {
        "rate": rates[best],
        "dev": dev[best],
        "test": {label: float(np.mean(values)) for label, values in scores.items()},
        "spread": {label: float(np.std(values, ddof=1)) if several else 0.0 for label, values in scores.items()},
        "seconds": float(sum(run["seconds"] for run in runs)),
        "runs": list(runs),
    }
