"""bench/soak.py tells a leak from memory that goes up and down."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
soak = pytest.importorskip("soak", reason="the benchmarks lie in the repository alone")


@pytest.mark.parametrize(("leak", "found"), [(0.0, False), (0.5, False), (10.0, True), (40.0, True)])
def test_a_leak_is_told_from_noise(leak, found):
    rng = np.random.default_rng(0)
    minutes = np.arange(0, 5, 1 / 30)
    looks = [(minute, 500 + leak * minute + rng.normal(0, 10)) for minute in minutes.tolist()]
    slope, error = soak.slope_of(looks)
    assert slope == pytest.approx(leak, abs=3 * error + 1e-9)
    assert (slope - 2 * error > 1) == found


def test_words_are_new_every_time(shipped_love):
    rng = np.random.default_rng(0)
    first, second = soak.fresh_words(shipped_love, rng, 200), soak.fresh_words(shipped_love, rng, 200)
    assert len({*first, *second}) == 400
    assert not any(word in shipped_love for word in first)
