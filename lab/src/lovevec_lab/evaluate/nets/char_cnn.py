"""The input layer of a downstream model: frozen vectors, or frozen ones with a CharCNN for unknown words.

A CharCNN reads a word's letters and is trained with the model that it feeds, from that model's loss alone. The words of
a training text are mostly known ones, so a share of them is taken for unknown in each step, or there would be little
to learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import skip_init

from lovevec.encoders.shared import Dropout, initialise, inside
from lovevec.units.characters import codes_of
from lovevec.units.ragged import Ragged
from lovevec_lab.evaluate.nets import CharCNNSettings
from lovevec_lab.evaluate.nets.lookup import PADDING, WordLookup
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters

ASCII, LETTERS = 128, 1024  # characters outside ASCII share the rows behind it
FIRST, LAST, LONGEST = "\x02", "\x03", 50


class Convolution(nn.Module):
    """How a CNN reads words, or letters: the largest answer of each filter over time.

    `filters` filters for each of the `widths`. A window begins at every item; behind the end there are zeros, so that a
    sequence shorter than a window has one too, and padding has no say. Weights are empty until they are
    `seed_weights`: torch would fill them from its global generator."""

    def __init__(self, dim: int, widths: Sequence[int], filters: int) -> None:
        super().__init__()
        self.size = filters * len(widths)
        self.convolutions = nn.ModuleList(skip_init(nn.Conv1d, dim, filters, width) for width in widths)
        self.behind = max(widths) - 1

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """[b, n, dim] with zeros behind each row's length -> [b, size]: ReLU, then the maximum over time."""
        width = x.shape[1]
        padding = ~inside(lengths.clamp(min=1), width)[:, None]
        x = F.pad(x.transpose(1, 2), (0, self.behind))
        answers = [convolution(x)[:, :, :width].masked_fill(padding, 0) for convolution in self.convolutions]
        # The least that ReLU gives is zero, so a zero on padding changes no maximum.
        return torch.cat([answer.relu().amax(dim=2) for answer in answers], dim=1)


class WithCharCNN(Method):
    """A method whose unknown words are left to a CharCNN, which the downstream model runs and trains: by itself it has
    what the method has, and no speed of its own."""

    timed = False

    def __init__(self, method: Method, settings: CharCNNSettings | None = None, name: str = "") -> None:
        self.method, self.settings = method, settings or CharCNNSettings()
        self.name, self.dim = name or f"{method.name} + CharCNN", method.dim
        self.words, self.table = method.words, method.table
        self.input_settings = asdict(self.settings)
        layer = CharCNN(np.zeros((1, self.dim), np.float32), np.zeros(1, np.bool_), [""], self.settings)
        own = sum(weight.numel() for weight in layer.parameters())
        self.parameters = Parameters(method.parameters.embedding, method.parameters.others + own)

    def embed(self, words: Sequence[str]) -> Floats:
        """As the method has them."""
        return self.method.embed(words)

    def covers(self, words: Sequence[str]) -> Bools:
        """As the method does."""
        return self.method.covers(words)

    def input_layer(self, words: Sequence[str], vectors: Floats) -> CharCNN:
        """The vectors of known words, and the network for the others."""
        known = np.concatenate([[False], self.covers(words)])
        return CharCNN(vectors, known, ["", *words], self.settings)


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

    def __init__(self, vectors: Floats, known: Bools, words: Sequence[str], settings: CharCNNSettings) -> None:
        super().__init__(vectors)
        self.share = settings.share
        self.generator: torch.Generator | None = None
        letters = letters_of(words)
        self.register_buffer("known", torch.from_numpy(known), persistent=False)
        self.register_buffer("letters", torch.from_numpy(letters.padded()), persistent=False)
        self.register_buffer("lengths", torch.from_numpy(letters.lengths), persistent=False)
        self.letter = skip_init(nn.Embedding, LETTERS, settings.letter_dim)
        self.convolution = Convolution(settings.letter_dim, settings.widths, settings.filters)
        self.out = skip_init(nn.Linear, self.convolution.size, self.dim)

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
            result[made] = self.spell(distinct)[which]
        return result

    def spell(self, ids: Tensor) -> Tensor:
        """[words] ids, at least one -> [words, dim], from their letters."""
        lengths = self.lengths[ids]
        letters = self.letters[ids, : int(lengths.max())]
        read = self.letter(letters) * (letters > 0)[..., None]
        made: Tensor = self.out(self.convolution(read, lengths))
        return made


def letters_of(words: Sequence[str]) -> Ragged:
    """The letters of each word, with a mark before and behind, as rows from 1 up."""
    marked = [f"{FIRST}{word[:LONGEST]}{LAST}" for word in words]
    codes = codes_of("".join(marked)).astype(np.int64)
    rows = np.where(codes < ASCII, codes, ASCII + codes % (LETTERS - ASCII))
    return Ragged.from_lengths(np.maximum(rows, 1), np.array([len(word) for word in marked], dtype=np.int64))


def input_layer(method: Method, lookup: WordLookup) -> Frozen:
    """What turns the rows of `lookup` into vectors for a downstream model; trains where the method says so."""
    layer: Frozen | None = method.input_layer(list(lookup.rows), lookup.vectors)
    return Frozen(lookup.vectors) if layer is None else layer


def input_layers(method: Method, lookup: WordLookup, runs: int) -> list[Frozen]:
    """The same for several runs side by side: one layer for all, or where it trains one for each."""
    layer = input_layer(method, lookup)
    if not any(True for _ in layer.parameters()):
        return [layer]
    return [layer, *(deepcopy(layer, {id(buffer): buffer for buffer in layer.buffers()}) for _ in range(runs - 1))]


def seed_weights(model: nn.Module, seed: int, device: torch.device) -> None:
    """Weights, and whatever the model draws later, decided by a seed alone: weights are filled on the CPU, so that all
    devices begin alike; then the model is moved and a generator handed out."""
    initialise(model, torch.Generator().manual_seed(seed))
    model.to(device)
    generator = torch.Generator(device).manual_seed(seed)
    for module in model.modules():
        if isinstance(module, Dropout | CharCNN):
            module.generator = generator
