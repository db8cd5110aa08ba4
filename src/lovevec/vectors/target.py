"""The target: the words and vectors to mimic, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors import ReadReport


@dataclass(frozen=True, eq=False)
class Target:
    """Words and their raw vectors, float32 [n, dim], norms kept.

    `source` says where they came from in terms fit to publish: the name of the file without its folder,
    format, rows, SHA-256. `report` counts what was dropped on the way.
    """

    words: list[str]
    vectors: NDArray[np.float32]
    name: str
    source: dict[str, Any]
    report: ReadReport

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        """The number of columns."""
        return int(self.vectors.shape[1])
