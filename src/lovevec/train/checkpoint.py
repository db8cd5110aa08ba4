"""Checkpoints: all weights, the optimiser's state and the step, as a state in files/unfinished.py's sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lovevec.files.unfinished import Unfinished, damage_named

NAME = "checkpoint"


class Stateful(Protocol):
    """An optimiser, as far as checkpoints go."""

    def state(self) -> dict[str, Tensor]:
        """Everything that a resumed run needs, by name."""
        ...

    def load(self, state: dict[str, Tensor]) -> None:
        """Take back what `state` gave."""
        ...


def save_checkpoint(
    unfinished: Unfinished, network: nn.Module, optimiser: Stateful, step: int, log: dict[str, Any]
) -> None:
    """Everything that a run needs to go on from `step` as if it had never stopped."""
    if unfinished.folder is None:
        return
    tensors = {f"network.{name}": weight for name, weight in network.state_dict().items()}
    tensors |= {f"optimiser.{name}": value for name, value in optimiser.state().items()}
    arrays = {name: value.detach().cpu().numpy() for name, value in tensors.items()}
    unfinished.save(NAME, arrays, step=step, log=log)


def load_checkpoint(unfinished: Unfinished, network: nn.Module, optimiser: Stateful) -> tuple[int, dict[str, Any]]:
    """Put a checkpoint's weights and state in place; (0, {}) when there is none."""
    state = unfinished.load(NAME)
    if state is None:
        return 0, {}
    with damage_named(unfinished.path(NAME)), torch.no_grad():
        network.load_state_dict(_tensors(state.arrays, "network."))
        optimiser.load(_tensors(state.arrays, "optimiser."))
        return state.values["step"], state.values["log"]


def _tensors(arrays: Mapping[str, NDArray[np.generic]], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): torch.from_numpy(array) for name, array in arrays.items() if name.startswith(prefix)
    }
