"""The table that every reader hands back: words, their vectors, and the account of the reading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.report import ReadReport


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Words and their vectors, row for row: `vectors` is float32 [len(words), dim]."""

    words: list[str]
    vectors: NDArray[np.float32]
    report: ReadReport

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        """The number of columns."""
        return int(self.vectors.shape[1])
