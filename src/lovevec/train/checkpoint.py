"""Checkpoints: one safetensors file with all weights, the optimiser's state and the step, replaced atomically."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lovevec.encoders.network import Network
from lovevec.errors import FormatError
from lovevec.files import atomic_write
from lovevec.train.optimiser import Optimiser

NAME = "checkpoint.safetensors"
FORMAT = 1


def save_checkpoint(folder: Path, network: Network, optimiser: Optimiser, step: int, log: dict[str, Any]) -> None:
    """Everything that a run needs to go on from `step` as if it had never stopped."""
    tensors: dict[str, Tensor] = {f"network.{name}": weight.detach() for name, weight in network.state_dict().items()}
    tensors |= {f"optimiser.{name}": value for name, value in optimiser.state().items()}
    tensors = {name: value.to("cpu").contiguous() for name, value in tensors.items()}
    metadata = {"format": str(FORMAT), "step": str(step), "log": json.dumps(log), "sha256": _digest(tensors)}
    with atomic_write(folder / NAME) as file:
        file.write(save(tensors, metadata))


def load_checkpoint(folder: Path, network: Network, optimiser: Optimiser) -> tuple[int, dict[str, Any]]:
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
