"""Each seed has the rate that is best on dev, test scores are means over seeds, a killed grid goes on where it was."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.evaluate.grid import RATES, Run, Tell, best_by_seed, check_rates, run_grid
from lovevec_lab.evaluate.result_cache import ResultCache

QUIET = Progress(quiet=True)
KEY = {"task": "t", "method": "m"}


def run(rate: float, seed: int, dev: float, *test: float) -> dict:
    return {"rate": rate, "seed": seed, "dev": dev, "test": dict(zip("abc", test, strict=False)), "seconds": 1.5}


def test_each_seed_has_its_own_best_rate_on_dev_whatever_it_does_on_test():
    runs = [run(0.1, 0, 90, 50, 1), run(0.1, 1, 70, 60, 1), run(0.2, 0, 81, 10, 2), run(0.2, 1, 83, 30, 4)]
    score = best_by_seed(runs)
    assert (score["rates"], score["dev"], score["seconds"]) == ([0.1, 0.2], 86.5, 6)
    assert score["test"] == {"a": 40, "b": 2.5}
    assert score["spread"] == {"a": pytest.approx(np.std([50, 30], ddof=1)), "b": pytest.approx(np.std([1, 4], ddof=1))}
    assert score["runs"] == runs
    assert score.keys() == {"rates", "dev", "test", "spread", "seconds", "runs"}


def test_one_seed_is_the_best_run_without_a_spread():
    runs = [run(0.1, 3, 70, 60), run(0.2, 3, 80, 50)]
    score = best_by_seed(runs)
    assert (score["rates"], score["dev"], score["test"], score["spread"]) == ([0.2], 80, {"a": 50}, {"a": 0})


def test_of_equal_rates_the_first_is_taken():
    assert best_by_seed([run(0.3, 0, 80, 1), run(0.1, 0, 80, 2), run(0.2, 0, 79, 3)])["rates"] == [0.3]


def test_damaged_dev_text_is_reported_where_runs_have_it():
    runs = [{**run(0.1, seed, 80, 1), "dev_noisy": {"x": 60 + seed}} for seed in (0, 1)]
    assert best_by_seed(runs)["dev_noisy"] == {"x": 60.5}


@pytest.mark.parametrize("rates", [(0.0,), (0.1, -1), (1.5,)])
def test_what_is_no_rate_is_refused(rates):
    with pytest.raises(LovevecError, match=r"learning_rates=.*: a rate lies between 0 and 1"):
        check_rates(rates)


@pytest.mark.parametrize("together", [1, 4])
def test_every_rate_and_seed_is_run_once(together):
    asked = []

    def train(runs: Sequence[Run], tell: Tell) -> list[dict]:
        asked.append(runs)
        return [{"dev": 100 * rate + seed, "test": {"clean": rate}, "seconds": 0.0} for rate, seed in runs]

    score = run_grid(train, RATES, (3, 4), ResultCache(), KEY, QUIET, together=together)
    grid = [(rate, seed) for rate in RATES for seed in (3, 4)]
    assert asked == [grid[low : low + together] for low in range(0, len(grid), together)]
    assert score["test"] == {"clean": RATES[0]}
    assert [(one["rate"], one["seed"]) for one in score["runs"]] == grid


WORK = """
import os, signal, sys
from pathlib import Path
from lovevec_lab.evaluate.result_cache import ResultCache
from lovevec_lab.evaluate.grid import run_grid
from lovevec.progress import Progress
folder, die = Path(sys.argv[1]), sys.argv[2] == "die"
def train(runs, tell):
    ((rate, seed),) = runs
    if die and (rate, seed) == (0.2, 1):
        os.kill(os.getpid(), signal.SIGKILL)
    with open(folder / "log", "a") as log:
        log.write(f"{rate} {seed}\\n")
    return [{"dev": rate, "test": {"clean": 10 * seed}, "seconds": 0.0}]
score = run_grid(train, (0.1, 0.2, 0.3), (0, 1), ResultCache(folder / "cache"), {"task": "t"}, Progress(quiet=True))
print(*score["rates"], score["test"]["clean"], len(score["runs"]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_grid_computes_only_what_is_missing(tmp_path):
    def work(how: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", WORK, str(tmp_path), how], capture_output=True, text=True)

    assert work("die").returncode == -signal.SIGKILL
    assert (tmp_path / "log").read_text() == "0.1 0\n0.1 1\n0.2 0\n"
    done = work("live")
    assert (done.returncode, done.stdout) == (0, "0.3 0.3 5.0 6\n"), done.stderr
    assert (tmp_path / "log").read_text() == "0.1 0\n0.1 1\n0.2 0\n0.2 1\n0.3 0\n0.3 1\n"
    assert work("live").stdout == done.stdout
    assert (tmp_path / "log").read_text().count("\n") == 6


def test_what_is_kept_is_kept_for_its_key_alone(tmp_path):
    calls = count()

    def train(runs: Sequence[Run], tell: Tell) -> list[dict]:
        return [{"dev": 1.0, "test": {"clean": next(calls)}, "seconds": 0.0} for _ in runs]

    cache = ResultCache(tmp_path)
    first = run_grid(train, (0.1,), (0,), cache, KEY, QUIET)
    assert run_grid(train, (0.1,), (0,), cache, KEY, QUIET) == first
    assert run_grid(train, (0.1,), (0,), cache, {**KEY, "method": "n"}, QUIET) != first
    assert run_grid(train, (0.1,), (1,), cache, KEY, QUIET) != first
    assert next(calls) == 3
