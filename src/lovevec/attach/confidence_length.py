"""An imputed vector is the shorter the less sure the model is of it: times the root of its confidence.

What is known of a word only by chance should say little. Measured on SST2 (docs/results/robustness.md): for every model
tried a classifier is better off with these lengths than with the usual ones on original text and under OCR damage, by
up to 2.6 points; under other damage by -0.7 to 1.3. A weak model at its usual lengths does worse than no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
LEAST = 0.05  # of confidence: a short vector still has a direction


class ConfidenceLength:
    """Factors for the lengths of imputed vectors; all 1 for a model that has no calibrated confidence."""

    def __init__(self, model: Any) -> None:
        self._confidence = getattr(model, "confidence", None)
        self.known = self._confidence is not None and bool(np.isfinite(self._confidence(["a"])).all())

    def __call__(self, words: Sequence[str]) -> Floats:
        """[len(words)], up to 1."""
        if not self.known or self._confidence is None:
            return np.ones(len(words), dtype=np.float32)
        factors: Floats = np.sqrt(np.maximum(self._confidence(words), LEAST)).astype(np.float32)
        return factors
