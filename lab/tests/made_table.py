"""A small table of vectors as a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lovevec.vectors import VectorTable
from lovevec.vectors.table import ReadReport
from lovevec_lab.methods.table import Table


def made_table(rows: Mapping[str, Sequence[float]], name: str = "made") -> Table:
    vectors = np.array(list(rows.values()), dtype=np.float32)
    return Table(VectorTable(list(rows), vectors, ReadReport("memory", dim=vectors.shape[1])), name)
