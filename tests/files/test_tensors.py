"""Large arrays: the bytes of safetensors' own library, and mapped files that leave memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors import SafetensorError
from safetensors.numpy import save

from lovevec.files.tensors import in_blocks, map_tensors, release, tensor_blocks

KINDS = ["<i8", "<i4", "<f4", "<f2", "|i1", "|u1"]
SHAPES = array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=7)


@given(
    st.dictionaries(
        st.text("abé_", min_size=1, max_size=5),
        st.sampled_from(KINDS).flatmap(lambda kind: arrays(np.dtype(kind), SHAPES)),
        min_size=1,
        max_size=4,
    )
)
def test_blocks_are_the_bytes_that_safetensors_itself_writes(tensors):
    assert b"".join(tensor_blocks(tensors)) == save(tensors)


def test_halved_tensors_are_float16_and_columns_are_written_as_rows():
    rows = np.arange(12, dtype=np.float32).reshape(3, 4) / 3
    expected = save({"a": rows.astype(np.float16), "b": np.ascontiguousarray(rows.T)})
    assert b"".join(tensor_blocks({"a": rows, "b": rows.T}, ["a"])) == expected


def test_mapped_tensors_are_those_of_the_file_and_cannot_be_written_to(tmp_path):
    tensors = {"rows": np.arange(30, dtype=np.float16).reshape(10, 3), "ends": np.arange(4), "none": np.empty((5, 0))}
    tensors["none"] = tensors["none"].astype(np.float32)
    (tmp_path / "a.safetensors").write_bytes(save(tensors, {"made": "by hand"}))
    found = map_tensors(tmp_path / "a.safetensors")
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(found[name], tensor)
        assert found[name].dtype == tensor.dtype
    with pytest.raises(ValueError, match="read-only"):
        found["rows"][0] = 1
    (tmp_path / "a.safetensors").write_bytes(save(tensors)[:-1])
    with pytest.raises(SafetensorError):
        map_tensors(tmp_path / "a.safetensors")


def test_blocks_hold_every_row_once():
    rows = np.arange(21).reshape(7, 3)
    blocks = list(in_blocks(rows, 3))
    assert [low for low, _ in blocks] == [0, 3, 6]
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), rows)
    assert not list(in_blocks(rows[:0], 3))


def mapped_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssFile"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells what of a file is in memory")
def test_what_was_read_of_a_mapped_file_leaves_memory_and_comes_back(tmp_path):
    tensors = {"rows": np.arange(1 << 24, dtype=np.float32).reshape(-1, 64)}
    with (tmp_path / "a.safetensors").open("wb") as file:
        file.writelines(tensor_blocks(tensors))
    mapped = map_tensors(tmp_path / "a.safetensors")["rows"]
    before, total = mapped_megabytes(), float(mapped.sum(dtype=np.float64))
    assert mapped_megabytes() > before + 50
    release(mapped[5:, ::2])
    assert mapped_megabytes() < before + 10
    assert sum(float(block.sum(dtype=np.float64)) for _, block in in_blocks(mapped, 1 << 14)) == total
    assert mapped_megabytes() < before + 10


def test_what_was_written_to_a_mapping_and_what_is_in_memory_stay(tmp_path):
    rows = np.arange(60, dtype=np.float32).reshape(20, 3)
    np.save(tmp_path / "a.npy", rows)
    private = np.load(tmp_path / "a.npy", mmap_mode="c")
    private[3] = 7
    for vectors in (private, private[2:], rows, rows[4:].T):
        expected = np.array(vectors)
        release(vectors)
        np.testing.assert_array_equal(vectors, expected)
