"""The broken words that a thread has met, and their vectors, where the model needs them. When it is full it starts
anew, so memory is bounded; threads do not get in each other's way."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from lovevec.plugins.transformers.wire_format import to_words

Floats = NDArray[np.float32]
MOST_WORDS = 50_000


class WordCache(threading.local):
    """Rows of numbers for words, on one device."""

    def __init__(self) -> None:
        self.asked = False  # whether the ids at hand hold any word
        self.clear()

    def __deepcopy__(self, memo: dict[int, object]) -> WordCache:
        return WordCache()

    def __reduce__(self) -> tuple[type[WordCache], tuple[()]]:
        return WordCache, ()

    def clear(self) -> None:
        """Forget all words."""
        self.row: dict[bytes, int] = {}
        self.vectors: torch.Tensor | None = None

    def rows(self, keys: list[bytes], compute: Callable[[list[str]], Floats], like: torch.Tensor) -> NDArray[np.int64]:
        """The row of each word; what is met for the first time is computed. `like` says device and type."""
        if self.vectors is not None and (self.vectors.device, self.vectors.dtype) != (like.device, like.dtype):
            self.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self.row]
        if new and len(self.row) + len(new) > MOST_WORDS:
            self.clear()
            new = list(dict.fromkeys(keys))
        if new:
            self._add(new, compute(to_words(new)), like)
        return np.fromiter((self.row[key] for key in keys), dtype=np.int64, count=len(keys))

    def _add(self, keys: list[bytes], vectors: Floats, like: torch.Tensor) -> None:
        first, behind = len(self.row), len(self.row) + len(keys)
        with torch.inference_mode(False), torch.no_grad():  # so that training may follow upon inference
            room = 0 if self.vectors is None else len(self.vectors)
            if behind > room:
                wider = torch.zeros(
                    (max(behind, 2 * room, 1024), vectors.shape[1]), device=like.device, dtype=like.dtype
                )
                if self.vectors is not None:
                    wider[:first] = self.vectors[:first]
                self.vectors = wider
            assert self.vectors is not None
            self.vectors[first:behind] = torch.from_numpy(vectors).to(like.device, like.dtype)
        self.row.update(zip(keys, range(first, behind), strict=True))
