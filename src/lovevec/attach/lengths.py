"""A fitting length for an imputed vector. A model gives directions only; tables also say something by length.

Measured on held-out words (lab/runs/attach.py): a ridge regression of the log of the length on the model's vector is
nearer than the median length; the regression is kept where it wins on the held-out tenth, else the median stays.

And the less sure the model is of a vector, the shorter it is: times the root of its confidence. What is known of a word
only by chance should say little. Measured on SST2 (docs/results/robustness.md): for every model tried a classifier is
better off with these lengths than with the usual ones on original text and under OCR damage, by up to 2.6 points; under
other damage by -0.7 to 1.3. A weak model at its usual lengths does worse than no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.backing import BackingModel
from lovevec.attach.space import Sample, ridge

Floats = NDArray[np.float32]
EVEN_SPREAD = 0.01  # lengths that differ by less (as float16 makes unit rows differ) are one length
MIN_SHARED_WORDS = 100  # for a regression
LENGTH_RIDGE = 1.0  # strength of the ridge regression
MIN_CONFIDENCE = 0.05  # a short vector still has a direction


@dataclass(frozen=True, eq=False)
class Lengths:
    """The length of an imputed vector: `typical` for all, or exp(v @ slope + offset) within `least` and `most`."""

    typical: float
    slope: Floats | None = None
    offset: float = 0.0
    least: float = 0.0
    most: float = 0.0
    error: float | None = None
    error_typical: float | None = None

    def __call__(self, vectors: Floats) -> Floats:
        """Lengths for the model's unit rows: [n]."""
        if self.slope is None:
            return np.full(len(vectors), self.typical, dtype=np.float32)
        log = (vectors * self.slope).sum(axis=1) + self.offset
        lengths: Floats = np.clip(np.exp(log), self.least, self.most).astype(np.float32)
        return lengths

    @property
    def summary(self) -> str:
        """How lengths are chosen, in a few words."""
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


def fit_lengths(sample: Sample, norms: NDArray[np.float64]) -> Lengths:
    """Find how to choose lengths: `norms` are those of the whole table."""
    typical, least, most = np.quantile(norms, [0.5, 0.01, 0.99]).tolist()
    if norms.max() - norms.min() <= EVEN_SPREAD * typical:
        return Lengths(1.0 if abs(typical - 1) <= EVEN_SPREAD else typical)
    if len(sample.vectors) < MIN_SHARED_WORDS:
        return Lengths(typical)
    own = norms[sample.rows]
    held, rest = slice(0, sample.tested), slice(sample.tested, None)
    slope, offset = ridge(sample.vectors[rest], np.log(own[rest])[:, None], LENGTH_RIDGE)
    fitted = Lengths(typical, slope[:, 0], float(offset[0]), least, most)
    error = _relative(fitted(sample.vectors[held]), own[held])
    error_typical = _relative(np.full(sample.tested, typical), own[held])
    if error < error_typical:
        return Lengths(typical, fitted.slope, fitted.offset, least, most, error, error_typical)
    return Lengths(typical, error=error_typical, error_typical=error_typical)


def _relative(guess: NDArray[np.floating[Any]], own: NDArray[np.float64]) -> float:
    return round(float(np.mean(np.abs(guess - own) / own)), 4)


class ConfidenceLength:
    """Factors for the lengths of imputed vectors: the root of the model's confidence; all 1 for a model that has no
    calibrated one. `known` says whether it has, `by_length` whether it judges by the lengths of vectors."""

    def __init__(self, model: BackingModel) -> None:
        self._confidence = model._imputed_confidence
        self.known = bool(np.isfinite(self._confidence(["a"])).all())
        self.by_length = self.known and model._tells_lengths

    def __call__(self, words: Sequence[str], lengths: Floats | None = None) -> Floats:
        """[len(words)], up to 1; `lengths` are those of the model's vectors before they were normalised."""
        if not self.known:
            return np.ones(len(words), dtype=np.float32)
        factors: Floats = np.sqrt(np.maximum(self._confidence(words, lengths), MIN_CONFIDENCE)).astype(np.float32)
        return factors
