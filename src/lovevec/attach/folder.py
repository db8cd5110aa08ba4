"""An attached table as a folder, so that nothing has to be learned again:

    attached.json        options, what was learned in numbers; sizes and SHA-256 of the other files
    words.json           the table's words
    vectors.safetensors  the table's vectors
    space.safetensors    the map into the table's space, where there is one, and the known neighbors that mend it
    model/               the model behind the table, a model folder

No pickle: reading runs no code of the folder. Every file is checked by its hash, every array by its shape and range.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from lovevec.attach.lengths import Lengths
from lovevec.attach.neighbors import Codes, KnownNeighbors
from lovevec.attach.space import Map, MapFit, Space
from lovevec.engine.nearest import NeighborIndex
from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files import atomic_write
from lovevec.files.tensors import lengths_of, tensor_blocks

FORMAT = 1
CONFIG, WORDS, VECTORS, SPACE, MODEL = (
    "attached.json",
    "words.json",
    "vectors.safetensors",
    "space.safetensors",
    "model",
)
CODES = ("known", "centres", "misses")  # each has steps (a tensor) and bits
OPTIONS = ("lowercase", "by_confidence", "near")


@dataclass(frozen=True, eq=False)
class AttachedParts:
    """An attached table without the model behind it: the known words with their vectors, how the model's vectors get
    into their space and to which lengths, what was dropped of the table, and the options of attaching."""

    known: NeighborIndex
    space: Space
    lengths: Lengths
    dropped: list[str]
    lowercase: bool = True
    by_confidence: bool = True
    near: bool = True

    @property
    def vectors(self) -> NDArray[Any]:
        """The known words' own vectors, [words, dim], float32 or float16."""
        vectors = self.known.vectors
        assert isinstance(vectors, np.ndarray)  # a table's rows are no codes
        return vectors


def write_attached(folder: str | os.PathLike[str], parts: AttachedParts, save_model: Callable[[Path], None]) -> None:
    """Write the folder: all files under temporary names first, attached.json last; without it the folder holds
    nothing. `save_model` writes the model behind the table into a folder."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise LovevecError(f"{folder}: is a file; an attached table is saved as a folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).unlink(missing_ok=True)
    save_model(folder / MODEL)
    tensors, bits = _space_tensors(parts.space.map)
    files: dict[str, list[bytes | memoryview] | None] = {
        WORDS: [json.dumps(list(parts.known.words)).encode("ascii")],
        SPACE: list(tensor_blocks(tensors)) if tensors else None,
    }
    config: dict[str, Any] = {
        "format": FORMAT,
        "space": {
            "shared": parts.space.shared,
            "agreement": parts.space.agreement,
            "direct": parts.space.direct and asdict(parts.space.direct),
            "mapped": parts.space.mapped and asdict(parts.space.mapped),
            "bits": bits,
        },
        "lengths": {
            field.name: getattr(parts.lengths, field.name) for field in fields(Lengths) if field.name != "slope"
        },
        "dropped": parts.dropped,
        **{name: getattr(parts, name) for name in OPTIONS},
        "sha256": {},
    }
    if parts.lengths.slope is not None:
        config["lengths"]["slope"] = parts.lengths.slope.tolist()
    with ExitStack() as stack:
        last = stack.enter_context(atomic_write(folder / CONFIG))  # the stack ends with what came first
        for name, content in [*files.items(), (VECTORS, tensor_blocks({"vectors": parts.vectors}))]:
            if content is None:
                (folder / name).unlink(missing_ok=True)
                continue
            file = stack.enter_context(atomic_write(folder / name))
            config["sha256"][name] = _write_and_hash(file, content)
        config["checksum"] = _checksum(config)
        last.write((json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))


def read_attached(folder: str | os.PathLike[str]) -> tuple[AttachedParts, Path]:
    """Read and check what `write_attached` wrote; and the folder of the model behind it."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        raise LovevecError(f"{folder}: holds no attached table ({CONFIG} is missing)")
    config = _read_config(folder / CONFIG)
    words = json.loads(_read_file(folder / WORDS, config))
    vectors = _load(folder / VECTORS, config).get("vectors")
    if not isinstance(words, list) or not all(type(word) is str for word in words):
        raise FormatError(folder / WORDS, "must be a list of words")
    if vectors is None or vectors.ndim != 2 or vectors.dtype.name not in ("float16", "float32"):
        raise FormatError(folder / VECTORS, "holds no table of vectors")
    if len(vectors) != len(words) or not np.isfinite(vectors).all():
        raise FormatError(folder / VECTORS, f"{len(vectors):,} rows for {len(words):,} words, or numbers not finite")
    vectors.flags.writeable = False
    known = NeighborIndex(tuple(words), vectors, lengths_of(vectors))
    try:
        parts = AttachedParts(
            known, _read_space(folder / SPACE, config, vectors), _read_lengths(config["lengths"]),
            [str(line) for line in config["dropped"]], **{name: bool(config[name]) for name in OPTIONS},
        )  # fmt: skip
    except (TypeError, KeyError, ValueError) as error:
        raise FormatError(folder / CONFIG, f"is not what lovevec writes ({reason(error)})") from None
    return parts, folder / MODEL


