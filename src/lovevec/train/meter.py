"""Reads the loss without making the GPU wait: values are copied in the background and looked at when they have come."""

from __future__ import annotations

import torch
from torch import Tensor


class Meter:
    """Sums losses on the device; `glance` gives a recent one for free, `mean` waits for the sum."""

    def __init__(self, device: torch.device) -> None:
        self.cuda = device.type == "cuda"
        self.total = torch.zeros((), device=device)
        self.count = 0
        self.value: float | None = None
        self.coming: tuple[Tensor, torch.cuda.Event] | None = None

    def add(self, loss: Tensor) -> None:
        """Count one step's loss."""
        self.total += loss
        self.count += 1
        if not self.cuda:
            self.value = float(loss)
        elif self.coming is None:
            host = torch.empty((), pin_memory=True)
            host.copy_(loss, non_blocking=True)
            event = torch.cuda.Event()
            event.record()
            self.coming = host, event

    def glance(self) -> float | None:
        """A recent loss, or None while none has arrived."""
        if self.coming is not None and self.coming[1].query():
            self.value = float(self.coming[0])
            self.coming = None
        return self.value

    def state(self) -> dict[str, float]:
        """The sum so far, for a checkpoint."""
        return {"total": float(self.total), "count": self.count}

    def load(self, state: dict[str, float]) -> None:
        """Go on from a checkpoint's sum."""
        self.total.fill_(state["total"])
        self.count = int(state["count"])

    def mean(self) -> float:
        """The mean loss since the last call."""
        mean = float(self.total) / max(self.count, 1)
        self.total.zero_()
        self.count = 0
        return mean
