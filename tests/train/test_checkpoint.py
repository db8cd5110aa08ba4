"""A checkpoint brings back any network, and any optimiser that can say its state."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from lovevec.errors import FormatError
from lovevec.files.checkpoints import CheckpointFolder
from lovevec.train.loop import load_checkpoint, save_checkpoint


class Momentum:
    """Torch's SGD with momentum, as the checkpoint wants an optimiser."""

    def __init__(self, network: nn.Module) -> None:
        self.network, self.sgd = network, torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)

    def step(self, inputs: torch.Tensor) -> None:
        self.sgd.zero_grad()
        self.network(inputs).square().sum().backward()
        self.sgd.step()

    def state(self) -> dict[str, torch.Tensor]:
        weights = self.network.named_parameters()
        return {name: self.sgd.state[weight]["momentum_buffer"] for name, weight in weights}

    def load(self, state: dict[str, torch.Tensor]) -> None:
        for name, weight in self.network.named_parameters():
            self.sgd.state[weight]["momentum_buffer"] = state[name]


def made(seed: int, width: int = 3) -> tuple[nn.Module, Momentum]:
    torch.manual_seed(seed)
    network = nn.Linear(4, width)
    return network, Momentum(network)


def test_steps_behind_a_checkpoint_are_those_of_a_run_that_never_stopped(tmp_path):
    inputs = torch.arange(20.0).reshape(5, 4) / 100
    network, optimiser = made(0)
    for _ in range(3):
        optimiser.step(inputs)
    save_checkpoint(CheckpointFolder(tmp_path), network, optimiser, 3, {"losses": [1.5]})
    optimiser.step(inputs)
    again, other = made(1)
    assert load_checkpoint(CheckpointFolder(tmp_path), again, other) == (3, {"losses": [1.5]})
    other.step(inputs)
    for one, two in zip(network.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)


def test_without_a_checkpoint_a_run_begins(tmp_path):
    assert load_checkpoint(CheckpointFolder(tmp_path), *made(0)) == (0, {})


def test_a_checkpoint_of_another_network_is_one_named_error(tmp_path):
    network, optimiser = made(0)
    optimiser.step(torch.ones(1, 4))
    save_checkpoint(CheckpointFolder(tmp_path), network, optimiser, 1, {})
    with pytest.raises(FormatError, match=r"checkpoint\.safetensors: cannot be continued from .*delete it") as error:
        load_checkpoint(CheckpointFolder(tmp_path), *made(0, width=5))
    assert "\n" not in str(error.value)
