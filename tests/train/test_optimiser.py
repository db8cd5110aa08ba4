from __future__ import annotations

import torch

from lovevec.encoders.network import Network
from lovevec.engine.spec import EncoderSpec
from lovevec.train.optimiser import BETA1, BETA2, EPSILON, ROWS_BOOST, Optimiser
from lovevec.train.settings import TrainSettings

STEPS = 12


def network() -> Network:
    made = Network(EncoderSpec("positional", 6, key_width=3), 20)
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


def train(made: Network, optimiser: Optimiser, batches: list, first: int = 0) -> None:
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


def test_rows_moves_only_the_rows_of_the_batch_by_their_own_adam():
    made = network()
    before = made.table.detach().clone()
    optimiser = Optimiser(made, TrainSettings(optimiser="rows", learning_rate=0.01, schedule="constant"))
    units, index, lengths = torch.tensor([2, 7]), torch.tensor([[0, 1]]), torch.tensor([2])
    mean = square = torch.zeros(2, 6)
    rows = before[units].clone()
    for turn in range(1, 4):
        optimiser.zero()
        (made(optimiser.rows(units), index, lengths)[:, 0].sum()).backward()
        gradient = optimiser.taken.grad.clone()
        optimiser.step(units, 0.0)
        mean = BETA1 * mean + (1 - BETA1) * gradient
        square = BETA2 * square + (1 - BETA2) * gradient**2
        rate = 0.01 * ROWS_BOOST
        rows = rows - rate * (mean / (1 - BETA1**turn)) / ((square / (1 - BETA2**turn)).sqrt() + EPSILON)
    torch.testing.assert_close(made.table.detach()[units], rows, rtol=1e-4, atol=1e-6)
    others = torch.ones(20, dtype=torch.bool)
    others[units] = False
    assert torch.equal(made.table.detach()[others], before[others])


def test_state_goes_on_bit_for_bit():
    for kind in ("adam", "rows"):
        settings = TrainSettings(optimiser=kind, learning_rate=0.01)
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
            assert torch.equal(weight, rest.state_dict()[name]), (kind, name)


def test_an_encoder_without_weights_trains_its_table_by_rows():
    made = Network(EncoderSpec("sum", 6), 20)
    made.start(0)
    before = made.table.detach().clone()
    train(made, Optimiser(made, TrainSettings(optimiser="rows")), steps())
    assert not torch.equal(made.table.detach(), before)
