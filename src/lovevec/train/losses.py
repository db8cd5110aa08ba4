"""The contrastive loss and its two rivals: when is a generated vector v_i right for its target vector t_i?

    contrastive   v_i must pick t_i out of the batch's targets, and t_i must pick v_i: cross-entropy of cosine / τ
    mse           mean squared distance of v_i and t_i
    alignment     that distance, plus uniformity (λ = 1): generated vectors of different words keep apart

All vectors have unit length. In a contrastive loss (infoNCE) the other words of the batch are the negatives; the hard
ones among them come from hard_negatives.py. `related[i, j]` marks rows that mean the same (the same word twice, or
synonyms): never each other's negatives.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

UNIFORMITY_T = 2.0
MASKED_SCORE = -1e4


def contrastive(generated: Tensor, target: Tensor, related: Tensor, temperature: float = 0.07) -> Tensor:
    """Both directions of the in-batch contrastive loss, averaged. [n, d], [n, d], [n, n] bool -> scalar."""
    itself = torch.eye(len(related), dtype=torch.bool, device=related.device)  # a word's own target is its positive
    scores = (generated @ target.T / temperature).masked_fill(related & ~itself, MASKED_SCORE)
    right = torch.arange(len(scores), device=scores.device)
    return (F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)) / 2


def mse(generated: Tensor, target: Tensor) -> Tensor:
    """The squared distance of each generated vector [n, d] to its target [n, d], averaged over words."""
    return (generated - target).square().sum(dim=1).mean()


def alignment_uniformity(generated: Tensor, target: Tensor, related: Tensor) -> Tensor:
    """ℓ_align + λ ℓ_uniform, λ = 1, ψ the squared distance, t = 2; uniformity over the pairs that are not related."""
    distance = (2 - 2 * generated @ generated.T).clamp(min=0)
    itself = torch.eye(len(related), dtype=torch.bool, device=related.device)
    scores = (-UNIFORMITY_T * distance).masked_fill(related | itself, MASKED_SCORE)
    pairs = (scores > MASKED_SCORE / 2).sum().clamp(min=1).to(scores.dtype)
    return mse(generated, target) + (scores.flatten().logsumexp(dim=0) - pairs.log())


def related_rows(words: Tensor, pairs: Tensor) -> Tensor:
    """[n, n] true where two rows are the same word, or one of the synonym `pairs` [2, p]."""
    related = words[:, None] == words[None, :]
    related[pairs[0], pairs[1]] = True
    return related
