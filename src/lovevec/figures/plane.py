"""Words on the plane that shows most of their vectors' differences (PCA)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Topics = Mapping[str, Sequence[str]]
Vectors = Mapping[str, NDArray[Any]]


def plane(vectors: NDArray[Any]) -> Floats:
    """The two main directions of the vectors (PCA): [n, dim] -> [n, 2]."""
    centre, directions = _main(vectors)
    result: Floats = (vectors - centre) @ directions
    return result


def _main(vectors: NDArray[Any]) -> tuple[Floats, Floats]:
    """The centre [dim] and the two directions [dim, 2], whose largest part is positive: no picture is mirrored."""
    vectors = np.asarray(vectors, dtype=np.float64)
    centre = vectors.mean(axis=0)
    found = np.linalg.svd(vectors - centre, full_matrices=False)[2][:2].T
    directions = np.zeros((vectors.shape[1], 2))
    directions[:, : found.shape[1]] = found * np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return centre, directions


def on_plane(topics: Topics, damaged: Mapping[str, str], vectors: Vectors) -> dict[str, Floats]:
    """Each word's spot on the plane of the topics' words."""
    words = [word for listed in topics.values() for word in listed]
    centre, directions = _main(np.stack([vectors[word] for word in words]))
    return {word: (vectors[word] - centre) @ directions for word in (*words, *damaged)}


def turned(planes: Sequence[dict[str, Floats]]) -> list[dict[str, Floats]]:
    """Turn and mirror all planes after the first so that words lie nearest to where they lie there (Procrustes)."""
    first = np.stack(list(planes[0].values()))
    result = []
    for spots in planes:
        left, _, right = np.linalg.svd(np.stack(list(spots.values())).T @ first)
        result.append({word: spot @ (left @ right) for word, spot in spots.items()})
    return result