def _space_tensors(map: Map | None) -> tuple[dict[str, NDArray[Any]], dict[str, list[int]]]:
    """The arrays of a map by name, and bits and width of those that are codes."""
    if map is None:
        return {}, {}
    tensors: dict[str, NDArray[Any]] = {"slope": map.slope}
    if map.neighbors is None or map.misses is None:
        return tensors, {}
    codes = dict(zip(CODES, (map.neighbors.vectors, map.neighbors.centres, map.misses), strict=True))
    tensors |= {name: code.steps for name, code in codes.items()}
    tensors |= {"rows": map.neighbors.rows, "starts": map.neighbors.starts.astype(np.int64)}
    return tensors, {name: [code.bits, code.dim] for name, code in codes.items()}


def _read_space(path: Path, config: dict[str, Any], table: NDArray[Any]) -> Space:
    about = config["space"]
    fits = [None if about[name] is None else MapFit(**about[name]) for name in ("direct", "mapped")]
    map = None if path.name not in config["sha256"] else _read_map(path, config, table)
    return Space(map, int(about["shared"]), float(about["agreement"]), *fits)


def _read_map(path: Path, config: dict[str, Any], table: NDArray[Any]) -> Map:
    tensors, bits = _load(path, config), config["space"]["bits"]
    slope = tensors.get("slope")
    if slope is None or slope.dtype != np.float32 or slope.ndim != 2 or slope.shape[1] != table.shape[1]:
        raise FormatError(path, "holds no map into the space of the table")
    if not np.isfinite(slope).all():
        raise FormatError(path, "holds numbers that are not finite")
    if not bits:
        return Map(slope)
    if set(tensors) != {"slope", "rows", "starts", *CODES}:
        raise FormatError(path, "holds no known neighbors")
    known, centres, misses = (Codes(tensors[name], *bits[name]) for name in CODES)
    rows, starts = tensors["rows"], tensors["starts"]
    right_shapes = (
        all(code.steps.dtype == np.int8 and code.steps.ndim == 2 for code in (known, centres, misses))
        and len(known) == len(misses) == len(rows)
        and starts.shape == (len(centres) + 1,)
        and known.dim == centres.dim == len(slope)
        and misses.dim == slope.shape[1]
        and all(0 <= code.bits <= 14 and code.dim <= code.steps.shape[1] for code in (known, centres, misses))
        and rows.dtype == starts.dtype == np.int64
    )
    if not right_shapes or not len(centres):
        raise FormatError(path, "its arrays do not fit together")
    in_range = (rows >= 0).all() and (rows < len(table)).all() and starts[0] == 0 and starts[-1] == len(rows)
    if not in_range or (np.diff(starts) < 0).any():
        raise FormatError(path, "names rows that the table does not have")
    return Map(slope, KnownNeighbors(known, rows, table, centres, starts), misses)


def _read_lengths(about: dict[str, Any]) -> Lengths:
    slope = about.get("slope")
    numbers = {name: value for name, value in about.items() if name != "slope"}
    if not all(value is None or np.isfinite(value) for value in numbers.values()):
        raise ValueError("lengths are not finite")
    return Lengths(**numbers, slope=None if slope is None else np.array(slope, dtype=np.float32))


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({reason(error)})") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise FormatError(path, f"its format is not {FORMAT}: made by another version of lovevec")
    if config.get("checksum") != _checksum(config) or not isinstance(config.get("sha256"), dict):
        raise FormatError(path, "damaged: it does not have the checksum that stands there")
    return config


def _load(path: Path, config: dict[str, Any]) -> dict[str, NDArray[Any]]:
    try:
        tensors: dict[str, NDArray[Any]] = load(_read_file(path, config))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(path, f"damaged ({reason(error)})") from None
    return tensors


def _read_file(path: Path, config: dict[str, Any]) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe or a device would never end
            raise FormatError(path, "not a regular file")
        content = path.read_bytes()
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read ({error.strerror})") from None
    if hashlib.sha256(content).hexdigest() != config["sha256"].get(path.name):
        raise FormatError(path, f"damaged: its SHA-256 is not the one in {CONFIG}")
    return content


def _write_and_hash(file: Any, content: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for block in content:
        digest.update(block)
        file.write(block)
    return digest.hexdigest()


def _checksum(config: dict[str, Any]) -> str:
    plain = json.loads(json.dumps({name: value for name, value in config.items() if name != "checksum"}))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()
