from __future__ import annotations

import torch

from lovevec.encoders.network import EncoderNetwork
from lovevec.engine.fold import EncoderSpec
from lovevec.train.optimiser import Optimiser
from lovevec.train.settings import TrainSettings

STEPS = 12


def network() -> EncoderNetwork:
    made = EncoderNetwork(EncoderSpec("positional", 6, key_width=3), 20)
    made.start(0)
    return made


def steps() -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    found = []
    for _ in range(STEPS):
        index = torch.randint(0, 20, (5, 4), generator=generator)
        units, place = torch.unique(index, return_inverse=True)
        found.append((units, place, torch.full((5,), 4)))
    return found


def train(made: EncoderNetwork, optimiser: Optimiser, batches: list, first: int = 0) -> None:
    goal = torch.ones(6) / 6**0.5
    for number, (units, index, lengths) in enumerate(batches, first):
        optimiser.zero()
        loss = -(made(optimiser.rows(units), index, lengths) @ goal).mean()
        loss.backward()
        optimiser.step(units, number / STEPS)


def test_adam_on_rows_of_the_batch_is_torchs_adam_on_the_whole_table():
    ours, theirs = network(), network()
    train(ours, Optimiser(ours, TrainSettings(learning_rate=0.01)), steps())
    adam = torch.optim.Adam(theirs.parameters(), lr=0.01)
    goal = torch.ones(6) / 6**0.5
    for number, (units, index, lengths) in enumerate(steps()):
        adam.param_groups[0]["lr"] = 0.01 * (1 - number / STEPS)
        adam.zero_grad()
        (-(theirs(theirs.table[units], index, lengths) @ goal).mean()).backward()
        adam.step()
    for name, weight in ours.state_dict().items():
        torch.testing.assert_close(weight, theirs.state_dict()[name], rtol=1e-5, atol=1e-6)


def test_state_goes_on_bit_for_bit():
    settings = TrainSettings(learning_rate=0.01)
    whole = network()
    train(whole, Optimiser(whole, settings), steps())
    half = network()
    first = Optimiser(half, settings)
    train(half, first, steps()[:5])
    state = {name: value.clone() for name, value in first.state().items()}
    rest = network()
    rest.load_state_dict(half.state_dict())
    second = Optimiser(rest, settings)
    with torch.no_grad():
        second.load(state)
    train(rest, second, steps()[5:], first=5)
    for name, weight in whole.state_dict().items():
        assert torch.equal(weight, rest.state_dict()[name]), name


def test_an_encoder_without_weights_trains_its_table():
    made = EncoderNetwork(EncoderSpec("sum", 6), 20)
    made.start(0)
    before = made.table.detach().clone()
    train(made, Optimiser(made, TrainSettings()), steps())
    assert not torch.equal(made.table.detach(), before)
