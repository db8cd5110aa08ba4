"""Vector files and cosines for the tests of `lovevec evaluate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def written(target: tuple[list[str], np.ndarray], file: Path, count: int) -> Path:
    """The first `count` words of a target as a text file of vectors."""
    words, vectors = target
    rows = [" ".join([word, *map(str, row.tolist())]) for word, row in zip(words[:count], vectors, strict=False)]
    file.write_text("\n".join([f"{count} {vectors.shape[1]}", *rows]) + "\n")
    return file


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
