"""The model's half: an embedding layer that knows broken words.

For the time of one call a broken word is known by a number below zero: `-1 - (id + size · row)`, where `size` is that
of the vocabulary and `row` the word's place in this thread's cache. So it passes through whatever a model does with ids
before they reach this layer (RoBERTa counts its positions by them), and an id without a word stays what it is.

    replace    e_word                                 one position for the word
    linear     (1 - α) e_sub + α e_word               α = sigmoid(W · e_sub), W learned; at each of its pieces
    add        e_sub + e_word                         at each of its pieces
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lovevec.errors import LovevecError
from lovevec.plugins.transformers.imputer import Imputer, quick
from lovevec.plugins.transformers.trainable import TrainedLOVE, ingredients
from lovevec.plugins.transformers.wire_format import KEY, NUMBERS, to_bytes
from lovevec.plugins.transformers.word_cache import WordCache

Strategy = Literal["replace", "linear", "add"]
Floats = NDArray[np.float32]
STRATEGIES: tuple[str, ...] = get_args(Strategy)


class RobustEmbedding(nn.Embedding):
    """nn.Embedding that takes ids with words in them. LOVE itself is no part of its weights, unless it is trained."""

    strategy: Strategy
    mask: int
    unknown: int | None
    imputer: Imputer | None
    cache: WordCache

    def become_robust(
        self, strategy: Strategy, mask: int | None, unknown: int | None, sizes: dict[str, list[int]] | None
    ) -> None:
        """What a plain layer lacks; LOVE comes later. `mask` is the id of the mask token, under which no word shines
        through; `unknown` that of the token in whose place a merged word stands; `sizes` are those of a LOVE that
        trains with the model."""
        self.strategy, self.mask, self.imputer, self.cache = strategy, -1 if mask is None else mask, None, WordCache()
        self.unknown = unknown if strategy == "replace" else None  # by the other strategies the pieces stay
        if strategy == "linear":
            self.gate = nn.Linear(self.embedding_dim, 1, bias=False, device=self.weight.device, dtype=self.weight.dtype)
            nn.init.zeros_(self.gate.weight)  # α = ½ everywhere, to begin with
        self.love = TrainedLOVE(sizes) if sizes else None

    def use(self, imputer: Imputer) -> None:
        """Take the words' vectors from this LOVE."""
        if imputer.dim != self.embedding_dim:
            raise LovevecError(f"LOVE gives {imputer.dim} dimensions, the model's embeddings have {self.embedding_dim}")
        self.imputer = imputer
        self.cache.clear()

    def train_love(self, imputer: Imputer) -> TrainedLOVE:
        """Make LOVE's own tables a part of this layer's weights, to train with them."""
        self.love = TrainedLOVE.of(imputer).to(self.weight.device)
        self.cache.clear()
        return self.love

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def without_words(self, ids: Any) -> None:
        """Warn, once, where ids came without words and some are the unknown token's: words are probably lost. Not
        certainly, for a plain tokenizer's text may hold what it cannot spell."""
        if self.unknown is None or not isinstance(ids, torch.Tensor) or not bool((ids == self.unknown).any()):
            return
        self.unknown = None
        warnings.warn(
            f"input_ids with unknown tokens came without {KEY}: where the robust tokenizer merged a broken word the "
            f"model sees nothing of it. Give the model all that the tokenizer gave: model(**batch)",
            stacklevel=3,
        )

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def with_words(self, ids: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """[batch, positions] and the words' numbers [batch, positions, 8] -> ids with words in them."""
        if numbers.shape == (*ids.shape[:-1], ids.shape[-1] * NUMBERS):  # so left by the collator for multiple choice
            numbers = numbers.unflatten(-1, (-1, NUMBERS))
        if numbers.shape != (*ids.shape, NUMBERS):
            raise LovevecError(
                f"{KEY} has the shape {tuple(numbers.shape)}, input_ids {tuple(ids.shape)}: "
                f"what the tokenizer gave has to go together, {NUMBERS} numbers for each position"
            )
        spelled = numbers.cpu().numpy()  # the one time that a GPU is waited for
        there = spelled.any(axis=-1)
        self.cache.asked = bool(there.any())
        if not self.cache.asked:
            return ids
        if self.imputer is None:
            raise LovevecError(
                "this robust model was made without LOVE: load it with from_pretrained, or use robustify"
            )
        places = np.full(there.shape, -1)
        places[there] = self.cache.rows(to_bytes(spelled[there]), self._compute, self._kept_like())
        rows = torch.from_numpy(places).to(ids.device)
        return torch.where((rows < 0) | (ids == self.mask), ids, -1 - (ids + rows * len(self.weight)))

    def _compute(self, words: list[str]) -> Floats:
        """What the cache keeps of words: their vectors, or what these are made of if LOVE is trained."""
        assert self.imputer is not None
        imputer = quick(self.imputer)
        return imputer(words) if self.love is None else ingredients(imputer, words)

    def _kept_like(self) -> torch.Tensor:
        """Ids do not fit into 16 bits."""
        return self.weight if self.love is None else self.weight.new_empty(0, dtype=torch.float32)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _asked(self, ids: torch.Tensor) -> bool:
        """Whether these ids may hold words: not where the model has moved since any were looked up."""
        kept = self.cache.vectors
        if not self.cache.asked or kept is None:
            return False
        return (kept.device, kept.dtype) == (ids.device, self._kept_like().dtype)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _imputed(self, rows: torch.Tensor) -> torch.Tensor:
        """The words' vectors."""
        assert self.cache.vectors is not None
        if self.love is None:
            return nn.functional.embedding(rows, self.cache.vectors)
        which, places = rows.unique(return_inverse=True)
        vectors: torch.Tensor = self.love(self.cache.vectors[which])[places]
        return vectors.to(self.weight.dtype)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """[…] -> […, dim]."""
        if not self._asked(input):
            return super().forward(input)
        is_word, size = input < 0, len(self.weight)
        number = -1 - input
        own = super().forward(torch.where(is_word, number % size, input))
        vectors = self._imputed(torch.where(is_word, number // size, 0))  # row 0's where there is no word
        if self.strategy == "linear":
            weight = torch.sigmoid(self.gate(own))
            vectors = (1 - weight) * own + weight * vectors
        elif self.strategy == "add":
            vectors = own + vectors
        return torch.where(is_word[..., None], vectors, own)


@cache
def robust_layer(base: Any) -> type[RobustEmbedding]:
    """RobustEmbedding on top of a model's own kind of embedding."""
    if base is nn.Embedding:
        return RobustEmbedding
    return type(f"Robust{base.__name__}", (RobustEmbedding, base), {"__module__": __name__})


def make_robust(layer: Any, metadata: dict[str, Any]) -> RobustEmbedding:
    """Turn a model's embedding layer into one that knows broken words: the same object with the same weights.
    `metadata` is what the model's config has under `lovevec`."""
    if not isinstance(layer, nn.Embedding):
        raise LovevecError(f"the model's input embeddings are {type(layer).__name__}, no plain table of rows")
    kind: Any = type(layer)
    layer.__class__ = robust_layer(kind)
    assert isinstance(layer, RobustEmbedding)
    layer.become_robust(metadata["strategy"], metadata.get("mask"), metadata.get("unknown"), metadata.get("love"))
    return layer
