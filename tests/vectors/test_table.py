"""The one type of table, and what it costs to have it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import lovevec.vectors
from lovevec.vectors import ReadReport, VectorTable
from lovevec.vectors.read.fasttext_bin import FastTextBin


def test_a_table_has_length_columns_and_perhaps_an_origin():
    table = VectorTable(["a", "b"], np.ones((2, 3), np.float32), ReadReport("memory"))
    assert (len(table), table.dim, table.name, table.source) == (2, 3, "", {})


@pytest.mark.parametrize("code", ["from lovevec import LOVE", "import lovevec.vectors", "import lovevec.vectors.rows"])
def test_readers_are_imported_when_something_is_read(code):
    script = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name.startswith(("lovevec.vectors.read", "lovevec.vectors.write"))]


def test_the_door_shows_what_it_promises():
    assert lovevec.vectors.FastTextBin is FastTextBin
    assert all(hasattr(lovevec.vectors, name) for name in lovevec.vectors.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Target'"):
        _ = lovevec.vectors.Target
