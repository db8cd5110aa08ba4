"""Sentence embeddings under damage, without any training: how near a sentence's noisy copy stays to it.

A high cosine alone is easily had, by an encoder to which all sentences are alike. So the cosine to other sentences
stands beside it, and how often the clean sentence is the nearest of all clean ones to its copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from lovevec.damage.noise import Noise, damaged
from lovevec.errors import LovevecError
from lovevec.evaluate.finetune.batches import Rows
from lovevec.evaluate.finetune.task import Sentences, tokenised
from lovevec.evaluate.finetune.transformer import Transformer

Floats = NDArray[np.float32]
LONGEST = 512


class Nearness(NamedTuple):
    """Mean cosines of the copies to their own sentences and to all others, and the share of copies (in per cent) whose
    nearest clean sentence is their own."""

    own: float
    others: float
    found: float


def nearness(
    embed: Callable[[Sentences], Floats], sentences: Sentences, noises: Sequence[Noise], seed: int
) -> dict[str, Nearness]:
    """By the labels of the noises; `embed` gives [sentences, dim]. Sentences of the same words count as one."""
    distinct = list({tuple(sentence): sentence for sentence in sentences}.values())
    if len(distinct) < 2:
        raise LovevecError("nearness: at least two different sentences are needed")
    clean = _directions(embed(distinct))
    found = {}
    for noise in noises:
        cosines = _directions(embed(damaged(distinct, noise, seed))) @ clean.T
        own = np.diagonal(cosines)
        others = (cosines.sum() - own.sum()) / (cosines.size - len(own))
        right = cosines.argmax(axis=1) == np.arange(len(own))
        found[noise.label] = Nearness(float(own.mean()), float(others), 100 * float(right.mean()))
    return found


def embedder(encoder: Transformer, device: torch.device) -> Callable[[Sentences], Floats]:
    """Sentences -> the mean of their positions' outputs, special tokens included, as sentence-transformers has it."""
    model = encoder.pair()[0].to(device).eval()

    @torch.no_grad()
    def embed(sentences: Sentences) -> Floats:
        texts = [" ".join(sentence) for sentence in encoder.read(sentences)]
        rows = Rows(tokenised(encoder.tokenizer, texts, LONGEST, words=False)[0], torch.zeros(len(texts)), device)
        made = torch.empty(len(texts), model.config.hidden_size, device=device)
        for which, inputs in rows.by_length():
            there = inputs["attention_mask"][..., None]
            made[which] = (model(**inputs).last_hidden_state * there).sum(dim=1) / there.sum(dim=1)
        result: Floats = made.cpu().numpy()
        return result

    return embed


def _directions(vectors: Floats) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    result: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return result
