"""What the encoders share: empty weights, a start for them, and a dropout that leaves the global generator alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lovevec.engine.fold import EncoderSpec


def matrix(rows: int, columns: int) -> nn.Parameter:
    """An empty weight for `x @ weight`; `initialise` fills it from the run's own generator."""
    return nn.Parameter(torch.empty(rows, columns))


def initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Fill all weights from `generator`: matrices normal with 1/√fan-in, biases zero, gains one."""
    for name, weight in module.named_parameters():
        fill(name, weight, generator)


@torch.no_grad()
def fill(name: str, weight: Tensor, generator: torch.Generator) -> None:
    """Fill one weight; its name and shape tell what it is."""
    last = name.rsplit(".", 1)[-1]
    if weight.dim() == 1:
        weight.fill_(1.0 if last == "weight" else 0.0)
    else:  # torch's own layers keep [out, in, …] and call it weight…; ours are [in, out]
        fan_in = weight[0].numel() if last.startswith("weight") else weight.shape[0]
        weight.normal_(0.0, fan_in**-0.5, generator=generator)


def residual_head(dim: int, width: int) -> nn.Sequential | None:
    """The MLP that follows on the pooled vector, with `width` hidden numbers; None for 0."""
    return nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, dim)) if width else None


class Dropout(nn.Module):
    """Dropout in training whose randomness comes from `generator`, which the loop sets before each step."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generator: torch.Generator | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.share == 0:
            return x
        keep = torch.empty_like(x).bernoulli_(1 - self.share, generator=self.generator)
        return x * keep / (1 - self.share)


class Encoder(nn.Module):
    """φ. `forward(units, index, lengths)`: `units` [u, dim], `index` [b, n] into them, `lengths` [b] -> [b, dim]."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)


def inside(lengths: Tensor, width: int) -> Tensor:
    """[b, width], true where a word has a unit and false on padding."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def masked_softmax(scores: Tensor, columns: Tensor) -> Tensor:
    """Softmax over the last axis of [b, n, n], over the `columns` [b, n] that count."""
    return scores.masked_fill(~columns[:, None, :], -1e4).softmax(dim=2)
