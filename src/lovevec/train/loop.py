"""The training loop: for each batch encode, compare with the target, move the weights; checkpoints, progress, stops."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from lovevec.damage.languages import ENGLISH, Language
from lovevec.encoders.network import EncoderNetwork
from lovevec.errors import LovevecError, Parameter
from lovevec.files.checkpoints import CheckpointFolder, Interruption, damage_named
from lovevec.files.tensors import release
from lovevec.progress import Progress
from lovevec.room import refuse_more_than_there_is
from lovevec.train.augmentation import Augmentation
from lovevec.train.batches import Batch, Batches
from lovevec.train.group import Group
from lovevec.train.losses import alignment_uniformity, contrastive, mse, related_rows
from lovevec.train.optimiser import Optimiser
from lovevec.train.prepared import Prepared
from lovevec.train.settings import TrainSettings
from lovevec.units.characters import to_codes
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged

CHECKPOINT = "checkpoint"
BYTES_PER_WEIGHT = 16  # float32: itself, its gradient, and two means that Adam keeps


class Trainer:
    """One training run over a prepared target: its network, its batches and its optimiser."""

    def __init__(
        self,
        prepared: Prepared,
        settings: TrainSettings,
        device: torch.device,
        group: Group,
        language: Language = ENGLISH,
    ) -> None:
        self.language = language
        self.prepared, self.settings, self.device, self.group = prepared, settings, device, group
        self.spec = settings.spec(prepared.vectors.shape[1])
        self.holdout = holdout_rows(len(prepared.words), settings.holdout, settings.seed)
        self.units = Units(prepared.vocabulary, prepared.settings.input, prepared.lowercase)
        rows, width = self.units.vocabulary.table_rows, prepared.settings.row_width
        self._refuse_too_large(rows, width)
        self.network = EncoderNetwork(self.spec, rows, width, settings.dropout)
        self.network.start(settings.seed)
        self.batches = self._batches()
        self.network.to(device).train()
        self.optimiser = Optimiser(self.network, settings)
        if group.size > self.batches.size:
            raise LovevecError(f"{group.size} processes for batches of {self.batches.size} words: raise batch")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nor written to
            self.targets = torch.from_numpy(prepared.vectors).to(device)
        if device.type != "cpu":  # there a second table would cost more than to do it for each batch
            self.targets = normalize(self.targets.float(), dim=1)
        self.generator = torch.Generator(device)
        self.network.use_generator(self.generator)
        self.losses: list[float] = []
        self.seconds = 0.0

    def _refuse_too_large(self, rows: int, width: int) -> None:
        """Raise an error where the weights will not fit into memory, with what training needs beside them."""
        with torch.device("meta"):  # counts them and takes no memory
            network = EncoderNetwork(self.spec, rows, width)
        if self.device.type == "cpu":
            needed = BYTES_PER_WEIGHT * sum(weight.numel() for weight in network.parameters())
            smaller = ", ".join(f"{Parameter(name)}" for name in ("key_width", "head", "ngrams", "vocabulary_size"))
            what = f"an encoder of {self.spec.dim:,} dimensions"
            refuse_more_than_there_is(needed, what, f"train on fewer dimensions, or with smaller {smaller}")

    def tidy(self) -> None:
        """Forget what only training needs; what comes after it wants the memory."""
        self.steps = self.batches.steps
        del self.batches, self.targets, self.optimiser
        self._release()
        self.prepared = replace(self.prepared, negatives=np.empty((0, 0), np.int32))

    def _release(self) -> None:
        """Of a target that lies in a file a few batches' rows are in memory, not all that were ever met."""
        release(self.prepared.vectors)
        release(self.prepared.negatives)

    def _batches(self) -> Batches:
        prepared, settings, synonyms = self.prepared, self.settings, self.prepared.synonyms
        hidden = np.zeros(len(prepared.words), dtype=bool)
        hidden[self.holdout] = True
        keep = ~hidden[synonyms.values]  # so no step ever shows a word that is held back
        counts = np.bincount(synonyms.owners[keep], minlength=len(synonyms))
        synonyms = Ragged.from_lengths(synonyms.values[keep], counts)
        codes = to_codes(prepared.words, prepared.lowercase)
        encoded = self.units.encode_codes(codes)
        augment = Augmentation(
            codes, encoded, self.units, synonyms, settings.augmentation, settings.twice, self.language
        )
        return Batches(hidden, prepared.negatives, synonyms, augment, settings, self.device)

    def run(self, unfinished: CheckpointFolder, progress: Progress, at_checkpoint: Callable[[], None]) -> None:
        """Train to the end, from the checkpoint that was kept if there is one; checkpoints go there too."""
        first, log = load_checkpoint(unfinished, self.network, self.optimiser)
        self.losses, before = log.get("losses", []), log.get("seconds", 0.0)
        batches, size = self.batches, self.batches.size
        meter = Meter(self.device)
        if first:
            progress.say(f"going on from step {first:,} of {batches.steps:,}")
            meter.load(log["meter"])
        begun = time.perf_counter()

        def keep(step: int) -> None:
            self.seconds = before + time.perf_counter() - begun
            if self.group.first and step > first:
                log = {"losses": self.losses, "seconds": self.seconds, "meter": meter.state()}
                save_checkpoint(unfinished, self.network, self.optimiser, step, log)
                at_checkpoint()

        shown = progress.phase("training", batches.steps * size, done=first * size)
        with shown as phase, closing(batches(first)) as feed, Interruption() as interruption:
            done = first
            for batch in feed:
                meter.add(self.step(batch))
                done = batch.step + 1
                if done % batches.per_chunk == 0:
                    self._release()
                phase.advance(size, self._status(batch.step, meter.glance()))
                if done % batches.per_epoch == 0:
                    self.losses.append(round(meter.mean(), 5))
                if interruption.asked:
                    keep(done)
                    interruption.stop()
                if unfinished.is_due and (self.settings.checkpoint_minutes or done % batches.per_epoch == 0):
                    keep(done)  # without minutes after each epoch
        with torch.no_grad():
            self.network.table[self.optimiser.unmoved_rows()] = 0  # a unit that no word ever had says nothing
        self._refuse_unless(all(bool(weight.isfinite().all()) for weight in self.network.parameters()), done)
        keep(done)

    def _status(self, step: int, loss: float | None) -> str:
        """What the progress line says of a step; a loss that is no number ends the run."""
        self._refuse_unless(loss is None or np.isfinite(loss), step + 1)
        value = "…" if loss is None else f"{loss:.3f}"
        return f"epoch {step // self.batches.per_epoch + 1}/{self.settings.epochs}  loss {value}"

    def _refuse_unless(self, finite: bool | np.bool_, step: int) -> None:
        if not finite:
            raise LovevecError(
                f"the loss is no longer a number near step {step:,}: lower learning_rate"
                f" (now {self.settings.learning_rate:g}) or raise temperature (now {self.settings.temperature:g})"
            )

    def step(self, batch: Batch) -> Tensor:
        """Encode a batch and move the weights by the gradients of its loss, which is returned, still on the device."""
        # A seed for each step and process: 64 bits of a hash that numpy keeps stable.
        mixed = np.random.SeedSequence([self.settings.seed, 3, batch.step, self.group.rank])
        self.generator.manual_seed(int(mixed.generate_state(1, np.uint64)[0] >> np.uint64(1)))
        self.optimiser.zero()
        rows = self.optimiser.rows(batch.units)
        half = self.settings.precision == "bfloat16"
        with torch.autocast(self.device.type, dtype=torch.bfloat16) if half else nullcontext():
            generated = torch.cat([self._encode(rows, *part) for part in batch.parts])
        loss = self.loss(generated, batch.words, batch.pairs)
        loss.backward()
        self.group.add_up(self.optimiser.gradients())
        self.optimiser.step(batch.units, batch.step / self.batches.steps)
        return loss.detach()

    def _encode(self, rows: Tensor, index: Tensor, lengths: Tensor, bag: Tensor, bag_lengths: Tensor) -> Tensor:
        """The vectors of all words of a part: this process computes its share and gets the others'."""
        mine = self.group.share(len(index))
        own = rows.new_empty(0, self.spec.dim)
        if mine.start < mine.stop:
            own = self.network(rows, index[mine], lengths[mine], bag[mine], bag_lengths[mine])
        return self.group.gather(own, len(index))

    def loss(self, generated: Tensor, words: Tensor, pairs: Tensor) -> Tensor:
        """The chosen loss of a batch's vectors against the target's; `pairs` are synonyms."""
        settings, target = self.settings, self.targets[words]
        if self.device.type == "cpu":
            target = normalize(target.float(), dim=1)
        if settings.loss == "mse":
            return mse(generated, target)
        related = related_rows(words, pairs)
        if settings.loss == "alignment":
            return alignment_uniformity(generated, target, related)
        return contrastive(generated, target, related, settings.temperature)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        return {name: weight.detach().float().cpu().numpy() for name, weight in self.network.state_dict().items()}


