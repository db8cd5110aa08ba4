"""LOVE's vectors for broken words, as the model's own embeddings would be: in their space, at a length that suits them.

Where LOVE mimics these very embeddings its directions are used as they are. A LOVE that mimics others (distilled ones,
say) is brought over by a linear map, learned from the words that both have.

Unlike `attach`, lengths do not depend on LOVE's confidence: a layer norm follows, and measured on MiniLM's sentence
embeddings of damaged text full lengths are a little better.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lovevec.attach.lengths import Lengths, fit_lengths, lengths_of
from lovevec.attach.ridge import ridge
from lovevec.attach.sample import Sample, shared_words
from lovevec.attach.space import SAME_SPACE, STRENGTH
from lovevec.errors import FormatError, LovevecError
from lovevec.files import atomic_write
from lovevec.love import LOVE
from lovevec.vectors.rows import normalized, rows_times

Floats = NDArray[np.float32]
Space = Literal["auto", "direct", "mapped"]
SPACES: tuple[str, ...] = get_args(Space)
FILE = "fit.safetensors"  # beside LOVE's own files
SCALARS = ("typical", "offset", "least", "most")


@dataclass(frozen=True, eq=False)
class Imputer:
    """Words -> vectors in the space of the model's input embeddings, [n, dim]. `slope` is the map, None where LOVE
    lives there; `near` is the mean cosine of what comes out with the model's own rows, for shared words held out."""

    love: LOVE
    lengths: Lengths
    slope: Floats | None
    near: float

    @property
    def dim(self) -> int:
        """Of the vectors."""
        return self.love.dim if self.slope is None else int(self.slope.shape[1])

    def __call__(self, words: list[str]) -> Floats:
        """A direction by LOVE, times a length."""
        made = self.love.embed(words)
        directions = made if self.slope is None else normalized(rows_times(made, self.slope))
        return directions * self.lengths(made)[:, None]

    def save(self, folder: Path) -> None:
        """LOVE's own folder, and how it was fitted beside its files."""
        self.love.save(folder)
        arrays = {"map": self.slope, "lengths": self.lengths.slope}
        numbers = {name: getattr(self.lengths, name) for name in SCALARS}
        metadata = {"about": json.dumps({**numbers, "near": self.near})}
        with atomic_write(folder / FILE) as file:
            file.write(save({name: array for name, array in arrays.items() if array is not None}, metadata))

    @classmethod
    def load(cls, folder: Path) -> Imputer:
        """The inverse of `save`."""
        love = LOVE.load(folder)
        try:
            with safe_open(folder / FILE, "numpy") as file:
                metadata = json.loads(file.metadata()["about"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
            lengths = Lengths(**{name: float(metadata[name]) for name in SCALARS}, slope=arrays.get("lengths"))
            made = cls(love, lengths, arrays.get("map"), float(metadata["near"]))
            made(["a"])
        except (OSError, SafetensorError, ValueError, TypeError, KeyError) as error:
            raise FormatError(folder / FILE, f"does not fit the LOVE beside it ({error})") from None
        return made


def fit(love: LOVE, words: list[str], vectors: Floats, space: Space) -> Imputer:
    """Learn from the model's whole words and their rows how LOVE's vectors become like them."""
    sample = shared_words(love, {word: row for row, word in enumerate(words)}, vectors)
    lengths = replace(fit_lengths(sample, lengths_of(vectors)), error=None, error_typical=None)
    near = nearness(sample)
    if space == "direct" and love.dim != vectors.shape[1]:
        raise LovevecError(f"space is 'direct', but LOVE has {love.dim} dimensions, the model {vectors.shape[1]}")
    if space == "direct" or (space == "auto" and near >= SAME_SPACE):
        return Imputer(love, lengths, None, near)
    if sample.shared < 2 * love.dim:
        raise LovevecError(
            f"{love!r} shares {sample.shared:,} words with the model's vocabulary: at least {2 * love.dim:,} are needed"
        )
    own, held, rest = normalized(sample.own), slice(0, sample.tested), slice(sample.tested, None)
    guess = normalized(rows_times(sample.made[held], ridge(sample.made[rest], own[rest], STRENGTH)[0]))
    slope = ridge(sample.made, own, STRENGTH)[0]
    return Imputer(love, lengths, slope, float((guess * own[held]).sum(axis=1).mean()))


def nearness(sample: Sample) -> float:
    """Mean cosine of LOVE's vectors with the model's own, for held-out words; 0 where there is nothing to compare."""
    if sample.made.shape[1] != sample.own.shape[1] or not len(sample.made):
        return 0.0
    return float((sample.made * normalized(sample.own)).sum(axis=1).mean())
