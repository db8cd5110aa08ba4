"""A fitting length for an imputed vector. A model gives directions only; tables also say something by length.

Measured on held-out words (runs/attach.py): a ridge regression of the log of the length on the model's vector is
nearer than the median length; the regression is kept where it wins on the held-out tenth, else the median stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.ridge import ridge
from lovevec.attach.sample import Sample

Floats = NDArray[np.float32]
EVEN = 0.01  # lengths that spread less than this (float16 rounding of unit rows does) are one length
FEWEST = 100
STRENGTH = 1.0


@dataclass(frozen=True, eq=False)
class Lengths:
    """Length of an imputed vector: `typical` for all, or exp(made @ slope + offset) within `least` and `most`."""

    typical: float
    slope: Floats | None = None
    offset: float = 0.0
    least: float = 0.0
    most: float = 0.0
    error: float | None = None
    error_typical: float | None = None

    def __call__(self, made: Floats) -> Floats:
        """Lengths for the model's unit rows: [n]."""
        if self.slope is None:
            return np.full(len(made), self.typical, dtype=np.float32)
        log = (made * self.slope).sum(axis=1) + self.offset
        lengths: Floats = np.clip(np.exp(log), self.least, self.most).astype(np.float32)
        return lengths

    @property
    def summary(self) -> str:
        """In a few words."""
        if self.slope is None:
            return f"length {self.typical:.4g}"
        return f"length by regression (median {self.typical:.4g})"

    @property
    def metadata(self) -> dict[str, Any]:
        """How lengths are chosen, and the mean relative error of that on held-out words."""
        return {
            "chosen by": "one length for all" if self.slope is None else "regression",
            "median": self.typical,
            "error": self.error,
            "error of the median": self.error_typical,
        }


def lengths_of(vectors: Floats) -> NDArray[np.float64]:
    """The length of each row, without a copy of the table on the way."""
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    return lengths


def fit_lengths(sample: Sample, norms: NDArray[np.float64]) -> Lengths:
    """Find how to choose lengths: `norms` are those of the whole table."""
    typical, least, most = np.quantile(norms, [0.5, 0.01, 0.99]).tolist()
    if norms.max() - norms.min() <= EVEN * typical:
        return Lengths(1.0 if abs(typical - 1) <= EVEN else typical)
    if len(sample.made) < FEWEST:
        return Lengths(typical)
    own = norms[sample.rows]
    held, rest = slice(0, sample.tested), slice(sample.tested, None)
    slope, offset = ridge(sample.made[rest], np.log(own[rest])[:, None], STRENGTH)
    fitted = Lengths(typical, slope[:, 0], float(offset[0]), least, most)
    error = _relative(fitted(sample.made[held]), own[held])
    error_typical = _relative(np.full(sample.tested, typical), own[held])
    if error < error_typical:
        return Lengths(typical, fitted.slope, fitted.offset, least, most, error, error_typical)
    return Lengths(typical, error=error_typical, error_typical=error_typical)


def _relative(guess: NDArray[np.floating[Any]], own: NDArray[np.float64]) -> float:
    return round(float(np.mean(np.abs(guess - own) / own)), 4)
