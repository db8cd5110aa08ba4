"""Does memory stay flat? 8 threads embed, read, encode, look for neighbors and attach tables for minutes on end.

    python bench/soak.py [--minutes 5] [--threads 8] [--slope 1.0] [--engine auto]

Every few seconds the resident memory is read. What counts is the slope over the second half, in MB a minute, fitted by
least squares: the first half fills what is remembered on purpose (words of texts, windows of attention). Memory goes up
and down with what 8 threads do at the moment; where the slope less twice its standard error is more than `--slope`, it
is a leak, and the exit code is 1. Words are new in every call, so that nothing that keeps them would pass.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np

from lovevec import LOVE

EVERY = 2.0  # seconds between two looks
TABLE = 400  # words of an attached table
KIND = ("embed", "near", "encode", "neighbors", "confidence", "attach")


def resident() -> float:
    """MB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def fresh_words(love: LOVE, rng: np.random.Generator, count: int) -> list[str]:
    """Known words with a random ending: never seen before."""
    rows = rng.integers(0, len(love.words), count).tolist()
    return [f"{love.words[row]}{rng.integers(10**9):x}" for row in rows]


def attach(love: LOVE, rng: np.random.Generator) -> None:
    """A table of its own, asked for words that it lacks."""
    words = list(love.words[: 4 * TABLE : 4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that such vectors cannot be mapped well
        robust = love.attach((words, love.embed(words) * rng.uniform(1, 3, (TABLE, 1)).astype(np.float32)))
        robust.embed(fresh_words(love, rng, 50))


def work(love: LOVE, seed: int, stop: threading.Event, done: Counter[str], errors: list[str]) -> None:
    """One thread: a call after another, of kinds in turn."""
    rng = np.random.default_rng(seed)
    calls: dict[str, Callable[[], object]] = {
        "embed": lambda: love.embed(fresh_words(love, rng, 500), progress=False),
        "near": lambda: love.near(fresh_words(love, rng, 20)),
        "encode": lambda: love.encode([" ".join(fresh_words(love, rng, 8)) for _ in range(50)]),
        "neighbors": lambda: love.neighbors(fresh_words(love, rng, 3)),
        "confidence": lambda: love.confidence(fresh_words(love, rng, 50)),
        "attach": lambda: attach(love, rng),
    }
    turn = seed
    while not stop.is_set():
        kind = KIND[turn % len(KIND)]
        turn += 1
        try:
            calls[kind]()
        except Exception as error:  # noqa: BLE001  a thread that dies in silence would look like a model that keeps nothing
            errors.append(f"{kind}: {type(error).__name__}: {error}")
            return
        done[kind] += 1


def slope_of(looks: list[tuple[float, float]]) -> tuple[float, float]:
    """MB a minute over the second half, and its standard error."""
    minutes, megabytes = np.array(looks[len(looks) // 2 :]).T
    (slope, _), spread = np.polyfit(minutes, megabytes, 1, cov=True)
    return float(slope), float(np.sqrt(spread[0, 0]))


def main() -> int:
    """A table, and whether memory stayed flat."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--slope", type=float, default=1.0, help="MB a minute that are no leak")
    parser.add_argument("--engine", default="auto", help="auto, numpy or compiled")
    options = parser.parse_args()
    love, stop, done, errors = LOVE.load(engine=options.engine), threading.Event(), Counter[str](), list[str]()
    threads = [
        threading.Thread(target=work, args=(love, seed, stop, done, errors), daemon=True)
        for seed in range(options.threads)
    ]
    begun, looks = time.monotonic(), []
    for thread in threads:
        thread.start()
    while time.monotonic() - begun < 60 * options.minutes and not errors:
        time.sleep(EVERY)
        looks.append(((time.monotonic() - begun) / 60, resident()))
    stop.set()
    for thread in threads:
        thread.join()
    for error in errors:
        print(error)
    if errors or len(looks) < 8:
        return 1
    slope, error = slope_of(looks)
    load = os.getloadavg()[0]
    print(f"{options.threads} threads, {looks[-1][0]:.1f} minutes, {os.cpu_count()} cores, load {load:.1f}\n")
    print("| call | times |\n|---|--:|")
    for kind in KIND:
        print(f"| {kind} | {done[kind]:,} |")
    print("\n| minute | resident, MB |\n|--:|--:|")
    for minute, megabytes in looks[:: max(1, len(looks) // 10)]:
        print(f"| {minute:.1f} | {megabytes:.0f} |")
    print(f"\nslope over the second half: {slope:+.1f} ± {2 * error:.1f} MB a minute; {options.slope:g} is the most")
    return 1 if slope - 2 * error > options.slope else 0


if __name__ == "__main__":
    sys.exit(main())
