"""Adam for a network whose weights are nearly all one big table, of which a batch touches a few hundred rows.

Plain Adam on everything. Its pass over the whole table would dominate small batches; fused, and with a gradient buffer
of which only the batch's rows are ever written, it costs 3 ms at 6M parameters on two CPU cores.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lovevec.encoders.network import EncoderNetwork
from lovevec.train.settings import TrainSettings

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")


class Optimiser:
    """Hands out the rows of a step, takes their gradients back, and keeps all state as named tensors."""

    def __init__(self, network: EncoderNetwork, settings: TrainSettings) -> None:
        self.network, self.settings, self.taken = network, settings, torch.empty(0)
        table = network.table
        # Zero but for the rows of a step: cheaper than a new gradient of the table's size each time.
        table.grad = torch.zeros_like(table)
        self.weights = dict(network.named_parameters())
        self.others = [weight for weight in self.weights.values() if weight is not table]
        fused = table.device.type in ("cpu", "cuda")
        self.adam = torch.optim.Adam(self.weights.values(), betas=(BETA1, BETA2), eps=EPSILON, fused=fused)

    def rows(self, units: Tensor) -> Tensor:
        """The rows `units` of the table, as a tensor of their own that collects the gradients of this step."""
        self.taken = self.network.table.detach()[units].requires_grad_()
        return self.taken

    def gradients(self) -> list[Tensor]:
        """All gradients of the step, as tensors that several processes add up in place."""
        return [weight.grad for weight in (self.taken, *self.others) if weight.grad is not None]

    def zero(self) -> None:
        for weight in self.others:  # the table's gradients are zero already
            weight.grad = None

    @torch.no_grad()
    def step(self, units: Tensor, share_done: float) -> None:
        """Move all weights, and of the table the rows `units`. `share_done`, from 0 to 1, is how much of the run is
        over: the learning rate depends on it."""
        decay = 1.0 - share_done if self.settings.schedule == "linear" else 1.0
        self.adam.param_groups[0]["lr"] = self.settings.learning_rate * decay
        gradient, buffer = self.taken.grad, self.network.table.grad
        assert gradient is not None
        assert buffer is not None
        buffer[units] = gradient
        self.adam.step()
        buffer[units] = 0

    def unmoved_rows(self) -> Tensor:
        """[rows] true for the table rows that no step has moved so far."""
        square = self.adam.state[self.network.table].get("exp_avg_sq")
        return torch.zeros(len(self.network.table), dtype=torch.bool) if square is None else ~square.any(dim=1)

    def state(self) -> dict[str, Tensor]:
        """Adam's averages and step of each weight, by name: what a checkpoint keeps of an optimiser."""
        return {
            f"adam.{key}.{name}": value
            for name, weight in self.weights.items()
            for key, value in self.adam.state[weight].items()
        }

    def load(self, state: dict[str, Tensor]) -> None:
        for name, weight in self.weights.items():
            values = {key: state[f"adam.{key}.{name}"] for key in ADAM_STATE}
            self.adam.state[weight] = {key: value.to(weight.device) for key, value in values.items()}
