"""How large labels are, and where they go in a column, so that none lies on another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.figures.style import any_script

Floats = NDArray[np.float64]
GAP = 1.5  # points between two labels at least: other file kinds set text a little wider


def measure(figure: Any, text: str, size: float, weight: str = "normal") -> tuple[float, float]:
    """How wide and high a text is, in points."""
    probe = figure.text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    with any_script():
        box = probe.get_window_extent()
    probe.remove()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def apart(wanted: Floats, size: float, low: float, high: float) -> Floats:
    """Places from `low` to `high`, at least `size` from each other, as near to the wanted ones as can be.

    Least squares: neighbors that collide are pooled and share the mean of what they want. Where there is no room for
    all, they are as far apart as they can be.
    """
    order = np.argsort(wanted, kind="stable")
    size = min(size, (high - low) / max(len(wanted) - 1, 1))
    steps = size * np.arange(len(wanted))
    pools: list[tuple[float, int]] = []
    for want in wanted[order] - steps:
        mean, count = float(want), 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    flat = np.concatenate([np.full(count, mean) for mean, count in pools]) if pools else np.zeros(0)
    result = np.empty(len(wanted))
    result[order] = np.clip(flat, low, max(high - size * (len(wanted) - 1), low)) + steps
    return result
