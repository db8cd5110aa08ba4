"""An index as a folder: what `Index.save` writes and `Index.load` reads.

    config.json         options, counts, the model that the index was made with; sizes and SHA-256 of the other files
                        and its own; it takes its place last, and without it the folder holds no index
    texts.safetensors   the texts in UTF-8, one behind the other, and where they end; ids that are numbers
    ids.json            ids, if not all of them are numbers
    index.safetensors   terms, bags, trigrams, meaning, and what the model has learned of the collection

No pickle: reading runs no code of the folder. Files are mapped into memory once their hashes are right, and arrays
checked by shape and range.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files import atomic_write
from lovevec.files.tensors import map_tensors, release, tensor_blocks
from lovevec.model.folder import ModelParts
from lovevec.model.validation import sha256
from lovevec.units.ragged import offsets_of

FORMAT = 1
CONFIG, TEXTS, IDS, ARRAYS = "config.json", "texts.safetensors", "ids.json", "index.safetensors"
BYTES_PER_HASH = 1 << 24
LARGEST = 100_000  # of any number in the arrays, so that no sum of them overflows


class MappedTexts(Sequence[str]):
    """Texts in a file: decoded when they are asked for.

    :param content: their bytes in UTF-8, one text behind the other.
    :param offsets: [texts + 1] where each begins.
    """

    def __init__(self, content: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.content, self.offsets = content, offsets

    @classmethod
    def of(cls, texts: Sequence[str]) -> MappedTexts:
        """The same in memory."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets_of(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(f"text {row} of {len(self)}")
        low, high = self.offsets[row % len(self)], self.offsets[row % len(self) + 1]
        return self.content[low:high].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for row in range(len(self)):
            yield self[row]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]


def model_hash(parts: ModelParts) -> str:
    """What tells a model: the SHA-256 of its known words and their rows."""
    digest = hashlib.sha256("\n".join(parts.words).encode("utf-8", "surrogatepass"))
    if parts.rows is not None:
        digest.update(np.ascontiguousarray(parts.rows.codes).data)
        digest.update(np.ascontiguousarray(parts.rows.scale).data)
    return digest.hexdigest()


def write_index(
    folder: str | os.PathLike[str],
    config: dict[str, Any],
    ids: Sequence[int | str],
    texts: Sequence[str],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write the folder, all files before anything takes its place."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise LovevecError(f"{folder}: is a file; an index is saved as a folder")
    folder.mkdir(parents=True, exist_ok=True)
    mapped = texts if isinstance(texts, MappedTexts) else MappedTexts.of(texts)
    own: dict[str, NDArray[Any]] = {"content": mapped.content, "offsets": mapped.offsets}
    strings = [b"[]"]
    if all(isinstance(one, int) and -(2**63) <= one < 2**63 for one in ids):
        own["ids"] = np.array(ids, dtype=np.int64)
    else:
        strings = [json.dumps(list(ids)).encode("ascii")]
    contents: dict[str, Iterable[bytes | memoryview]] = {
        ARRAYS: tensor_blocks(arrays),
        TEXTS: tensor_blocks(own),
        IDS: strings,
    }
    with ExitStack() as stack:  # which ends with what came first: config.json takes its place last
        last = stack.enter_context(atomic_write(folder / CONFIG))
        hashes, sizes = {}, {}
        for name, content in contents.items():
            file, digest, size = stack.enter_context(atomic_write(folder / name)), hashlib.sha256(), 0
            for block in content:
                file.write(block)
                digest.update(block)
                size += len(block)
            file.flush()
            os.fsync(file.fileno())
            hashes[name], sizes[name] = digest.hexdigest(), size
        config = {"format": FORMAT, **config, "bytes": sizes, "sha256": hashes}
        config["checksum"] = _checksum(config)
        last.write((json.dumps(config, indent=2) + "\n").encode("ascii"))
        last.flush()
        os.fsync(last.fileno())
        (folder / CONFIG).unlink(missing_ok=True)  # an old one never stands beside new files


def is_index(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds an index, or what a crash has left of one."""
    return (Path(folder) / TEXTS).exists()


def about_index(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The config of an index: how many `texts`, its `fields`, whether it was made with an `encoder`, and `model`, the
    `model_hash` of the one that it was made with."""
    path = Path(folder) / CONFIG
    if not path.is_file():
        raise LovevecError(f"{folder}: holds no index ({CONFIG} is missing)")
    return _read_config(path)


def read_index(
    folder: str | os.PathLike[str],
) -> tuple[dict[str, Any], list[int | str], MappedTexts, dict[str, NDArray[Any]]]:
    """The config, ids, texts and arrays of a folder that `write_index` wrote, checked by their hashes."""
    folder, config = Path(folder), about_index(folder)
    for name in (TEXTS, IDS, ARRAYS):
        _check_file(folder / name, config)
    texts, arrays = _mapped(folder / TEXTS), _mapped(folder / ARRAYS)
    try:
        content, offsets = texts["content"], texts["offsets"]
        if content.dtype != np.uint8 or offsets.dtype != np.int64 or content.ndim != 1 or offsets.ndim != 1:
            raise ValueError("texts of other types")
        if not len(offsets) or offsets[0] or offsets[-1] != len(content) or (np.diff(offsets) < 0).any():
            raise ValueError("places of texts that do not follow one another")
        content[:].tobytes().decode("utf-8", "surrogatepass")
        ids = texts["ids"].tolist() if "ids" in texts else json.loads((folder / IDS).read_text("ascii"))
        if not isinstance(ids, list) or len(ids) != len(offsets) - 1 or len(set(ids)) != len(ids):
            raise ValueError("other ids than texts, or some twice")
        if not all(type(one) in (int, str) for one in ids):
            raise ValueError("ids that are neither numbers nor strings")
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise FormatError(folder / TEXTS, f"is not what lovevec writes ({reason(error)})") from None
    return config, ids, MappedTexts(content, offsets), arrays


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({reason(error)})") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT or "bytes" not in config:
        raise FormatError(
            path, f"is no index of format {FORMAT}: another folder, or made by another version of lovevec"
        )
    if config.get("checksum") != _checksum(config) or not isinstance(config.get("sha256"), dict):
        raise FormatError(path, "damaged: it does not have the checksum that stands there")
    return config


def _checksum(config: dict[str, Any]) -> str:
    plain = {name: value for name, value in config.items() if name != "checksum"}
    return sha256([json.dumps(plain, sort_keys=True).encode("ascii")])


def _check_file(path: Path, config: dict[str, Any]) -> None:
    try:
        if not path.is_file():
            raise FormatError(path, "is missing, or not a regular file")
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as file:
            while block := file.read(BYTES_PER_HASH):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read ({error.strerror})") from None
    if size != config["bytes"].get(path.name) or digest.hexdigest() != config["sha256"].get(path.name):
        raise FormatError(path, f"damaged: its size or SHA-256 is not the one in {CONFIG}")


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    try:
        tensors = map_tensors(path)
    except (ValueError, KeyError, TypeError, OSError, SafetensorError) as error:
        raise FormatError(path, f"damaged ({reason(error)})") from None
    for tensor in tensors.values():
        if tensor.dtype.kind == "f":
            if not np.isfinite(tensor).all():
                raise FormatError(path, "holds numbers that are not finite")
            if max(float(tensor.max(initial=0)), -float(tensor.min(initial=0))) > LARGEST:
                raise FormatError(path, f"holds numbers beyond {LARGEST:,}")
        release(tensor)
    return tensors
