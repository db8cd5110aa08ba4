"""Checkpoints: one safetensors file with all weights, the optimiser's state and the step, replaced atomically."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from lovevec.errors import FormatError
from lovevec.files import atomic_write

NAME = "checkpoint.safetensors"
FORMAT = 1


class Stateful(Protocol):
    """An optimiser that gives its state as named tensors, and takes it back."""

    def state(self) -> dict[str, Tensor]:
        """Everything that a resumed run needs, by name."""

    def load(self, state: dict[str, Tensor]) -> None:
        """Take back what `state` gave."""


def save_checkpoint(folder: Path, network: nn.Module, optimiser: Stateful, step: int, log: dict[str, Any]) -> None:
    """Everything that a run needs to go on from `step` as if it had never stopped."""
    tensors: dict[str, Tensor] = {f"network.{name}": weight.detach() for name, weight in network.state_dict().items()}
    tensors |= {f"optimiser.{name}": value for name, value in optimiser.state().items()}
    tensors = {name: value.to("cpu").contiguous() for name, value in tensors.items()}
    metadata = {"format": str(FORMAT), "step": str(step), "log": json.dumps(log), "sha256": _digest(tensors)}
    with atomic_write(folder / NAME) as file:
        file.write(save(tensors, metadata))


def load_checkpoint(folder: Path, network: nn.Module, optimiser: Stateful) -> tuple[int, dict[str, Any]]:
    """Put a checkpoint's weights and state in place; (0, {}) when there is none."""
    path = folder / NAME
    if not path.exists():
        return 0, {}
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dict
        if metadata["sha256"] != _digest(tensors):
            raise ValueError("it is damaged")
        network.load_state_dict(_part(tensors, "network."))
        with torch.no_grad():
            optimiser.load(_part(tensors, "optimiser."))
        return int(metadata["step"]), json.loads(metadata["log"])
    except (SafetensorError, OSError, KeyError, ValueError, RuntimeError) as error:
        reason = str(error).split("\n")[0]
        raise FormatError(path, f"cannot be continued from ({reason}); delete it to begin again") from None


def _digest(tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].numpy().tobytes())
    return digest.hexdigest()


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
