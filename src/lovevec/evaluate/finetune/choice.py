"""Which learning rate counts: for each seed the one that is best on dev, so that choosing is part of what varies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lovevec.evaluate.result_cache import Score


def best_by_seed(runs: Sequence[Score]) -> Score:
    """Of runs {"rate", "seed", "dev", "test": {noise: score}, "dev_noisy": …, "seconds"}: for each seed the best on dev
    (the first of equals), then the mean over seeds and the standard deviation (`spread`, 0 for one seed)."""
    seeds = list(dict.fromkeys(run["seed"] for run in runs))
    chosen = [max((run for run in runs if run["seed"] == seed), key=lambda run: float(run["dev"])) for seed in seeds]
    return {
        "rates": [run["rate"] for run in chosen],
        "dev": float(np.mean([run["dev"] for run in chosen])),
        "test": _over(chosen, "test", np.mean),
        "spread": _over(chosen, "test", _deviation),
        "dev_noisy": _over(chosen, "dev_noisy", np.mean),
        "seconds": float(sum(run["seconds"] for run in runs)),
        "runs": list(runs),
    }


def _over(chosen: Sequence[Score], part: str, how: Any) -> dict[str, float]:
    return {label: float(how([run[part][label] for run in chosen])) for label in chosen[0][part]}


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
