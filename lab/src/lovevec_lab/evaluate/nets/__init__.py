"""The networks of the downstream tasks, and their settings, which are there without torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CNNSettings:
    """Of the CNN that classifies texts: the paper's, from its table of hyperparameters."""

    widths: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    dropout: float = 0.5
    batch: int = 50
    epochs: int = 5


@dataclass(frozen=True)
class TaggerSettings:
    """Of the BiLSTM-CRF. `hidden` counts both directions; `tokens` is what a batch holds, padding included; `patience`
    is how many epochs may pass without a better one on dev."""

    hidden: int = 300
    dropout: float = 0.5
    tokens: int = 768
    epochs: int = 20
    patience: int = 5


@dataclass(frozen=True)
class CharCNNSettings:
    """The size of a CharCNN, and the share of known words that it learns from in each step."""

    letter_dim: int = 50
    widths: tuple[int, ...] = (3,)
    filters: int = 100
    share: float = 0.3
