"""Tables in safetensors files: one 2-D tensor, and the words beside it or inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from lovevec.errors import FormatError, reason
from lovevec.files.tensors import read_header
from lovevec.vectors.read.builder import ARRAY_BLOCK_BYTES, ReadRequest
from lovevec.vectors.read.words import check_count, find_word_list, split_words
from lovevec.vectors.table import ReadReport, VectorTable

TENSOR_NAMES = ("vectors", "embedding", "embeddings")
DTYPE_NAMES = ("F16", "F32", "F64")


def read_safetensors(request: ReadRequest) -> VectorTable:
    """Read the tensor called `vectors`, `embedding` or `embeddings`, or the only one with two sides."""
    try:
        with safe_open(str(request.path), framework="numpy") as file:
            name = _vectors_name(request, file)
            tensor = file.get_slice(name)
            shape = tuple(tensor.get_shape())
            request.check_table(shape)
            if tensor.get_dtype() not in DTYPE_NAMES:
                raise FormatError(
                    request.path, f"{name} is of type {tensor.get_dtype()}; save it as one of {', '.join(DTYPE_NAMES)}"
                )
            words = _words(request, file)
            check_count(request.path, words, shape[0])
            report, blocks = ReadReport("safetensors", dim=shape[1]), _row_blocks(tensor, shape)
            if not request.mmap:
                return request.fill(report, words, blocks)
            dtype = np.dtype(f"<f{int(tensor.get_dtype()[1:]) // 8}")
            header, start = read_header(request.path)
            return request.map(report, words, blocks, dtype, start + int(header[name]["data_offsets"][0]))
    except SafetensorError as error:
        raise FormatError(request.path, f"damaged or cut: {reason(error)}") from None


def _vectors_name(request: ReadRequest, file: Any) -> str:
    tables = [name for name in file.keys() if len(file.get_slice(name).get_shape()) == 2]  # noqa: SIM118
    named = [name for name in TENSOR_NAMES if name in tables]
    if not named and len(tables) != 1:
        names = ", ".join(tables) or "none"
        raise FormatError(
            request.path, f"needs a 2-D tensor called {' or '.join(TENSOR_NAMES)}; its 2-D tensors: {names}"
        )
    return (named or tables)[0]


def _words(request: ReadRequest, file: Any) -> list[str | None]:
    if request.words is None:
        metadata = file.metadata() or {}
        if "words" in metadata:
            return split_words(metadata["words"].encode())
        if "words" in file.keys():  # noqa: SIM118
            tensor = file.get_tensor("words")
            if tensor.dtype != np.uint8:
                raise FormatError(request.path, f"the tensor words must be uint8, not {tensor.dtype}")
            return split_words(tensor.tobytes())
    return find_word_list(request.path, request.words)


def _row_blocks(tensor: Any, shape: tuple[int, ...]) -> Iterator[NDArray[np.generic]]:
    step = max(1, ARRAY_BLOCK_BYTES // (shape[1] * 8))
    for start in range(0, shape[0], step):
        yield tensor[start : min(start + step, shape[0])]
