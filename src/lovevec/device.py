"""Where to compute: the device that was asked for, or one line that says why it cannot be had."""

from __future__ import annotations

import os
import platform

import torch

from lovevec.errors import LovevecError

DEVICES = ("cpu", "cuda", "mps", "xpu")


def choose_device(name: str) -> torch.device:
    """`auto` is the GPU where there is one; under torchrun each process takes its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type not in DEVICES:
            raise RuntimeError(f"known are auto, {', '.join(DEVICES)}")
        if device.type == "cuda":
            if not torch.cuda.is_available():
                raise RuntimeError("torch sees no CUDA GPU")
            if device.index is None:
                device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise LovevecError(f"device {name} cannot be used here: {reason}") from None
    return device


def device_name(device: torch.device) -> str:
    """The device as a report names it: the GPU's name, or the kind, threads and machine."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"
