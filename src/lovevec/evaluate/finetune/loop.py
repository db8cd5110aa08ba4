"""One fine-tuning: AdamW, a linear warm-up and decay, and the weights of the epoch that is best on dev."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.evaluate.finetune.batches import IGNORED, Rows
from lovevec.evaluate.finetune.settings import FinetuneSettings
from lovevec.progress import Phase


def finetuned(
    model: nn.Module,
    train: Rows,
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
        for inputs, labels in train.shuffled(settings.batch, rng):
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
def predicted(model: nn.Module, rows: Rows, precision: str) -> Tensor:
    """The number of the largest logit, on the CPU: [sentences] or [sentences, positions], 0 behind a sentence."""
    model.eval()
    found = torch.zeros_like(rows.labels)
    for which, inputs in rows.by_length():
        with bf16(precision, found.device):
            largest = model(**inputs).logits.argmax(dim=-1)
        if found.dim() == 1:
            found[which] = largest
        else:
            found[which, : largest.shape[1]] = largest
    return found.cpu()


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
