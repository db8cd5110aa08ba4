"""Checkpoints: the weights, the optimiser's state and the step of a run, as one file in its folder `.unfinished`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lovevec.files.checkpoints import CheckpointFolder, damage_named

CHECKPOINT = "checkpoint"


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
