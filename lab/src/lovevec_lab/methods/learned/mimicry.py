"""How rivals learn: each word as it is, the squared distance to its target vector.

    loss = mean over a batch's words w of |v(w) - u_w|²

Batches of 256 words, each epoch in an order of its own; the rate falls to zero in a straight line; 1 % of the words are
held back, as for LOVE. Every draw is a function of seed and epoch, so a run that was stopped goes on as if it had not.

Adam moves all weights at each step. Where a table has a row for every substring (BoS, PBoS), a pass over all of it
would take most of the time: there gradients are sparse, and torch's SparseAdam moves the rows of the batch alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lovevec.encoders.shared import initialise
from lovevec.errors import LovevecError
from lovevec.files.checkpoints import CheckpointFolder, Interruption
from lovevec.progress import Phase, Progress
from lovevec.train.loop import holdout_rows, load_checkpoint, save_checkpoint
from lovevec.train.losses import mse
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import UNK
from lovevec.vectors.rows import normalized
from lovevec_lab.methods.learned.rival import Rival, RivalNetwork, RivalSettings

SAVE_SECONDS = 60
MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def start(network: RivalNetwork, seed: int, length: float = 1.0) -> None:
    """Fill all weights from a seed: table rows of about this `length`, matrices by fan-in."""
    generator = torch.Generator().manual_seed(seed)
    initialise(network, generator)
    with torch.no_grad():
        network.table.normal_(0.0, length * network.table.shape[1] ** -0.5, generator=generator)


def mimic(
    kind: type[Rival[Any]],
    settings: RivalSettings,
    words: Sequence[str],
    vectors: NDArray[np.float32],
    unfinished: CheckpointFolder,
    device: torch.device,
    progress: Progress,
) -> Rival[Any]:
    """Train a rival on the words and their vectors [n, dim]; checkpoints go into `unfinished`, and one that is there
    is gone on from. What the run was like stands in its `metadata`."""
    held = holdout_rows(len(words), settings.holdout, settings.seed)
    shown = np.setdiff1d(np.arange(len(words)), held, assume_unique=True)
    with progress.phase("vocabulary", unit="units") as phase:
        rival = kind.initial(words, shown, vectors.shape[1], settings)
        rival.words = list(words)
        phase.advance(len(rival.units))
    run = RivalTraining(rival, [words[row] for row in shown.tolist()], vectors[shown], device)
    run(unfinished, progress)
    cosine = (normalized(rival.embed([words[row] for row in held.tolist()])) * normalized(vectors[held])).sum(axis=1)
    score = {"words": len(held), "cosine": round(float(cosine.mean()), 4)} if len(held) else {"words": 0}
    rival.metadata = {"losses": run.losses, "seconds": round(run.seconds, 2), "held_back": score}
    if len(held):
        progress.say(f"{rival.name}: cosine {cosine.mean():.3f} to the vectors of {len(held):,} unseen words")
    return rival


class RivalTraining:
    """The training of one rival on words that are all shown."""

    def __init__(
        self, rival: Rival[Any], words: Sequence[str], vectors: NDArray[np.float32], device: torch.device
    ) -> None:
        self.rival, self.settings, self.device = rival, rival.settings, device
        self.encoded: Ragged = rival.encode(words)
        targets = torch.from_numpy(np.ascontiguousarray(vectors)).to(device)
        self.targets = torch.nn.functional.normalize(targets, dim=1) if rival.unit_length else targets
        self.size = min(self.settings.batch, len(words))
        self.per_epoch = len(words) // self.size
        self.steps = self.per_epoch * self.settings.epochs
        self.adam = RivalOptimiser(rival.network.to(device).train(), rival.sparse)
        self.losses: list[float] = []  # of each epoch
        self.total = torch.zeros((), device=device)  # of the losses of this epoch so far
        self.seconds = 0.0

    def __call__(self, unfinished: CheckpointFolder, progress: Progress) -> None:
        """Train to the end, from the checkpoint that was kept if there is one; the network is then on the CPU,
        ready."""
        network = self.rival.network
        first, log = load_checkpoint(unfinished, network, self.adam)
        if first:
            progress.say(f"{self.rival.name}: going on from step {first:,} of {self.steps:,}")
            self.losses, self.seconds = log["losses"], log["seconds"]
            self.total.fill_(log["total"])
        with progress.phase("training", self.steps * self.size, done=first * self.size) as phase:
            self._train(first, unfinished, phase)
        with torch.no_grad():
            rows_without_gradient = self.adam.rows_without_gradient()
            network.table[rows_without_gradient] = 0  # a unit that no word ever had says nothing
            if self.rival.guesses and rows_without_gradient[UNK]:
                network.table[UNK] = self.targets.mean(dim=0)
        network.to("cpu").eval()

    def _train(self, first: int, unfinished: CheckpointFolder, phase: Phase) -> None:
        start_time = time.perf_counter() - self.seconds
        with Interruption() as interruption:
            for step in range(first, self.steps):
                epoch, place = divmod(step, self.per_epoch)
                if step == first or place == 0:
                    order = np.random.default_rng([self.settings.seed, 1, epoch]).permutation(len(self.targets))
                self.total += self.step(order[place * self.size : (place + 1) * self.size], step / self.steps)
                epoch_ends = place + 1 == self.per_epoch
                if epoch_ends:
                    self._note_loss()
                loss = f"  loss {self.losses[-1]:.3f}" if self.losses else ""
                phase.advance(self.size, f"epoch {epoch + 1}/{self.settings.epochs}{loss}")
                self.seconds = time.perf_counter() - start_time
                if interruption.asked or (epoch_ends and unfinished.is_due):
                    log = {"losses": self.losses, "seconds": self.seconds, "total": float(self.total)}
                    save_checkpoint(unfinished, self.rival.network, self.adam, step + 1, log)
                if interruption.asked:
                    advice = "; the same command goes on from there" if unfinished.exists else ""
                    phase.progress.say(f"{self.rival.name}: stopped in epoch {epoch + 1}{advice}")
                    interruption.stop()

    def step(self, rows: NDArray[np.int64], share_done: float) -> Tensor:
        """One step on the words of these rows; returns its loss, still on the device."""
        batch = self.encoded.take(rows)
        index = torch.from_numpy(batch.padded().astype(np.int64)).to(self.device)
        lengths = torch.from_numpy(batch.lengths).to(self.device)
        loss = mse(self.rival.vectors(index, lengths), self.targets[torch.from_numpy(rows).to(self.device)])
        self.adam.step(loss, self.settings.learning_rate * (1 - share_done))
        return loss.detach()

    def _note_loss(self) -> None:
        """The mean loss of the epoch that ends."""
        mean = float(self.total) / self.per_epoch
        if not isfinite(mean):
            raise LovevecError(
                f"{self.rival.name}: the loss is no longer a number; lower its learning rate"
                f" (now {self.settings.learning_rate:g})"
            )
        self.losses.append(round(mean, 5))
        self.total.zero_()


class RivalOptimiser:
    """torch's Adam, or SparseAdam, with its state as named tensors for a checkpoint."""

    def __init__(self, network: RivalNetwork, sparse: bool) -> None:
        self.table, self.sparse = network.table, sparse
        self.weights = dict(network.named_parameters())
        fused = network.table.device.type in ("cpu", "cuda")
        parameters = list(self.weights.values())
        self.optimiser: torch.optim.Optimizer = (
            torch.optim.SparseAdam(parameters) if sparse else torch.optim.Adam(parameters, fused=fused)
        )

    def step(self, loss: Tensor, rate: float) -> None:
        """Move the weights down the slope of the loss."""
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()

    def rows_without_gradient(self) -> Tensor:
        """[rows] true for the table rows that no step has moved."""
        square: Tensor = self.optimiser.state[self.table]["exp_avg_sq"]
        return ~square.any(dim=1)

    def state(self) -> dict[str, Tensor]:
        """Everything that a resumed run needs, by name."""
        return {
            f"{key}.{name}": torch.as_tensor(self.optimiser.state[weight][key])
            for name, weight in self.weights.items()
            for key in MOMENTS
        }

    def load(self, state: dict[str, Tensor]) -> None:
        """Take back what `state` gave; SparseAdam counts its steps by a plain number."""
        for name, weight in self.weights.items():
            moments: dict[str, Any] = {key: state[f"{key}.{name}"].to(weight.device) for key in MOMENTS}
            if self.sparse:
                moments["step"] = int(moments["step"])
            self.optimiser.state[weight] = moments
