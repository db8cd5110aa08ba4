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

from lovevec.ragged import Ragged
from lovevec.train.augmentation import Augmentation
from lovevec.train.settings import TrainSettings

CHUNK_ROWS = 16_384
AHEAD = 4
NARROWEST = 16


@dataclass(frozen=True)
class Batch:
    """One step's input: `units` [u] table rows in use, `index` [b, n] into them, `lengths` [b], `words` [b]."""

    step: int
    words: Tensor
    units: Tensor
    index: Tensor
    lengths: Tensor


class Batches:
    """The batches of a run over `rows`, the words to train on."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        negatives: Ragged,
        augment: Augmentation,
        table_rows: int,
        settings: TrainSettings,
        device: torch.device,
    ) -> None:
        self.rows, self.negatives, self.augment = rows, negatives, augment
        self.table_rows, self.settings, self.device = table_rows, settings, device
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
            order = self.rows[np.random.default_rng([self.settings.seed, 1, epoch]).permutation(len(self.rows))]
            for low in range(0, self.per_epoch, self.per_chunk):
                high = min(low + self.per_chunk, self.per_epoch)
                begin = epoch * self.per_epoch
                if begin + high <= first:
                    continue
                rng = np.random.default_rng([self.settings.seed, 2, epoch, low])
                chunk = self._chunk(order[low * self.size : high * self.size], begin + low, rng)
                yield [batch for batch in chunk if batch.step >= first]

    def _chunk(self, words: NDArray[np.int64], step: int, rng: np.random.Generator) -> list[Batch]:
        count = len(words) // self.size
        rows = np.concatenate(
            [words.reshape(count, self.size), self._draw_negatives(words, rng).reshape(count, -1)], axis=1
        )
        encoded = self.augment(rows.ravel(), rng)
        width = -(-max(int(encoded.lengths.max()), NARROWEST) // 8) * 8
        ids = encoded.padded(width=width).reshape(*rows.shape, width)
        units, index = zip(*map(self._compact, ids), strict=True)
        ends = np.cumsum([0, *map(len, units)])
        # One transfer for the chunk; its batches are views on the device.
        all_words, all_units, all_index, lengths = map(
            self._send, (rows, np.concatenate(units), np.stack(index), encoded.lengths.reshape(rows.shape))
        )
        return [
            Batch(step + i, all_words[i], all_units[ends[i] : ends[i + 1]], all_index[i], lengths[i])
            for i in range(count)
        ]

    def _compact(self, ids: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Table rows in use, and `ids` as positions among them: np.unique with its inverse, without the sort."""
        used = np.zeros(self.table_rows, dtype=bool)
        used[ids.ravel()] = True
        units = np.flatnonzero(used)
        place = np.empty(self.table_rows, dtype=np.int64)
        place[units] = np.arange(len(units))
        return units, place[ids]

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
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        return (
            tensor.pin_memory().to(self.device, non_blocking=True)
            if self.device.type == "cuda"
            else tensor.to(self.device)
        )
