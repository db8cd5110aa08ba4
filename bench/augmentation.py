"""Words per second of augmentation, units included, on one core, beside nlpaug's augmenters (which the paper used).

    python bench/augmentation.py [--words N]

nlpaug is measured when it is installed (pip install nlpaug); it gives strings, ours gives unit ids ready to train on.
Medians of five rounds. Made-up words, so the bench needs no data.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from lovevec.train.augmentation import Augmentation
from lovevec.train.settings import TrainSettings
from lovevec.units.characters import to_codes
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import build_vocabulary

ROUNDS = 5
CHUNK = 16_384


def made_words(count: int) -> list[str]:
    """Distinct words of two to five syllables."""
    rng = np.random.default_rng(0)
    syllables = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "l", "n", "r", "s")]
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(rng.choice(syllables, rng.integers(2, 6)))] = None
    return list(words)


def rate(work: Callable[[], int]) -> float:
    """Median words per second."""
    work()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        count = work()
        found.append(count / (time.perf_counter() - start))
    return statistics.median(found)


def ours(words: list[str], **probabilities: float) -> float:
    """Rate of our augmentation with these probabilities."""
    units = Units(build_vocabulary(words))
    synonyms = Ragged(np.arange(2 * len(words), dtype=np.int32) % len(words), np.arange(0, 2 * len(words) + 1, 2))
    augment = Augmentation(to_codes(words), units.encode(words), units, synonyms, probabilities)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(words), CHUNK)
    return rate(lambda: len(augment(rows, rng)))


def theirs(words: list[str]) -> dict[str, float]:
    """Rates of nlpaug's character augmenters, one word a call as its users do, or nothing without nlpaug."""
    try:
        import nlpaug.augmenter.char as nac
    except ImportError:
        return {}
    few = words[:500]
    kinds = {
        "nlpaug swap": nac.RandomCharAug(action="swap"),
        "nlpaug drop": nac.RandomCharAug(action="delete"),
        "nlpaug insert": nac.RandomCharAug(action="insert"),
        "nlpaug keyboard": nac.KeyboardAug(),
    }

    def work(augmenter: object) -> Callable[[], int]:
        return lambda: len([augmenter.augment(word) for word in few])  # type: ignore[attr-defined]

    return {name: rate(work(augmenter)) for name, augmenter in kinds.items()}


def main() -> None:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=30_000)
    words = made_words(parser.parse_args().words)
    paper = TrainSettings().augmentation
    rows = {
        "lovevec, the paper's probabilities": ours(words, **paper),
        "lovevec, typos only": ours(words, swap=1, drop=1, insert=1, keyboard=1),
        "lovevec, no augmentation": ours(words, none=1),
        **theirs(words),
    }
    print("| one core | words/s |\n|---|--:|")
    for name, speed in rows.items():
        print(f"| {name} | {speed:,.0f} |")


if __name__ == "__main__":
    main()
