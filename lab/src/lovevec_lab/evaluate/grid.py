"""A downstream model at several learning rates and seeds, and the one rule for which rates count.

For each seed the rate that is best on clean dev text counts (the first of equals), so that choosing is part of what
varies; reported are the mean over the seeds of the test scores that were reached at these rates, and their standard
deviation. It holds for the CNN, the tagger and fine-tuned transformers alike.

A run gives {"dev": score, "test": {noise: score}, "seconds": …} and is kept by itself: stopped work goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec_lab.evaluate.result_cache import ResultCache, Score

RATES = (5e-3, 3e-3, 1e-3, 8e-4, 5e-4)  # the paper's

Run = tuple[float, int]  # a learning rate and a seed
Tell = Callable[[str], None]


def run_grid(
    train: Callable[[Sequence[Run], Tell], Sequence[Score]],
    rates: Sequence[float],
    seeds: Sequence[int],
    cache: ResultCache,
    key: Mapping[str, Any],
    progress: Progress,
    name: str = "training",
    together: int = 1,
) -> Score:
    """The score (see `best_by_seed`) of runs at all rates and seeds: those kept under `key` are read, `train` makes the
    others, up to so many `together`, and tells how far it is."""
    grid = [(rate, seed) for rate in rates for seed in seeds]
    done = {run: kept for run in grid if (kept := cache.get(_key(key, run))) is not None}
    missing = [run for run in grid if run not in done]
    with progress.phase(name, total=len(grid), unit="runs") as phase:
        phase.advance(len(done))
        for low in range(0, len(missing), together):
            some = missing[low : low + together]
            scores = train(some, lambda note: phase.advance(0, note))
            for run, score in zip(some, scores, strict=True):
                done[run] = cache.put(_key(key, run), score)
                phase.advance(note=f"rate {run[0]:g}, dev {score['dev']:.1f}")
    return best_by_seed([{"rate": rate, "seed": seed, **done[rate, seed]} for rate, seed in grid])


def _key(key: Mapping[str, Any], run: Run) -> dict[str, Any]:
    rate, seed = run
    return {**key, "rate": rate, "seed": seed}


def run_one(
    train_one: Callable[[float, int], Score], rate: float, seed: int, cache: ResultCache, key: Mapping[str, Any]
) -> Score:
    """One run, with its rate and seed."""
    run = cache(_key(key, (rate, seed)), partial(train_one, rate, seed))
    return {"rate": rate, "seed": seed, **run}


def best_by_seed(runs: Sequence[Score]) -> Score:
    """The score of runs {"rate", "seed", "dev", "test", "seconds", …}: "rates" are those chosen, one a seed; "test" the
    means and "spread" the standard deviations (0 for one seed) by noise; so is "dev_noisy", where runs have it."""
    seeds = list(dict.fromkeys(run["seed"] for run in runs))
    chosen = [max((run for run in runs if run["seed"] == seed), key=lambda run: float(run["dev"])) for seed in seeds]
    noisy = {"dev_noisy": _over(chosen, "dev_noisy", np.mean)} if "dev_noisy" in chosen[0] else {}
    return {
        "rates": [run["rate"] for run in chosen],
        "dev": float(np.mean([run["dev"] for run in chosen])),
        "test": _over(chosen, "test", np.mean),
        "spread": _over(chosen, "test", _deviation),
        **noisy,
        "seconds": float(sum(run["seconds"] for run in runs)),
        "runs": list(runs),
    }


def check_rates(rates: Sequence[float]) -> tuple[float, ...]:
    """The rates, if they can be rates."""
    if not all(0 < rate <= 1 for rate in rates):
        named = ",".join(f"{rate:g}" for rate in rates)
        raise LovevecError(f"{Parameter('learning_rates', named)}: a rate lies between 0 and 1")
    return tuple(rates)


def _over(chosen: Sequence[Score], scores: str, how: Any) -> dict[str, float]:
    return {label: float(how([run[scores][label] for run in chosen])) for label in chosen[0][scores]}


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
