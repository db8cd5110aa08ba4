from __future__ import annotations

from itertools import pairwise, product

import pytest
import torch

from lovevec_lab.evaluate.nets.crf import CRF


def made_crf(tags: int, seed: int, scale: float = 1.0, runs: int = 1) -> CRF:
    crf, generator = CRF(tags, runs).double(), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in crf.parameters():
            weight.normal_(0, scale, generator=generator)
    return crf


def made_emissions(*shape: int, seed: int, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def all_scores(crf: CRF, emissions: torch.Tensor, run: int = 0) -> dict[tuple[int, ...], float]:
    """By definition: the score of every sequence of tags of one sentence [n, tags]."""
    found = {}
    start, end, transitions = crf.start[run], crf.end[run], crf.transitions[run]
    for tags in product(range(emissions.shape[1]), repeat=len(emissions)):
        score = start[tags[0]] + end[tags[-1]] + sum(row[tag] for row, tag in zip(emissions, tags, strict=True))
        score = score + sum(transitions[a, b] for a, b in pairwise(tags))
        found[tags] = float(score.detach())
    return found


LENGTHS = {
    "one": [1],
    "two": [2],
    "six": [6],
    "mixed": [5, 1, 3, 4, 2],
    "alike": [4, 4],
    "all short of the width": [2, 3],
}


@pytest.mark.parametrize("scale", [1.0, 50.0])
@pytest.mark.parametrize("tags", [1, 2, 3])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_likelihood_and_best_sequence_are_those_of_all_sequences_listed(lengths, tags, scale):
    runs, width = 2, max(lengths) + (lengths == [2, 3])
    crf = made_crf(tags, 1, scale, runs)
    emissions = made_emissions(runs, len(lengths), width, tags, seed=2, scale=scale)
    given = torch.tensor(lengths)
    gold = torch.randint(0, tags, (runs, len(lengths), width), generator=torch.Generator().manual_seed(3))
    likelihood = crf.log_likelihood(emissions, gold, given).detach()
    decoded = crf.decode(emissions, given)
    for run in range(runs):
        for row, length in enumerate(lengths):
            scores = all_scores(crf, emissions[run, row, :length], run)
            right = scores[tuple(gold[run, row, :length].tolist())]
            total = torch.logsumexp(torch.tensor(list(scores.values()), dtype=torch.float64), 0)
            assert float(likelihood[run, row]) == pytest.approx(right - float(total), abs=1e-9)
            best = max(scores, key=lambda sequence: scores[sequence])
            assert decoded[run, row].tolist() == [*best, *[0] * (width - length)]


def test_probabilities_of_all_sequences_sum_to_one():
    crf, emissions = made_crf(3, 4), made_emissions(1, 1, 5, 3, seed=5)
    sequences = torch.tensor([list(product(range(3), repeat=5))])
    many = emissions.expand(1, sequences.shape[1], 5, 3)
    logs = crf.log_likelihood(many, sequences, torch.full((sequences.shape[1],), 5))
    assert float(logs.exp().sum().detach()) == pytest.approx(1, abs=1e-12)


def test_gradients_are_those_of_finite_differences():
    crf, emissions = made_crf(3, 6, runs=2), made_emissions(2, 4, 5, 3, seed=7).requires_grad_()
    lengths = torch.tensor([5, 1, 3, 2])
    gold = torch.randint(0, 3, (2, 4, 5), generator=torch.Generator().manual_seed(8))
    # gradcheck moves the very tensors that it is given
    assert torch.autograd.gradcheck(
        lambda *_: crf.log_likelihood(emissions, gold, lengths), (emissions, *crf.parameters())
    )


def test_what_lies_behind_the_end_changes_nothing_and_gets_no_gradient():
    crf, short = made_crf(4, 9), made_emissions(1, 2, 3, 4, seed=10)
    lengths, gold = torch.tensor([3, 2]), torch.tensor([[[1, 2, 3], [0, 3, 0]]])
    longer = torch.cat([short, made_emissions(1, 2, 6, 4, seed=11, scale=1e4)], dim=2)
    longer[0, 1, 2] += 9
    longer.requires_grad_()
    padded = torch.nn.functional.pad(gold, (0, 6), value=2)
    before = crf.log_likelihood(short, gold, lengths)
    after = crf.log_likelihood(longer, padded, lengths)
    torch.testing.assert_close(after, before, rtol=0, atol=1e-12)
    after.sum().backward()
    assert longer.grad[0, :, 3:].abs().max() == 0
    assert longer.grad[0, 1, 2].abs().max() == 0
    assert longer.grad[0, 0, 2].abs().max() > 0
    assert torch.equal(crf.decode(longer, lengths)[:, :, :3], crf.decode(short, lengths))
    assert not crf.decode(longer, lengths)[:, :, 3:].any()


def test_gaps_that_float32_cannot_hold_give_no_nan():
    crf = made_crf(3, 12).float()
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor([[[0.0, -9e3, 0], [-9e3, 0, 0], [0, 0, -9e3]]]))
    emissions = made_emissions(1, 2, 9, 3, seed=13, scale=90).float().requires_grad_()
    gold = crf.decode(emissions, torch.tensor([9, 7]))
    loss = -crf.log_likelihood(emissions, gold, torch.tensor([9, 7])).sum()
    loss.backward()
    assert 0 <= float(loss.detach()) < 1e-3
    assert torch.isfinite(emissions.grad).all()
    assert all(torch.isfinite(weight.grad).all() for weight in crf.parameters())