class Meter:
    """Reads the loss without making the GPU wait: losses are summed on the device and copied in the background.
    `glance` gives a recent one for free, `mean` waits for the sum of the steps since its last call."""

    def __init__(self, device: torch.device) -> None:
        self.cuda = device.type == "cuda"
        self.total, self.count = torch.zeros((), device=device), 0
        self.value: float | None = None
        self.coming: tuple[Tensor, torch.cuda.Event] | None = None

    def add(self, loss: Tensor) -> None:
        self.total += loss
        self.count += 1
        if not self.cuda:
            self.value = float(loss)
        elif self.coming is None:
            host = torch.empty((), pin_memory=True)
            host.copy_(loss, non_blocking=True)
            event = torch.cuda.Event()
            event.record()
            self.coming = host, event

    def glance(self) -> float | None:
        """The last loss that has arrived from the device, or None while none has."""
        if self.coming is not None and self.coming[1].query():
            self.value, self.coming = float(self.coming[0]), None
        return self.value

    def state(self) -> dict[str, float]:
        return {"total": float(self.total), "count": self.count}

    def load(self, state: dict[str, float]) -> None:
        self.total.fill_(state["total"])
        self.count = int(state["count"])

    def mean(self) -> float:
        mean = float(self.total) / max(self.count, 1)
        self.total.zero_()
        self.count = 0
        return mean


