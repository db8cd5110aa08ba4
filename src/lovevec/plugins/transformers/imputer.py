"""LOVE's vectors for broken words, as the model's own embeddings would be: in their space, at a length that suits them.

Where LOVE mimics these very embeddings its directions are used as they are. A LOVE that mimics others (distilled ones,
say) is brought over by a linear map, learned from the words that both have. To a LOVE that lives in the model's space
the words that stay in pieces become known, by the mean of their pieces' rows: so their misspellings are read as them.

Unlike `attach`, lengths do not depend on LOVE's confidence: a layer norm follows, and measured on MiniLM's sentence
embeddings of damaged text full lengths are a little better.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lovevec.attach.lengths import Lengths, fit_lengths
from lovevec.attach.space import Map, SpaceOption, fit_space, shared_words
from lovevec.errors import FormatError
from lovevec.files import atomic_write
from lovevec.files.tensors import lengths_of
from lovevec.love import LOVE

Floats = NDArray[np.float32]
FIT_FILE = "fit.safetensors"  # beside LOVE's own files
LENGTH_NUMBERS = ("typical", "offset", "least", "most")


@dataclass(frozen=True, eq=False)
class Imputer:
    """Words -> vectors in the space of the model's input embeddings, [n, dim]. `map` is None where LOVE lives there;
    `near` is the mean cosine of what comes out with the model's own rows: of all shared words without a map, of those
    held out with one."""

    love: LOVE
    lengths: Lengths
    map: Map | None
    near: float

    @property
    def dim(self) -> int:
        return self.love.dim if self.map is None else int(self.map.slope.shape[1])

    def __call__(self, words: list[str]) -> Floats:
        """Vectors of words, [len(words), dim]: LOVE's direction (of a misspelling the mean over its readings) times a
        length."""
        vectors = self.love.lookup(words, in_text=True).vectors
        directions = vectors if self.map is None else self.map(vectors)
        return directions * self.lengths(vectors)[:, None]

    def save(self, folder: Path) -> None:
        self.love.save(folder)
        arrays = {"map": self.map.slope if self.map else None, "lengths": self.lengths.slope}
        numbers = {name: getattr(self.lengths, name) for name in LENGTH_NUMBERS}
        metadata = {"about": json.dumps({**numbers, "near": self.near, "spelling_only": self.love.spelling_only})}
        with atomic_write(folder / FIT_FILE) as file:
            file.write(save({name: array for name, array in arrays.items() if array is not None}, metadata))

    @classmethod
    def load(cls, folder: Path) -> Imputer:
        love = LOVE.load(folder)
        try:
            with safe_open(folder / FIT_FILE, "numpy") as file:
                metadata = json.loads(file.metadata()["about"])
                love = love.copy(spelling_only=bool(metadata["spelling_only"]))
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
            lengths = Lengths(**{name: float(metadata[name]) for name in LENGTH_NUMBERS}, slope=arrays.get("lengths"))
            slope = arrays.get("map")
            imputer = cls(love, lengths, None if slope is None else Map(slope), float(metadata["near"]))
            imputer(["a"])
        except (OSError, SafetensorError, ValueError, TypeError, KeyError) as error:
            raise FormatError(folder / FIT_FILE, f"does not fit the LOVE beside it ({error})") from None
        return imputer


def fit_imputer(love: LOVE, words: list[str], vectors: Floats, space: SpaceOption) -> Imputer:
    """Learn from the model's whole words and their rows [len(words), dim] how LOVE's vectors become like them.
    `space` says whether a map may be learned: direct (none), mapped, or auto (where the spaces
    do not agree already)."""
    sample = shared_words(love.words, love.impute, {word: row for row, word in enumerate(words)}, vectors)
    lengths = replace(fit_lengths(sample, lengths_of(vectors)), error=None, error_typical=None)
    result = fit_space(sample, space)
    return Imputer(love, lengths, result.map, result.mapped.cosine if result.mapped else result.agreement)


def add_known_words(love: LOVE, words: list[str], vectors: Floats) -> LOVE:
    """The same LOVE with further known words, whose own vectors [len(words), dim] have these directions. They rank
    behind all others, in this order. A LOVE that reads by spelling only stays as it is."""
    rows = love.parts.rows
    if love.spelling_only or rows is None or not words:
        return love
    weights = np.full(len(words), love.text_encoder().new_weight, dtype=np.float32)
    ranks = np.arange(len(rows), len(rows) + len(words), dtype=np.int32)
    return love.copy(
        parts=replace(love.parts, words=[*love.words, *words], rows=rows.with_more(vectors, weights, ranks))
    )
