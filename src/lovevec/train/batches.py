"""Batches: which words a step sees, with which hard negatives, augmented how.

Every draw is a function of (seed, epoch, chunk), never of what ran before, so a run can start anywhere: a resumed
run, or each of several processes, makes the same batches. A chunk of batches is made at once, vectorised, in a thread
of its own while the last one trains.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lovevec.train.augmentation import Augmentation
from lovevec.train.settings import TrainSettings
from lovevec.train.synonyms import Synonyms
from lovevec.units.ragged import Ragged, spread

CHUNK_ROWS = 16_384
AHEAD = 4
# Attention costs n² in the longest word of a batch, so the few words of more units than this are encoded on their own.
LONG = 40


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
    """The batches of a run over `rows`, the words to train on."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        negatives: Ragged,
        synonyms: Synonyms,
        augment: Augmentation,
        settings: TrainSettings,
        device: torch.device,
    ) -> None:
        self.rows, self.negatives, self.augment = rows, negatives, augment
        both_ways = synonyms.symmetric()
        self.synonyms = Ragged(both_ways.indices, both_ways.indptr)
        vocabulary = augment.units.vocabulary
        self.unit_rows, self.table_rows = vocabulary.unit_rows, vocabulary.table_rows
        self.settings, self.device = settings, device
        self.size = min(settings.batch, len(rows))
        self.per_epoch = len(rows) // self.size
        self.steps = self.per_epoch * settings.epochs
        self.per_chunk = max(1, CHUNK_ROWS // (self.size * (1 + settings.hard_negatives)))

    def __call__(self, first: int = 0) -> Generator[Batch]:
        """All batches from step `first` on, made ahead in a thread."""
        ready: queue.Queue[list[Batch] | BaseException | None] = queue.Queue(AHEAD)
        stop = threading.Event()

        def hand(item: list[Batch] | BaseException | None) -> None:
            while not stop.is_set():
                try:
                    return ready.put(item, timeout=0.1)
                except queue.Full:
                    continue

        def work() -> None:
            try:
                if self.device.type == "cuda":
                    torch.cuda.set_device(self.device)
                for chunk in self._chunks(first):
                    hand(chunk)
                    if stop.is_set():
                        return
                hand(None)
            except BaseException as error:  # noqa: BLE001  handed to the training thread, which raises it
                hand(error)

        thread = threading.Thread(target=work, name="lovevec-batches", daemon=True)
        thread.start()
        try:
            while (item := ready.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield from item
        finally:
            stop.set()
            thread.join()

    def _chunks(self, first: int) -> Iterator[list[Batch]]:
        for epoch in range(first // self.per_epoch, self.settings.epochs):
            order = self._order(np.random.default_rng([self.settings.seed, 1, epoch]))
            for low in range(0, self.per_epoch, self.per_chunk):
                high = min(low + self.per_chunk, self.per_epoch)
                begin = epoch * self.per_epoch
                if begin + high <= first:
                    continue
                rng = np.random.default_rng([self.settings.seed, 2, epoch, low])
                chunk = self._chunk(order[low * self.size : high * self.size], begin + low, rng)
                yield [batch for batch in chunk if batch.step >= first]

    def _order(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The words of an epoch, each once, shuffled."""
        return self.rows[rng.permutation(len(self.rows))]

    def _chunk(self, words: NDArray[np.int64], step: int, rng: np.random.Generator) -> list[Batch]:
        count = len(words) // self.size
        rows = np.concatenate(
            [words.reshape(count, self.size), self._draw_negatives(words, rng).reshape(count, -1)], axis=1
        )
        encoded = self.augment(rows.ravel(), rng)
        width = rows.shape[1]
        made = [
            self._arrays(rows[i], encoded.take(np.arange(i * width, (i + 1) * width, dtype=np.int64)))
            for i in range(count)
        ]
        # One transfer for the chunk; its batches are views on the device.
        flat = self._send(np.concatenate([array.ravel() for arrays in made for array in arrays]))
        ends = np.cumsum([0, *(array.size for arrays in made for array in arrays)]).tolist()
        views = (
            flat[low:high].view(array.shape)
            for low, high, array in zip(ends, ends[1:], (array for arrays in made for array in arrays), strict=False)
        )
        batches = []
        for number, arrays in enumerate(made):
            sent = [next(views) for _ in arrays]
            parts = list(zip(*(sent[number::4] for number in (3, 4, 5, 6)), strict=True))
            batches.append(Batch(step + number, sent[0], sent[1], parts, sent[2]))
        return batches

    def _arrays(self, words: NDArray[np.int64], encoded: Ragged) -> list[NDArray[np.int64]]:
        """[words, units, pairs], then index and lengths of units and of n-grams, for short words and for long ones."""
        both = encoded.split(self.unit_rows)
        long = both[0].lengths > LONG
        order = np.argsort(long, kind="stable")
        words, cut = words[order], int(len(long) - long.sum())
        used = np.zeros(self.table_rows, dtype=bool)
        used[encoded.values] = True
        units = np.flatnonzero(used)
        place = np.empty(self.table_rows, dtype=np.int64)
        place[units] = np.arange(len(units))
        arrays = [words, units, self._pairs(words)]
        for low, high in ((0, cut), (cut, len(words))):
            if low < high:
                for part in (kind.take(order[low:high]) for kind in both):
                    width = -(-int(part.lengths.max()) // 8) * 8
                    index = Ragged(place[part.values], part.offsets).padded(width)
                    arrays += [index.astype(np.int64, copy=False), part.lengths]
        return arrays

    def _pairs(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """[2, p]: all (i, j) where the word of row j is a synonym of the word of row i."""
        listed = self.synonyms.take(words)
        owner = spread(np.arange(len(words)), listed.lengths)
        order = np.argsort(words, kind="stable")
        ordered = words[order]
        low = np.searchsorted(ordered, listed.values, side="left")
        hits = np.searchsorted(ordered, listed.values, side="right") - low  # a word may stand in several rows
        found = np.flatnonzero(hits)
        first = spread(low[found], hits[found])
        within = np.arange(len(first)) - spread(np.cumsum(hits[found]) - hits[found], hits[found])
        return np.stack([spread(owner[found], hits[found]), order[first + within]])

    def _draw_negatives(self, words: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """[len(words), hard_negatives]: look-alikes at random, or any word where one has none."""
        shape = (len(words), self.settings.hard_negatives)
        first = self.negatives.offsets[words][:, None]
        count = (self.negatives.offsets[words + 1] - self.negatives.offsets[words])[:, None]
        anyone = self.rows[rng.integers(0, len(self.rows), shape)]
        pick = first + (rng.random(shape) * count).astype(np.int64)
        if not len(self.negatives.values):
            return anyone
        return np.where(count > 0, self.negatives.values[np.minimum(pick, len(self.negatives.values) - 1)], anyone)

    def _send(self, array: NDArray[np.int64]) -> Tensor:
        tensor = torch.from_numpy(array)
        if self.device.type != "cuda":
            return tensor.to(self.device)
        return tensor.pin_memory().to(self.device, non_blocking=True)
