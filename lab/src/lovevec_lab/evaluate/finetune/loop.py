"""One fine-tuning: AdamW, a linear warm-up and decay, and the weights of the epoch that is best on dev.

Batch, epochs and learning rates are the paper's, the rest what people usually add to them. Tokenised sentences lie on
the device all at once: a batch is cut there, without waiting for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Phase

RATES = (9e-5, 7e-5, 5e-5, 3e-5, 1e-5)  # the paper's, for BERT-base; smaller models need larger ones
PRECISIONS = ("fp32", "tf32", "bf16")
IGNORED = -100  # the label of positions that are not scored, as torch's cross entropy has it
POSITIONS_PER_BATCH = 32_768  # of a batch that is only read

Inputs = dict[str, Tensor]


class TokenRows:
    """`inputs` are what the tokenizer gives, each [sentences, positions, …], padded on the right; `labels` are
    [sentences] or [sentences, positions]."""

    def __init__(self, inputs: Mapping[str, Tensor], labels: Tensor, device: torch.device) -> None:
        self.lengths = inputs["attention_mask"].sum(dim=1).numpy().astype(np.int64)
        self.inputs = {name: tensor.to(device) for name, tensor in inputs.items()}
        self.labels = labels.to(device)

    def __len__(self) -> int:
        return len(self.lengths)

    def random_batches(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Inputs, Tensor]]:
        """(inputs, labels) in batches of `size` sentences in random order, each as wide as its longest sentence. The
        order goes to the device once."""
        order = rng.permutation(len(self))
        there = torch.from_numpy(order).to(self.labels.device)
        for low in range(0, len(order), size):
            rows = there[low : low + size]
            yield self._cut(rows, int(self.lengths[order[low : low + size]].max()))

    def by_length(self) -> Iterator[tuple[Tensor, Inputs]]:
        """(which sentences, their inputs) in large batches, the longest sentences first."""
        order = np.argsort(-self.lengths, kind="stable")
        there = torch.from_numpy(order).to(self.labels.device)
        low = 0
        while low < len(order):
            longest = int(self.lengths[order[low]])
            high = low + max(POSITIONS_PER_BATCH // max(longest, 1), 1)
            yield there[low:high], self._cut(there[low:high], longest)[0]
            low = high

    def _cut(self, rows: Tensor, longest: int) -> tuple[Inputs, Tensor]:
        inputs = {name: tensor[rows, :longest] for name, tensor in self.inputs.items()}
        labels = self.labels[rows]
        return inputs, labels if labels.dim() == 1 else labels[:, :longest]


@dataclass(frozen=True)
class FinetuneSettings:
    """`warmup` is a share of all steps; `sentences` cuts the training text, `tested` dev and test; `noise_seed` decides
    the damage. `precision` is that of matrix products on a GPU: fp32, tf32, or bf16 (autocast)."""

    rates: tuple[float, ...] = RATES
    seeds: tuple[int, ...] = (0,)
    noise_seed: int = 0
    epochs: int = 5
    batch: int = 16
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    longest: int = 512
    precision: str = "tf32"
    sentences: int | None = None
    tested: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise LovevecError(f"{Parameter('precision', self.precision)}: known are {', '.join(PRECISIONS)}")

    def quick(self) -> FinetuneSettings:
        """To see whether it works: one rate, one seed, one epoch, little text."""
        few = {"rates": self.rates[:1], "seeds": self.seeds[:1], "epochs": 1}
        return replace(self, **few, sentences=96, tested=32)  # type: ignore[arg-type]


def finetune(
    model: nn.Module,
    train: TokenRows,
    score: Callable[[], float],
    rate: float,
    seed: int,
    settings: FinetuneSettings,
    phase: Phase,
) -> tuple[float, int]:
    """Train `model`, which is on the device of `train`; the best weights by `score` (of dev, after each epoch) stay in
    it. Returns the best score and its epoch, from 1. Dropout draws from torch's own generator: see `drawing`."""
    device = train.labels.device
    rng = np.random.default_rng([seed, settings.epochs])
    steps = settings.epochs * -(-len(train) // settings.batch)
    optimiser = optimiser_of(model, rate, settings)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: slope(step, steps, settings.warmup))
    trained = [weights for weights in model.parameters() if weights.requires_grad]
    best, best_epoch, kept = -1.0, 0, dict[str, Tensor]()
    for epoch in range(1, settings.epochs + 1):
        model.train()
        for inputs, labels in train.random_batches(settings.batch, rng):
            with bf16(settings.precision, device):
                logits = model(**inputs).logits
                loss = F.cross_entropy(logits.flatten(0, -2).float(), labels.flatten(), ignore_index=IGNORED)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, settings.clip)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            phase.advance()
        reached = score()
        phase.advance(0, note=f"epoch {epoch}, dev {reached:.1f}")
        if reached > best:
            best, best_epoch = reached, epoch
            kept = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    model.load_state_dict(kept)
    return best, best_epoch


@torch.no_grad()
def predict(model: nn.Module, rows: TokenRows, precision: str) -> Tensor:
    """The number of the largest logit, on the CPU: [sentences] or [sentences, positions], 0 behind a sentence."""
    model.eval()
    numbers = torch.zeros_like(rows.labels)
    for which, inputs in rows.by_length():
        with bf16(precision, numbers.device):
            largest = model(**inputs).logits.argmax(dim=-1)
        if numbers.dim() == 1:
            numbers[which] = largest
        else:
            numbers[which, : largest.shape[1]] = largest
    return numbers.cpu()


def optimiser_of(model: nn.Module, rate: float, settings: FinetuneSettings) -> torch.optim.Optimizer:
    """AdamW over what is to be trained; biases and the scales of layer norms do not decay."""
    trained = [weights for weights in model.parameters() if weights.requires_grad]
    groups = [
        {"params": [weights for weights in trained if weights.dim() > 1], "weight_decay": settings.weight_decay},
        {"params": [weights for weights in trained if weights.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, fused=trained[0].is_cuda)


def slope(step: int, steps: int, warmup: float) -> float:
    """The share of the learning rate at a step: up to 1 in the first `warmup` of all steps, then down to 0."""
    first = max(round(warmup * steps), 1)
    if step < first:
        return (step + 1) / first
    return max(steps - step, 0) / max(steps - first, 1)


@contextmanager
def drawing(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, torch's own generators are seeded, since transformers draws heads and dropout from them; outside they are
    as they were."""
    own = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=own):
        torch.manual_seed(seed)
        yield


@contextmanager
def tf32(precision: str, device: torch.device) -> Iterator[None]:
    """Inside, float32 matrix products on a GPU, forth and back, may round their factors; for `precision` tf32 only."""
    before = torch.get_float32_matmul_precision()
    if precision == "tf32" and device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def bf16(precision: str, device: torch.device) -> torch.autocast:
    """Around a forward pass: matrix products in half precision on a GPU; for `precision` bf16 only."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16" and device.type == "cuda")
