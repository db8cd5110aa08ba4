"""A method's vectors, refused where they are no numbers: one NaN would spoil every score without a word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.errors import LovevecError
from lovevec.methods.method import Floats, Method


def checked_embed(method: Method, words: Sequence[str]) -> Floats:
    """[len(words), dim]; an error names the method and the first word whose vector holds NaN or Inf."""
    vectors = method.embed(words)
    good = np.isfinite(vectors).all(axis=1)
    if not good.all():
        bad = words[int(np.argmin(good))]
        raise LovevecError(f"{method.name}: its vector of {bad!r:.60} holds numbers that are not finite")
    return vectors
