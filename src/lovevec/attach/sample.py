"""What model and table have in common: the words from which attaching learns, and a tenth to check on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
# A linear map of 300 x 300 numbers is settled well before this; more only costs time at attaching.
MOST_WORDS = 20_000
MOST_TESTED = 500
SEED = 0


class Model(Protocol):
    """What attaching needs of a model: LOVE, or anything that gives words a direction."""

    dim: int

    @property
    def words(self) -> Sequence[str]:
        """The words it learned from."""
        ...

    def embed(self, words: Sequence[str]) -> Floats:
        """Unit rows for any words."""
        ...


@dataclass(frozen=True, eq=False)
class Sample:
    """Shared words: the model's `vectors` of them (unit rows), and their `own`, which stand at `rows` of the table.

    `shared` is how many there are in all; the first `tested` of these are held out to check on.
    """

    shared: int
    tested: int
    rows: NDArray[np.int64]
    vectors: Floats
    own: Floats


def shared_words(
    model: Model, impute: Callable[[Sequence[str]], Floats], row: Mapping[str, int], vectors: Floats
) -> Sample:
    """Words that the model learned from and the table has, in an order drawn once and for all."""
    both = [word for word in model.words if word in row]
    order = np.random.default_rng(SEED).permutation(len(both))[:MOST_WORDS]
    words = [both[place] for place in order.tolist()]
    rows = np.fromiter((row[word] for word in words), dtype=np.int64, count=len(words))
    return Sample(len(both), min(len(words) // 10, MOST_TESTED), rows, impute(words), vectors[rows].astype(np.float32))
