"""The losses: what it means for a generated vector v_i to be right for its target vector t_i (all of unit length).

    contrastive   v_i must pick t_i out of the batch's targets, and t_i must pick v_i: cross-entropy of cosine / τ
    mse           mean squared distance of v_i and t_i
    alignment     that distance, plus uniformity (λ = 1): generated vectors of different words keep apart

`related[i, j]` marks rows that mean the same (the same word twice, or synonyms): never each other's negatives.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

UNIFORM_T = 2.0
NEVER = -1e4


def contrastive(generated: Tensor, target: Tensor, related: Tensor, temperature: float = 0.07) -> Tensor:
    """Both directions of the in-batch contrastive loss, averaged. [n, d], [n, d], [n, n] bool -> scalar."""
    scores = (generated @ target.T / temperature).masked_fill(without_diagonal(related), NEVER)
    right = torch.arange(len(scores), device=scores.device)
    return (F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)) / 2


def mse(generated: Tensor, target: Tensor) -> Tensor:
    """Mean over words of the squared distance."""
    return (generated - target).square().sum(dim=1).mean()


def alignment_uniformity(generated: Tensor, target: Tensor, related: Tensor) -> Tensor:
    """ℓ_align + λ ℓ_uniform, λ = 1, ψ the squared distance, t = 2; uniformity over the pairs that are not related."""
    distance = (2 - 2 * generated @ generated.T).clamp(min=0)
    scores = (-UNIFORM_T * distance).masked_fill(
        related | torch.eye(len(related), dtype=torch.bool, device=related.device), NEVER
    )
    pairs = (scores > NEVER / 2).sum().clamp(min=1).to(scores.dtype)
    return mse(generated, target) + (scores.flatten().logsumexp(dim=0) - pairs.log())


def related_rows(words: Tensor, pairs: Tensor) -> Tensor:
    """[n, n] true where two rows are the same word, or one of the synonym `pairs` [2, p]."""
    related = words[:, None] == words[None, :]
    related[pairs[0], pairs[1]] = True
    return related


def without_diagonal(related: Tensor) -> Tensor:
    """The same, a row being no longer related to itself: its own target is its positive."""
    return related & ~torch.eye(len(related), dtype=torch.bool, device=related.device)
