from __future__ import annotations

import numpy as np
import pytest
import torch
from pytorch_metric_learning.losses import NTXentLoss

from lovevec.train.losses import alignment_uniformity, contrastive, mse, related_rows


def unit_rows(count: int, dim: int, seed: int) -> torch.Tensor:
    rows = torch.randn(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.nn.functional.normalize(rows, dim=1)


def reference(v: np.ndarray, t: np.ndarray, related: np.ndarray, temperature: float) -> float:
    """-log of the positive's share, row by row, both ways, in plain float64."""
    total = 0.0
    for a, b in ((v, t), (t, v)):
        for i in range(len(a)):
            others = [np.exp(a[i] @ b[j] / temperature) for j in range(len(b)) if j != i and not related[i, j]]
            own = np.exp(a[i] @ b[i] / temperature)
            total -= np.log(own / (own + sum(others)))
    return total / (2 * len(v))


def test_contrastive_is_its_definition_with_related_rows_left_out():
    v, t = unit_rows(9, 5, 1), unit_rows(9, 5, 2)
    words = torch.tensor([0, 1, 2, 3, 4, 5, 1, 7, 1])
    related = related_rows(words, torch.tensor([[0, 5], [5, 0]]))
    found = contrastive(v, t, related, 0.07).item()
    assert found == pytest.approx(reference(v.numpy(), t.numpy(), related.numpy(), 0.07), rel=1e-9)
    assert found < contrastive(v, t, torch.eye(9, dtype=torch.bool), 0.07).item()


def test_contrastive_is_ntxent_across_two_views_when_no_rows_are_related():
    v, t = unit_rows(16, 8, 3), unit_rows(16, 8, 4)
    labels = torch.arange(16)
    oracle = NTXentLoss(temperature=0.1)
    there = oracle(v, labels, ref_emb=t, ref_labels=labels.clone())
    back = oracle(t, labels, ref_emb=v, ref_labels=labels.clone())
    found = contrastive(v, t, torch.eye(16, dtype=torch.bool), 0.1)
    assert found.item() == pytest.approx((there.item() + back.item()) / 2, rel=1e-6)


def test_related_rows_are_equal_words_and_the_pairs_given():
    related = related_rows(torch.tensor([3, 4, 5, 3]), torch.tensor([[0, 1], [1, 0]]))
    expected = torch.eye(4, dtype=torch.bool)
    expected[0, 1] = expected[1, 0] = expected[0, 3] = expected[3, 0] = True
    assert torch.equal(related, expected)
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert torch.equal(related_rows(torch.tensor([3, 4, 5, 6]), nothing), torch.eye(4, dtype=torch.bool))


def test_related_rows_get_no_push():
    v, t = unit_rows(4, 6, 5).requires_grad_(), unit_rows(4, 6, 6)
    related = torch.zeros(4, 4, dtype=torch.bool)
    related[0, 1] = related[1, 0] = True
    (gradient,) = torch.autograd.grad(contrastive(v, t, related, 0.07), v)
    moved = t.clone()
    moved[1] = unit_rows(1, 6, 7)[0]  # the target of a related row: row 0 must not notice
    (again,) = torch.autograd.grad(contrastive(v, moved, related, 0.07), v)
    assert torch.allclose(gradient[0], again[0])
    assert not torch.allclose(gradient[2], again[2])


def test_mse_is_the_mean_squared_distance():
    v, t = unit_rows(7, 5, 8), unit_rows(7, 5, 9)
    assert mse(v, t).item() == pytest.approx(np.mean(np.sum((v - t).numpy() ** 2, axis=1)))
    assert mse(v, v).item() == 0


def test_alignment_and_uniformity_are_their_definitions():
    v, t = unit_rows(6, 5, 10), unit_rows(6, 5, 11)
    related = related_rows(torch.tensor([0, 1, 2, 3, 1, 5]), torch.tensor([[2, 3], [3, 2]]))
    a = v.numpy()
    pairs = [
        np.exp(-2 * np.sum((a[i] - a[j]) ** 2)) for i in range(6) for j in range(6) if i != j and not related[i, j]
    ]
    expected = np.mean(np.sum((v - t).numpy() ** 2, axis=1)) + np.log(np.mean(pairs))
    assert alignment_uniformity(v, t, related).item() == pytest.approx(expected, rel=1e-9)


def test_a_batch_whose_rows_are_all_related_has_a_finite_loss():
    v, t = unit_rows(3, 4, 12), unit_rows(3, 4, 13)
    everyone = torch.ones(3, 3, dtype=torch.bool)
    assert contrastive(v, t, everyone).item() == pytest.approx(0)
    assert torch.isfinite(alignment_uniformity(v, t, everyone))
