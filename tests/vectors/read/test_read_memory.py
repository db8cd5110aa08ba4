"""A text file takes the memory of its matrix and little more, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROWS, DIM = 150_000, 100

# VmHWM is the peak of this program; ru_maxrss would take over that of the test process which starts it.
SCRIPT = """
import json, sys
from lovevec.vectors import read_vectors
def status(name):
    with open("/proc/self/status") as file:
        return int(file.read().split(name)[1].split()[0]) * 1024
sample, path = sys.argv[1:]
read_vectors(sample)
before = status("VmRSS:")
table = read_vectors(path)
words = sum(map(sys.getsizeof, table.words)) + sys.getsizeof(table.words)
print(json.dumps([status("VmHWM:") - before, table.vectors.nbytes, words, len(table)]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure memory")
@pytest.mark.parametrize("header", [True, False])
def test_reading_holds_the_matrix_once(tmp_path, header):
    values = np.random.default_rng(0).normal(size=(100, DIM))
    tails = [" ".join(f"{value:.5f}" for value in row) for row in values.tolist()]
    path, sample = tmp_path / "v.txt", tmp_path / "sample.txt"
    with open(path, "w") as file:
        file.write(f"{ROWS} {DIM}\n" * header)
        file.writelines(f"word{row} {tails[row % 100]}\n" for row in range(ROWS))
    sample.write_text("".join(f"word{row} {tails[row % 100]}\n" for row in range(2000)))
    command = [sys.executable, "-c", SCRIPT, str(sample), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    extra, matrix, words, rows = json.loads(done.stdout)
    assert rows == ROWS
    # Beside the matrix and the words: their dict (20 to 40 bytes a word, and half of that again while it grows; for
    # 150,000 words 26), and a few MB for the chunk.
    assert extra < matrix * 1.03 + words * 1.2 + 40 * ROWS + (4 << 20)
