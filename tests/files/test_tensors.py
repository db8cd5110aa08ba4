"""Large arrays: the bytes of safetensors' own library, and mapped files that leave memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors import SafetensorError
from safetensors.numpy import load, save

from lovevec.files.tensors import in_blocks, map_tensors, parse_tensors, release, tensor_blocks

KINDS = ["<i8", "<i4", "<f4", "<f2", "|i1", "|u1"]
SHAPES = array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=7)


TENSORS = st.dictionaries(
    st.text("abé_", min_size=1, max_size=5),
    st.sampled_from(KINDS).flatmap(lambda kind: arrays(np.dtype(kind), SHAPES)),
    min_size=1,
    max_size=4,
)


@given(TENSORS)
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


def file_of(header: object, data: bytes = b"") -> bytes:
    """A file with this header, whatever it is."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(content).to_bytes(8, "little") + content + data


@given(TENSORS, st.integers(0, 7))
def test_tensors_in_memory_are_those_that_safetensors_itself_reads_wherever_they_lie(tensors, shift):
    content = np.frombuffer(b"x" * shift + save(tensors, {"made": "by hand"}), dtype=np.uint8)[shift:]
    found = parse_tensors(content)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        assert found[name].tobytes() == tensor.tobytes()
        assert found[name].flags.aligned


ONE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
HOSTILE = {
    "empty": b"",
    "seven bytes": b"1234567",
    "a header beyond the end": (1 << 60).to_bytes(8, "little") + b"{}",
    "no JSON": file_of(b"{"),
    "no text": file_of(b"\xff\xff"),
    "nested": file_of(b"[" * 100_000),
    "a list": file_of([]),
    "a tensor that is a number": file_of({"a": 1}),
    "no shape": file_of({"a": {"dtype": "F32", "data_offsets": [0, 0]}}),
    "an unknown type": file_of({"a": ONE | {"dtype": "F128"}}, bytes(8)),
    "a type that is a list": file_of({"a": ONE | {"dtype": []}}, bytes(8)),
    "a negative shape": file_of({"a": ONE | {"shape": [-1, -2]}}, bytes(8)),
    "a shape of floats": file_of({"a": ONE | {"shape": [2.0]}}, bytes(8)),
    "a shape of booleans": file_of({"a": ONE | {"shape": [True, 2]}}, bytes(8)),
    "a shape that is a text": file_of({"a": ONE | {"shape": "22"}}, bytes(8)),
    "an endless shape": file_of({"a": ONE | {"shape": [1 << 62, 1 << 62]}}, bytes(8)),
    "another size": file_of({"a": ONE | {"shape": [3]}}, bytes(8)),
    "beyond the end": file_of({"a": ONE}, bytes(7)),
    "bytes behind the end": file_of({"a": ONE}, bytes(9)),
    "a gap": file_of({"a": ONE | {"data_offsets": [4, 12]}}, bytes(12)),
    "two at one place": file_of({"a": ONE, "b": ONE}, bytes(8)),
    "three offsets": file_of({"a": ONE | {"data_offsets": [0, 8, 8]}}, bytes(8)),
    "offsets of different kinds": file_of({"a": ONE, "b": ONE | {"data_offsets": ["0", 8]}}, bytes(8)),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_what_safetensors_refuses_is_refused_in_memory_too(content):
    with pytest.raises(ValueError, match=r"header|place|bytes|shape|JSON|codec|Expecting|double quotes|unpack"):
        parse_tensors(np.frombuffer(content, dtype=np.uint8))
    with pytest.raises((SafetensorError, ValueError, KeyError)):
        load(content)


@given(TENSORS, st.data())
def test_a_flipped_byte_is_refused_or_gives_other_tensors_of_the_file(tensors, data):
    content = bytearray(save(tensors))
    place = data.draw(st.integers(0, min(len(content), 200) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        found = parse_tensors(np.frombuffer(bytes(content), dtype=np.uint8))
    except ValueError:
        return
    assert sum(tensor.nbytes for tensor in found.values()) <= len(content)
