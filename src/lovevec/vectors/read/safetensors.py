"""Tables in safetensors files: one 2-D tensor, and the words beside it or inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from lovevec.errors import FormatError, reason
from lovevec.files.tensors import read_header
from lovevec.vectors.read.builder import BLOCK_BYTES, Job
from lovevec.vectors.read.words import check_count, find_word_list, split_words
from lovevec.vectors.table import ReadReport, VectorTable

NAMES = ("vectors", "embedding", "embeddings")
TYPES = ("F16", "F32", "F64")


def read_safetensors(job: Job) -> VectorTable:
    """Read the tensor called `vectors`, `embedding` or `embeddings`, or the only one with two sides."""
    try:
        with safe_open(str(job.path), framework="numpy") as file:
            name = find_tensor(job, file)
            tensor = file.get_slice(name)
            shape = tuple(tensor.get_shape())
            job.check_table(shape)
            if tensor.get_dtype() not in TYPES:
                raise FormatError(
                    job.path, f"{name} is of type {tensor.get_dtype()}; save it as one of {', '.join(TYPES)}"
                )
            words = find_words(job, file)
            check_count(job.path, words, shape[0])
            report, blocks = ReadReport("safetensors", dim=shape[1]), row_blocks(tensor, shape)
            if not job.mmap:
                return job.fill(report, words, blocks)
            dtype = np.dtype(f"<f{int(tensor.get_dtype()[1:]) // 8}")
            return job.map(report, words, blocks, dtype, offset_of(job.path, name))
    except SafetensorError as error:
        raise FormatError(job.path, f"damaged or cut: {reason(error)}") from None


def offset_of(path: Path, name: str) -> int:
    """Where in the file a tensor begins."""
    header, behind = read_header(path)
    return behind + int(header[name]["data_offsets"][0])


def find_tensor(job: Job, file: Any) -> str:
    """Choose the tensor that holds the vectors."""
    tables = [name for name in file.keys() if len(file.get_slice(name).get_shape()) == 2]  # noqa: SIM118
    named = [name for name in NAMES if name in tables]
    if not named and len(tables) != 1:
        names = ", ".join(tables) or "none"
        raise FormatError(job.path, f"needs a 2-D tensor called {' or '.join(NAMES)}; its 2-D tensors: {names}")
    return (named or tables)[0]


def find_words(job: Job, file: Any) -> list[str | None]:
    """Find the words: the list the caller names, the metadata, a uint8 tensor, or a list beside the file."""
    if job.words is None:
        metadata = file.metadata() or {}
        if "words" in metadata:
            return split_words(metadata["words"].encode())
        if "words" in file.keys():  # noqa: SIM118
            tensor = file.get_tensor("words")
            if tensor.dtype != np.uint8:
                raise FormatError(job.path, f"the tensor words must be uint8, not {tensor.dtype}")
            return split_words(tensor.tobytes())
    return find_word_list(job.path, job.words)


def row_blocks(tensor: Any, shape: tuple[int, ...]) -> Iterator[NDArray[np.generic]]:
    """Give the tensor in blocks of a few MB."""
    step = max(1, BLOCK_BYTES // (shape[1] * 8))
    for start in range(0, shape[0], step):
        yield tensor[start : min(start + step, shape[0])]