def holdout_rows(count: int, share: float, seed: int) -> NDArray[np.int64]:
    """Rows of the words that training never sees, chosen by the seed; at least two words stay for training."""
    most = min(round(count * share), count - 2)
    return np.sort(np.random.default_rng([seed, 0]).choice(count, max(most, 0), replace=False))


class Stateful(Protocol):
    """An optimiser that hands out all that a resumed run needs of it, by name, and takes it back."""

    def state(self) -> dict[str, Tensor]: ...

    def load(self, state: dict[str, Tensor]) -> None: ...


def save_checkpoint(
    unfinished: CheckpointFolder, network: nn.Module, optimiser: Stateful, step: int, log: dict[str, Any]
) -> None:
    """Write what a run needs to go on from `step` as if it had never stopped; `log` goes with it, as JSON."""
    if unfinished.folder is None:
        return
    tensors = {f"network.{name}": weight for name, weight in network.state_dict().items()}
    tensors |= {f"optimiser.{name}": value for name, value in optimiser.state().items()}
    arrays = {name: value.detach().cpu().numpy() for name, value in tensors.items()}
    unfinished.save(CHECKPOINT, arrays, step=step, log=log)


def load_checkpoint(
    unfinished: CheckpointFolder, network: nn.Module, optimiser: Stateful
) -> tuple[int, dict[str, Any]]:
    """Put the weights and the optimiser's state of a checkpoint in place, and return its step and log; (0, {}) where
    there is none."""
    state = unfinished.load(CHECKPOINT)
    if state is None:
        return 0, {}
    with damage_named(unfinished.path(CHECKPOINT)), torch.no_grad():
        network.load_state_dict(_tensors(state.arrays, "network."))
        optimiser.load(_tensors(state.arrays, "optimiser."))
        return state.values["step"], state.values["log"]


def _tensors(arrays: Mapping[str, NDArray[np.generic]], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): torch.from_numpy(array) for name, array in arrays.items() if name.startswith(prefix)
    }
