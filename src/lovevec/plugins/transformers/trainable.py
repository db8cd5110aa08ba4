"""LOVE as a part of the model that trains: what its units add to a vector becomes a table of weights.

    v = length · normalise(Σ_j w_j out[id_j])

How much each unit counts (w, LOVE's attention) and the length stay as they are; `out` learns, and the word-level head
where there is one. Words share units, so words that were never seen learn too.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from lovevec.engine.with_numpy import NumpyEngine
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.plugins.transformers.imputer import Imputer

Floats = NDArray[np.float32]
UNITS_PER_WORD = 288  # of 64 bytes: as many characters, pieces and n-grams of two sizes at most, and the marks
HEAD_WEIGHTS = ("head_in", "head_in_bias", "head_out", "head_out_bias")


def fold_engine(love: LOVE) -> NumpyEngine:
    """The engine that says how much each unit adds to a vector; an error for an encoder that does not fold."""
    if love.engine.fold is None:
        raise LovevecError(
            f"trainable: LOVE with the encoder {love.parts.spec.kind} cannot train inside another model; positional can"
        )
    return love.engine.fold


class TrainableLOVE(nn.Module):
    """A word comes as one row of numbers: its length, its units' ids (a float holds them exactly), their weights, and
    the weights of its n-grams, which are added behind the head. `sizes` are the shapes of the weights by name."""

    def __init__(self, sizes: dict[str, list[int]]) -> None:
        super().__init__()
        self.sizes = sizes
        self.weights = nn.ParameterDict({name: nn.Parameter(torch.empty(shape)) for name, shape in sizes.items()})

    @classmethod
    def from_imputer(cls, imputer: Imputer) -> TrainableLOVE:
        """The module whose weights begin as the tables of the imputer's LOVE, and its map where it has one."""
        tables = fold_engine(imputer.love).tables
        arrays = {"out": tables.all_out()} | dict(zip(HEAD_WEIGHTS, tables.head, strict=False))
        if imputer.map is not None:
            arrays["map"] = imputer.map.slope
        module = cls({name: list(array.shape) for name, array in arrays.items()})
        with torch.no_grad():
            for name, array in arrays.items():
                module.weights[name].copy_(torch.from_numpy(np.array(array)))
        return module

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """The rows of `ingredients`, [n, 1 + 3 · UNITS_PER_WORD] -> the words' vectors, [n, dim]."""
        length, ids, units, ngrams = words.split([1, UNITS_PER_WORD, UNITS_PER_WORD, UNITS_PER_WORD], dim=1)
        pooled = self._bag(ids, units)
        if HEAD_WEIGHTS[0] in self.weights:
            first, first_bias, second, second_bias = (self.weights[name] for name in HEAD_WEIGHTS)
            hidden = functional.linear(_directions(pooled), first, first_bias).relu()
            pooled = pooled + functional.linear(hidden, second, second_bias)
        unit = _directions(pooled + self._bag(ids, ngrams))
        if "map" in self.weights:
            unit = _directions(unit @ self.weights["map"])
        vectors: torch.Tensor = length * unit
        return vectors

    def _bag(self, ids: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        table = self.weights["out"]
        weights = weights.to(table.dtype)
        summed: torch.Tensor = functional.embedding_bag(ids.long(), table, mode="sum", per_sample_weights=weights)
        return summed


def _directions(rows: torch.Tensor) -> torch.Tensor:
    return functional.normalize(rows, dim=1, eps=1e-12)


def ingredients(imputer: Imputer, words: list[str]) -> Floats:
    """What TrainableLOVE makes vectors of: the length, ids and weights of each word, [n, 1 + 3 · UNITS_PER_WORD]."""
    love, engine = imputer.love, fold_engine(imputer.love)
    rows = love.parts.units.encode(words)
    result = np.zeros((len(words), 1 + 3 * UNITS_PER_WORD), dtype=np.float32)
    result[:, 0] = imputer.lengths(love.embed(words))
    ids, units, ngrams = (result[:, 1 + part * UNITS_PER_WORD : 1 + (part + 1) * UNITS_PER_WORD] for part in range(3))
    for place in range(len(words)):
        row = rows.row(place)[:UNITS_PER_WORD]
        ordered = row < love.parts.units.vocabulary.unit_rows
        ids[place, : len(row)] = row
        units[place, : len(row)][ordered] = engine.weights(row[ordered][None])[0]
        ngrams[place, : len(row)][~ordered] = 1
    return result
