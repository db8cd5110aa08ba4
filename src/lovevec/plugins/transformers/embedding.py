"""The model's half: an embedding layer that knows broken words, by one of the paper's three strategies.

    replace    Replacement            e_word                       one position for the word
    linear     Linear Combination     (1 - α) e_sub + α e_word     α = sigmoid(W · e_sub), W learned; at each piece
    add        Add                    e_sub + e_word               at each piece

For the time of one call a broken word is known by a number below zero: `-1 - (id + size · row)`, where `size` is that
of the vocabulary and `row` the word's place in this thread's cache. So it passes through whatever a model does with ids
before they reach this layer (RoBERTa counts its positions by them), and an id without a word stays what it is.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lovevec.errors import LovevecError
from lovevec.plugins.transformers.imputer import Imputer
from lovevec.plugins.transformers.trainable import TrainableLOVE, ingredients
from lovevec.plugins.transformers.wire_format import LOVE_WORDS, NUMBERS_PER_WORD, to_bytes, to_words

Strategy = Literal["replace", "linear", "add"]
Floats = NDArray[np.float32]
STRATEGIES: tuple[str, ...] = get_args(Strategy)


class WordCache(threading.local):
    """The broken words that a thread has met, and a row of numbers for each, on one device. Beyond `max_words` it
    starts anew, so memory is bounded; threads do not get in each other's way."""

    def __init__(self, max_words: int = 50_000) -> None:
        self.max_words = max_words
        self.in_use = False  # whether the ids at hand hold any word
        self.clear()

    def __deepcopy__(self, memo: dict[int, object]) -> WordCache:
        return WordCache(self.max_words)

    def __reduce__(self) -> tuple[type[WordCache], tuple[int]]:
        return WordCache, (self.max_words,)

    def clear(self) -> None:
        self.row: dict[bytes, int] = {}
        self.vectors: torch.Tensor | None = None

    def rows(self, keys: list[bytes], compute: Callable[[list[str]], Floats], like: torch.Tensor) -> NDArray[np.int64]:
        """The row of each word, by the keys of wire_format; `compute` is asked for the words met for the first time,
        and `like` says on which device and in which type their numbers are to lie."""
        if self.vectors is not None and (self.vectors.device, self.vectors.dtype) != (like.device, like.dtype):
            self.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self.row]
        if new and len(self.row) + len(new) > self.max_words:
            self.clear()
            new = list(dict.fromkeys(keys))
        if new:
            self._add(new, compute(to_words(new)), like)
        return np.fromiter((self.row[key] for key in keys), dtype=np.int64, count=len(keys))

    def _add(self, keys: list[bytes], vectors: Floats, like: torch.Tensor) -> None:
        first, end = len(self.row), len(self.row) + len(keys)
        with torch.inference_mode(False), torch.no_grad():  # so that training may follow upon inference
            room = 0 if self.vectors is None else len(self.vectors)
            if end > room:
                shape = max(end, 2 * room, 1024), vectors.shape[1]
                wider = torch.zeros(shape, device=like.device, dtype=like.dtype)
                if self.vectors is not None:
                    wider[:first] = self.vectors[:first]
                self.vectors = wider
            assert self.vectors is not None
            self.vectors[first:end] = torch.from_numpy(vectors).to(like.device, like.dtype)
        self.row.update(zip(keys, range(first, end), strict=True))


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
        """Add what a plain layer lacks; LOVE comes later, by `use`.

        `mask` is the id of the mask token: a masked position stays masked, so that the model cannot see the word that
        it has to guess. `unknown` is the id that stands in the place of a merged word. `sizes` are the shapes of the
        weights of a LOVE that trains with the model, None where it does not.
        """
        self.strategy, self.mask, self.imputer, self.cache = strategy, -1 if mask is None else mask, None, WordCache()
        self.unknown = unknown if strategy == "replace" else None  # by the other strategies the pieces stay
        if strategy == "linear":
            self.gate = nn.Linear(self.embedding_dim, 1, bias=False, device=self.weight.device, dtype=self.weight.dtype)
            nn.init.zeros_(self.gate.weight)  # α = ½ everywhere, to begin with
        self.love = TrainableLOVE(sizes) if sizes else None

    def use(self, imputer: Imputer) -> None:
        if imputer.dim != self.embedding_dim:
            raise LovevecError(f"LOVE gives {imputer.dim} dimensions, the model's embeddings have {self.embedding_dim}")
        self.imputer = imputer
        self.cache.clear()

    def train_love(self, imputer: Imputer) -> TrainableLOVE:
        self.love = TrainableLOVE.from_imputer(imputer).to(self.weight.device)
        self.cache.clear()
        return self.love

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def warn_without_words(self, ids: Any) -> None:
        """Warn, once, where ids came without words and some are the unknown token's: words are probably lost. Not
        certainly, for a plain tokenizer's text may hold what it cannot spell."""
        if self.unknown is None or not isinstance(ids, torch.Tensor) or not bool((ids == self.unknown).any()):
            return
        self.unknown = None
        warnings.warn(
            f"input_ids with unknown tokens came without {LOVE_WORDS}: where the robust tokenizer merged a broken word "
            f"the model sees nothing of it. Give the model all that the tokenizer gave: model(**batch)",
            stacklevel=3,
        )

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def insert_words(self, ids: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """[batch, positions] and the words' numbers [batch, positions, 8] -> ids with words in them."""
        if numbers.shape == (*ids.shape[:-1], ids.shape[-1] * NUMBERS_PER_WORD):  # by the multiple-choice collator
            numbers = numbers.unflatten(-1, (-1, NUMBERS_PER_WORD))
        if numbers.shape != (*ids.shape, NUMBERS_PER_WORD):
            raise LovevecError(
                f"{LOVE_WORDS} has the shape {tuple(numbers.shape)}, input_ids {tuple(ids.shape)}: "
                f"what the tokenizer gave has to go together, {NUMBERS_PER_WORD} numbers for each position"
            )
        spellings = numbers.cpu().numpy()  # the one time that a GPU is waited for
        is_word = spellings.any(axis=-1)
        self.cache.in_use = bool(is_word.any())
        if not self.cache.in_use:
            return ids
        if self.imputer is None:
            raise LovevecError(
                "this robust model was made without LOVE: load it with from_pretrained, or use robustify"
            )
        row_of = np.full(is_word.shape, -1)
        row_of[is_word] = self.cache.rows(to_bytes(spellings[is_word]), self._compute, self._cache_like())
        rows = torch.from_numpy(row_of).to(ids.device)
        return torch.where((rows < 0) | (ids == self.mask), ids, -1 - (ids + rows * len(self.weight)))

    def _compute(self, words: list[str]) -> Floats:
        """The cache's rows of words: their vectors, or what these are made of if LOVE is trained."""
        assert self.imputer is not None
        return self.imputer(words) if self.love is None else ingredients(self.imputer, words)

    def _cache_like(self) -> torch.Tensor:
        """A tensor with the device and the type of the cache: float32 where it holds ids, which need its 24 bits."""
        return self.weight if self.love is None else self.weight.new_empty(0, dtype=torch.float32)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _may_hold_words(self, ids: torch.Tensor) -> bool:
        """Whether these ids may hold words: not where the model has moved since any were looked up."""
        vectors = self.cache.vectors
        if not self.cache.in_use or vectors is None:
            return False
        return (vectors.device, vectors.dtype) == (ids.device, self._cache_like().dtype)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _word_vectors(self, rows: torch.Tensor) -> torch.Tensor:
        assert self.cache.vectors is not None
        if self.love is None:
            return nn.functional.embedding(rows, self.cache.vectors)
        distinct, places = rows.unique(return_inverse=True)
        vectors: torch.Tensor = self.love(self.cache.vectors[distinct])[places]
        return vectors.to(self.weight.dtype)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """ids […], some of them words as `insert_words` writes them -> embeddings […, dim]."""
        if not self._may_hold_words(input):
            return super().forward(input)
        is_word, size = input < 0, len(self.weight)
        number = -1 - input
        own = super().forward(torch.where(is_word, number % size, input))
        vectors = self._word_vectors(torch.where(is_word, number // size, 0))  # row 0's where there is no word
        if self.strategy == "linear":
            weight = torch.sigmoid(self.gate(own))
            vectors = (1 - weight) * own + weight * vectors
        elif self.strategy == "add":
            vectors = own + vectors
        return torch.where(is_word[..., None], vectors, own)


@cache
def robust_layer(base: Any) -> type[RobustEmbedding]:
    """RobustEmbedding on top of a model's own kind of embedding, `base`, so that what that class adds stays."""
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
