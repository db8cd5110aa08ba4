"""Batches: which words a step sees, with which hard negatives, augmented how.

Every draw is a function of (seed, epoch, chunk), never of what ran before, so a run can start anywhere: a resumed
run, or each of several processes, makes the same batches. A chunk of batches is made at once, vectorised, in a thread
of its own while the last one trains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lovevec.train.augmentation import Augmentation
from lovevec.train.settings import TrainSettings
from lovevec.train.synonyms import symmetric
from lovevec.units.ragged import Ragged, spread

CHUNK_ROWS = 16_384
CHUNKS_AHEAD = 4
# Attention costs n² in the longest word of a batch, so the few words of more units than this are encoded on their own.
LONG_WORD_UNITS = 40


@dataclass(frozen=True)
class Batch:
    """One step's input. `words` [b] rows of the target, those with many units last; `units` [u] table rows in use;
    `parts`, short words and long ones: `index` [rows, n] into `units` and `lengths` [rows], then the same for the
    bag of n-grams; `pairs` [2, p] of rows that are synonyms."""

    step: int
    words: Tensor
    units: Tensor
    parts: list[tuple[Tensor, Tensor, Tensor, Tensor]]
    pairs: Tensor


class Batches:
    """The batches of a run over all words but the `hidden` ones [words]; `negatives` [words, k] are the rows of their
    look-alikes, -1 where there are no more."""

    def __init__(
        self,
        hidden: NDArray[np.bool_],
        negatives: NDArray[np.int32],
        synonyms: Ragged,
        augment: Augmentation,
        settings: TrainSettings,
        device: torch.device,
    ) -> None:
        self.rows = rows = np.flatnonzero(~hidden)
        self.hidden, self.negatives, self.augment = hidden, negatives, augment
        self.synonyms = symmetric(synonyms)
        vocabulary = augment.units.vocabulary
        self.unit_rows, self.table_rows = vocabulary.unit_rows, vocabulary.table_rows
        self.settings, self.device = settings, device
        self.size = min(settings.batch, len(rows))
        self.per_epoch = len(rows) // self.size
        self.steps = self.per_epoch * settings.epochs
        self.per_chunk = max(1, CHUNK_ROWS // (self.size * (1 + settings.hard_negatives)))

    def __call__(self, first: int = 0) -> Generator[Batch]:
        """All batches from step `first` on, made ahead of their use in a thread of its own."""
        chunks, pool = self._chunks(first), ThreadPoolExecutor(1, "lovevec-batches")
        try:
            ahead = deque(pool.submit(next, chunks, None) for _ in range(CHUNKS_AHEAD))
            while (chunk := ahead.popleft().result()) is not None:
                ahead.append(pool.submit(next, chunks, None))
                yield from chunk
        finally:
            pool.shutdown(cancel_futures=True)

    def _chunks(self, first: int) -> Iterator[list[Batch]]:
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)  # of the thread that makes them
        for epoch in range(first // self.per_epoch, self.settings.epochs):
            rng = np.random.default_rng([self.settings.seed, 1, epoch])
            order, begin = self.rows[rng.permutation(len(self.rows))], epoch * self.per_epoch
            for low in range(0, self.per_epoch, self.per_chunk):
                high = min(low + self.per_chunk, self.per_epoch)
                if begin + high <= first:
                    continue
                rng = np.random.default_rng([self.settings.seed, 2, epoch, low])
                chunk = self._chunk(order[low * self.size : high * self.size], begin + low, rng)
                yield [batch for batch in chunk if batch.step >= first]

    def _chunk(self, words: NDArray[np.int64], step: int, rng: np.random.Generator) -> list[Batch]:
        """The batches of the steps from `step` on: `words`, and behind the rows of each batch their hard negatives."""
        count = len(words) // self.size
        negatives = self._draw_negatives(words, rng)
        rows = np.concatenate([words.reshape(count, self.size), negatives.reshape(count, -1)], axis=1)
        encoded = self.augment(rows.ravel(), rng)
        places = np.arange(rows.size).reshape(rows.shape)
        arrays = [self._arrays(row, encoded.take(place)) for row, place in zip(rows, places, strict=True)]
        batches = []
        for number, (shown, units, pairs, *rest) in enumerate(self._on_device(arrays), step):
            parts = list(zip(rest[0::4], rest[1::4], rest[2::4], rest[3::4], strict=True))
            batches.append(Batch(number, shown, units, parts, pairs))
        return batches

    def _on_device(self, batches: list[list[NDArray[np.int64]]]) -> Iterator[list[Tensor]]:
        """The arrays of each batch as tensors. One transfer for the whole chunk; they are views of it."""
        flat = torch.from_numpy(np.concatenate([array.ravel() for arrays in batches for array in arrays]))
        if self.device.type == "cuda":
            flat = flat.pin_memory().to(self.device, non_blocking=True)
        views = iter(flat.to(self.device).split([array.size for arrays in batches for array in arrays]))
        for arrays in batches:
            yield [next(views).view(array.shape) for array in arrays]

    def _arrays(self, words: NDArray[np.int64], encoded: Ragged) -> list[NDArray[np.int64]]:
        """[words, units, pairs], then index and lengths of units and of n-grams, for short words and for long ones."""
        units, ngrams = encoded.split(self.unit_rows)
        long = units.lengths > LONG_WORD_UNITS
        order, short = np.argsort(long, kind="stable"), int(len(long) - long.sum())
        in_use = np.zeros(self.table_rows, dtype=bool)
        in_use[encoded.values] = True
        table_rows = np.flatnonzero(in_use)
        place = np.empty(self.table_rows, dtype=np.int64)
        place[table_rows] = np.arange(len(table_rows))
        arrays = [words[order], table_rows, self._pairs(words[order])]
        for rows in (order[:short], order[short:]):
            for lists in (units.take(rows), ngrams.take(rows)) if len(rows) else ():
                width = -(-int(lists.lengths.max()) // 8) * 8
                index = Ragged(place[lists.values], lists.offsets).padded(width)
                arrays += [index.astype(np.int64, copy=False), lists.lengths]
        return arrays

    def _pairs(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """[2, p]: all (i, j) where the word of row j is a synonym of the word of row i."""
        synonyms = self.synonyms.take(words)
        order = np.argsort(words, kind="stable")
        ordered = words[order]
        first = np.searchsorted(ordered, synonyms.values, side="left")
        # A word may stand in several rows: a synonym then has `count` places in `ordered`, from `first` on.
        count = np.searchsorted(ordered, synonyms.values, side="right") - first
        start = spread(first - (np.cumsum(count) - count), count)
        return np.stack([spread(synonyms.owners, count), order[start + np.arange(len(start))]])

    def _draw_negatives(self, words: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.integer]:
        """[len(words), hard_negatives]: look-alikes at random, or any word where one has none."""
        anyone = self.rows[rng.integers(0, len(self.rows), (len(words), self.settings.hard_negatives))]
        negatives = self.negatives[words]
        usable = (negatives >= 0) & ~self.hidden[negatives]
        look_alikes = Ragged.from_lengths(negatives[usable], usable.sum(axis=1))
        return look_alikes.draw(np.arange(len(words))[:, None], anyone, rng)
