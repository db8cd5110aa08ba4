"""A table of word vectors: what every reader hands back, what training mimics, what distilling gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.report import ReadReport


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Words and their raw vectors, row for row: `vectors` is float32 [len(words), dim], lengths kept.

    `report` counts what was dropped on the way. A table that is published or mimicked has a `name`, and a `source`
    that says where its vectors came from in terms fit to publish: the name of the file without its folder, format,
    rows, SHA-256.
    """

    words: list[str]
    vectors: NDArray[np.float32]
    report: ReadReport
    name: str = ""
    source: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        """The number of columns."""
        return int(self.vectors.shape[1])
