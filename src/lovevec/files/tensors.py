"""Arrays that are large: written as safetensors, mapped and read a block at a time, so that memory never holds a copy.

A file of safetensors is 8 bytes with the length of a header, the header (JSON: type, shape and place of each tensor),
and the tensors, those of wide numbers first, so that all are aligned: by type in the order of KINDS, then by name.
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from lovevec.errors import reason

BLOCK = 65_536
KINDS = {"I64": "<i8", "F32": "<f4", "I32": "<i4", "F16": "<f2", "I16": "<i2", "I8": "|i1", "U8": "|u1"}
NAMES = {dtype: name for name, dtype in KINDS.items()}


def tensor_blocks(tensors: Mapping[str, NDArray[Any]], halved: Collection[str] = ()) -> Iterator[bytes | memoryview]:
    """The bytes that safetensors' own `save` gives, without the copy of everything that it makes first; tensors that
    are `halved` as float16."""
    kinds = {name: np.dtype(np.float16) if name in halved else tensor.dtype for name, tensor in tensors.items()}
    order = sorted(tensors, key=lambda name: (list(NAMES).index(kinds[name].str), name))
    header, end = {}, 0
    for name in order:
        tensor, kind = tensors[name], kinds[name]
        start, end = end, end + tensor.size * kind.itemsize
        header[name] = {"dtype": NAMES[kind.str], "shape": list(tensor.shape), "data_offsets": [start, end]}
    content = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    content = content.ljust(-(-len(content) // 8) * 8)
    yield len(content).to_bytes(8, "little") + content
    for name in order:
        for _, rows in in_blocks(tensors[name]):
            with np.errstate(over="ignore"):
                yield np.ascontiguousarray(rows, kinds[name]).reshape(-1).view(np.uint8).data


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The header of a file, and where in it the tensors begin."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length)), 8 + length


def parse_tensors(content: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """The tensors of a file that is in memory: parts of `content`, not copies. What is wrong with it is a ValueError.

    Tensors must follow one another without a gap up to the end, as safetensors asks for."""
    length = int.from_bytes(content[:8].tobytes(), "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ValueError("no header of safetensors")
    try:
        header = json.loads(content[8 : 8 + length].tobytes())
        described = {name: one for name, one in header.items() if name != "__metadata__"}
        order = sorted(described, key=lambda name: described[name]["data_offsets"])
        data, end, tensors = content[8 + length :], 0, {}
        for name in order:
            dtype, shape = np.dtype(KINDS[described[name]["dtype"]]), described[name]["shape"]
            start, stop = described[name]["data_offsets"]
            sizes = [*shape, start, stop]
            if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in sizes):
                raise ValueError(f"{name!r:.60} has no shape, or no place")
            if start != end or stop - start != math.prod(shape) * dtype.itemsize or stop > len(data):
                raise ValueError(f"{name!r:.60} has another size than its shape, or another place than behind the last")
            part, end = data[start:stop], stop
            tensors[name] = (part if part.ctypes.data % dtype.itemsize == 0 else part.copy()).view(dtype).reshape(shape)
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"its header is none of safetensors ({reason(error)})") from None
    if end != len(data):
        raise ValueError(f"{len(data) - end:,} bytes behind the last tensor")
    return tensors


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file, which stay there; read-only. What is wrong is a ValueError or safetensors' own error."""
    with safe_open(str(path), framework="numpy"):  # which checks what the header says
        header, behind = read_header(path)
    whole, tensors = np.memmap(path, np.uint8, "r"), {}
    for name, one in header.items():
        if name != "__metadata__":
            start, stop = one["data_offsets"]
            tensors[name] = whole[behind + start : behind + stop].view(KINDS[one["dtype"]]).reshape(one["shape"])
    return tensors


def in_blocks(rows: NDArray[Any], size: int = BLOCK) -> Iterator[tuple[int, NDArray[Any]]]:
    """Rows a block at a time, each with the number of its first; of a mapped file no more than a block is in memory."""
    for low in range(0, len(rows), size):
        yield low, rows[low : low + size]
        release(rows)


def lengths_of(rows: NDArray[Any]) -> NDArray[np.float64]:
    """The length of each row, without a copy of the table on the way."""
    lengths = np.empty(len(rows), dtype=np.float64)
    for low, block in in_blocks(rows):
        np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64), out=lengths[low : low + BLOCK])
    return lengths


def release(rows: NDArray[Any]) -> None:
    """Let what was read of a mapped file leave this process's memory; it comes back when it is asked for. Anything else
    stays as it is: an array in memory, and a mapping that may have been written to."""
    while isinstance(rows.base, np.ndarray):
        rows = rows.base
    pages = rows.base
    if isinstance(pages, mmap.mmap) and getattr(rows, "mode", None) == "r" and hasattr(pages, "madvise"):
        pages.madvise(mmap.MADV_DONTNEED)
