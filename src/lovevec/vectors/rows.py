"""Rows of a table: at length 1 or another, some of them kept, and one for each word in lower case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lovevec.files.tensors import in_blocks, lengths_of

Float = TypeVar("Float", np.float32, np.float64)
ROWS_PER_BLOCK = 4096
MIN_LENGTH, MAX_LENGTH = 1e-15, 1e18  # beyond which squares are lost in float32


def normalized(rows: NDArray[Float]) -> NDArray[Float]:
    """Rows at length 1, along the last axis and in their own type; rows of zeros stay zeros."""
    with np.errstate(over="ignore", under="ignore"):
        lengths = np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
    absurd = ~((lengths > MIN_LENGTH) & (lengths < MAX_LENGTH))  # too short or long for their squares, or of zeros
    if absurd.any():
        largest = np.where(absurd, np.abs(rows).max(axis=-1, keepdims=True, initial=0), 1)
        rows = (rows / np.where(largest > 0, largest, 1)).astype(rows.dtype, copy=False)
        lengths = np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
    lengths[lengths == 0] = 1
    result: NDArray[Float] = rows / lengths
    return result


def scale_to(vectors: NDArray[np.float32], lengths: NDArray[np.float64]) -> NDArray[np.float32]:
    """The same directions at other lengths; rows of zeros stay so."""
    now = lengths_of(vectors)
    result: NDArray[np.float32] = vectors * (lengths / np.where(now > 0, now, 1)).astype(np.float32)[:, None]
    return result


def keep_rows(vectors: NDArray[np.float32], keep: NDArray[np.bool_], owned: bool) -> NDArray[np.float32]:
    """The rows where `keep` is true; the array itself where that is all of them.

    An array that is `owned` (nobody else holds it) is closed up in place and cut; any other is copied.
    """
    if keep.all():
        return vectors
    in_place = owned and vectors.flags.owndata and vectors.flags.c_contiguous
    kept = vectors if in_place else np.empty((int(keep.sum()), vectors.shape[1]), vectors.dtype)
    at = 0
    for low, rows in in_blocks(vectors, ROWS_PER_BLOCK):
        block = rows[keep[low : low + ROWS_PER_BLOCK]]
        kept[at : at + len(block)] = block
        at += len(block)
    if in_place:
        vectors.resize((at, vectors.shape[1]), refcheck=False)
    return kept


def lower_case(words: Sequence[str]) -> tuple[list[str], NDArray[np.bool_]]:
    """Lower-case distinct words, and drop some so that they are distinct again: those left, and which rows they are.

    A word that is lower case in the table wins over `Word` and `WORD`; without it the first of them does.

        lower_case(["The", "the", "US"]) -> (["the", "us"], [False, True, True])
    """
    lowered = [word if (low := word.lower()) == word else low for word in words]
    keep = np.fromiter((low is word for low, word in zip(lowered, words, strict=True)), bool, len(words))
    taken = {lowered[row] for row in np.flatnonzero(keep).tolist()}
    for row in np.flatnonzero(~keep).tolist():
        if lowered[row] not in taken:
            taken.add(lowered[row])
            keep[row] = True
    return [lowered[row] for row in np.flatnonzero(keep).tolist()], keep
