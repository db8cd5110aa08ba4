"""The input layer of a downstream model: frozen vectors, or frozen ones with a CharCNN for unknown words.

A CharCNN reads a word's letters and is trained with the model that it feeds, from that model's loss alone. The words of
a training text are mostly known ones, so a share of them is taken for unknown in each step, or there would be little
to learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import skip_init

from lovevec.evaluate.nets.lookup import PADDING, Lookup
from lovevec.evaluate.nets.windows import Windows
from lovevec.methods.method import Floats, Method, Parameters
from lovevec.units.characters import codes_of
from lovevec.units.ragged import Ragged

ASCII, LETTERS = 128, 1024  # characters outside ASCII share the rows behind it
FIRST, LAST, LONGEST = "\x02", "\x03", 50


@dataclass(frozen=True)
class CharCNNSettings:
    """The size of a CharCNN, and the share of known words that it learns from in each step."""

    letter_dim: int = 50
    widths: tuple[int, ...] = (3,)
    filters: int = 100
    share: float = 0.3


class WithCharCNN(Method):
    """Marks a method whose unknown words are left to a CharCNN; by itself it has what the method has."""

    def __init__(self, method: Method, settings: CharCNNSettings | None = None, name: str = "") -> None:
        self.method, self.settings = method, settings or CharCNNSettings()
        self.name, self.dim = name or f"{method.name} + CharCNN", method.dim
        layer = CharCNN(np.zeros((1, self.dim), np.float32), np.zeros(1, np.bool_), [""], self.settings)
        self.words = method.words
        own = sum(weight.numel() for weight in layer.parameters())
        self.parameters = Parameters(method.parameters.embedding, method.parameters.others + own)

    def embed(self, words: Sequence[str]) -> Floats:
        """As the method has them."""
        return self.method.embed(words)

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """As the method does."""
        return self.method.covers(words)


class Frozen(nn.Module):
    """Rows of a table: [...] ids -> [..., dim]."""

    vectors: Tensor

    def __init__(self, vectors: Floats) -> None:
        super().__init__()
        self.dim = vectors.shape[1]
        self.register_buffer("vectors", torch.from_numpy(vectors), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """The rows."""
        return self.vectors[ids]


class CharCNN(Frozen):
    """Rows of a table for known words; an unknown word's vector is made from its letters.

    `known` [rows] and `words` go with the rows of `vectors`; row 0 is padding and stays zero. Which known words count
    as unknown in training is decided by `generator`, which the training loop sets.
    """

    known: Tensor
    letters: Tensor
    lengths: Tensor

    def __init__(
        self, vectors: Floats, known: NDArray[np.bool_], words: Sequence[str], settings: CharCNNSettings
    ) -> None:
        super().__init__(vectors)
        self.share = settings.share
        self.generator: torch.Generator | None = None
        letters = letters_of(words)
        self.register_buffer("known", torch.from_numpy(known), persistent=False)
        self.register_buffer("letters", torch.from_numpy(letters.padded()), persistent=False)
        self.register_buffer("lengths", torch.from_numpy(letters.lengths), persistent=False)
        self.letter = skip_init(nn.Embedding, LETTERS, settings.letter_dim)
        self.windows = Windows(settings.letter_dim, settings.widths, settings.filters)
        self.out = skip_init(nn.Linear, self.windows.size, self.dim)

    def forward(self, ids: Tensor) -> Tensor:
        """[...] ids -> [..., dim]; each distinct word is spelled once."""
        made = ~self.known[ids]
        if self.training and self.share:
            drawn = torch.rand(ids.shape, generator=self.generator, device=ids.device)
            made |= drawn < self.share
        made &= ids != PADDING
        distinct, which = ids[made].unique(return_inverse=True)
        result = self.vectors[ids]  # a copy
        if len(distinct):
            result[made] = self.spelled(distinct)[which]
        return result

    def spelled(self, ids: Tensor) -> Tensor:
        """[words] ids, at least one -> [words, dim], from their letters."""
        lengths = self.lengths[ids]
        letters = self.letters[ids, : int(lengths.max())]
        read = self.letter(letters) * (letters > 0)[..., None]
        made: Tensor = self.out(self.windows(read, lengths))
        return made


def letters_of(words: Sequence[str]) -> Ragged:
    """The letters of each word, with a mark before and behind, as rows from 1 up."""
    marked = [f"{FIRST}{word[:LONGEST]}{LAST}" for word in words]
    codes = codes_of("".join(marked)).astype(np.int64)
    rows = np.where(codes < ASCII, codes, ASCII + codes % (LETTERS - ASCII))
    return Ragged.from_lengths(np.maximum(rows, 1), np.array([len(word) for word in marked], dtype=np.int64))


def input_layer(method: Method, lookup: Lookup) -> Frozen:
    """What turns the rows of `lookup` into vectors for a downstream model; trains where the method says so."""
    if not isinstance(method, WithCharCNN):
        return Frozen(lookup.vectors)
    words = list(lookup.rows)
    known = np.concatenate([[False], method.covers(words)])
    return CharCNN(lookup.vectors, known, ["", *words], method.settings)
