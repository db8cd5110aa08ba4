"""A whole table saved in each format; an .npz keeps its origin too."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from lovevec.train.target import load_target
from lovevec.vectors import ReadReport, VectorTable, read_vectors
from lovevec.vectors.read.numpy import read_origin
from lovevec.vectors.write import save_table

WORDS = [f"größe w{row}" for row in range(40_000)]  # more than a batch, and enough for a thread
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 3)).astype(np.float32)
ORIGIN = {"model": "bert", "corpus": ["größe.txt"], "cased": True}
TABLE = VectorTable(WORDS, VECTORS, ReadReport("memory", dim=3), "bert-distilled", ORIGIN)


@pytest.mark.parametrize("name", ["v.vec", "v.npy", "v.npz"])
def test_what_is_saved_is_read_back_exactly(tmp_path, name):
    notes = save_table(TABLE, tmp_path / name)
    table = read_vectors(tmp_path / name)
    assert table.words == WORDS
    np.testing.assert_array_equal(table.vectors, VECTORS)
    assert bool(notes) == (name != "v.npz")
    assert read_origin(tmp_path / name) == (ORIGIN if name == "v.npz" else None)


def test_a_target_says_what_its_file_was_made_of(tmp_path):
    save_table(TABLE, tmp_path / "v.npz")
    assert load_target(tmp_path / "v.npz").source["made"] == ORIGIN


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\x02\x00((", b"[1]"])
def test_an_origin_that_is_damaged_or_missing_is_none(tmp_path, content):
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("origin.npy", content)
    assert read_origin(path) is None
    np.savez(path, origin=np.frombuffer(b"[1]", np.uint8))
    assert read_origin(path) is None
    np.savez(path, vectors=VECTORS)
    assert read_origin(path) is None
    path.write_bytes(b"no zip")
    assert read_origin(path) is None
    assert read_origin(tmp_path / "none.npz") is None
