"""Checks of a model folder: whatever is wrong in its files is one error that names the file, and never a wrong vector.

config.json holds the SHA-256 of the other files, and two of itself: `checksum` of the keys that decide vectors,
`checksum_metadata` of the others. Hashes tell damage; a config that was forged, hashes and all, meets the checks of
types, sizes and numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.fold import ENCODERS, PRECISIONS, EncoderSpec, fold_sizes, table_sizes
from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files.lines import read_bytes
from lovevec.files.tensors import parse_tensors
from lovevec.model.known_rows import HALF_INFINITY, largest_half
from lovevec.units.mixed_input import INPUT_MODES
from lovevec.units.vocabulary import UnitVocabulary

FORMAT_VERSION = 3
AS_TRAINED, FOLDED = "weights", "folded"
DECISIVE_KEYS = ("format", "stored", "encoder", "units", "sizes", "sha256", "channel", "precision", "language")
OPTIONAL_KEYS = ("precision", "language")  # of a folded model; of one that is not English
CHECKSUM_KEYS = ("checksum", "checksum_metadata")
MAX_CONFIG = 1 << 24  # bytes
MAX_NUMBER = 1e5  # in a tensor: a thousand times what training gives, and sums of a word's rows cannot overflow


def checksums(config: Mapping[str, Any]) -> dict[str, str]:
    """The SHA-256 of what in a config decides vectors, so that damage to it cannot go unseen, and of the rest: scores,
    calibration, where the model comes from."""
    decisive = {name: config.get(name) for name in DECISIVE_KEYS if name not in OPTIONAL_KEYS or name in config}
    content = (json.dumps(part, sort_keys=True).encode("ascii") for part in (decisive, metadata_of(config)))
    return {name: sha256([part]) for name, part in zip(CHECKSUM_KEYS, content, strict=True)}


def metadata_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a config tells about the model beside what decides vectors, and beside the checksums."""
    return {name: config[name] for name in config if name not in (*DECISIVE_KEYS, *CHECKSUM_KEYS)}


def sha256(content: Iterable[bytes | memoryview | NDArray[np.uint8]]) -> str:
    """The SHA-256 of a file that is given in blocks, in hexadecimal digits."""
    digest = hashlib.sha256()
    for block in content:
        digest.update(block)  # type: ignore[arg-type]  # an array is a buffer, too
    return digest.hexdigest()


def read_config(path: Path) -> tuple[dict[str, Any], EncoderSpec]:
    """The content of config.json and the encoder that it names, once both checksums are right and the values make
    sense."""
    try:
        config = json.loads(read_bytes(path, MAX_CONFIG))
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({reason(error)})") from None
    version = config.get("format") if isinstance(config, dict) else None
    if version != FORMAT_VERSION:
        raise FormatError(path, f"format {version!r:.60} is not {FORMAT_VERSION}: made by another version of lovevec")
    if config.get("stored") not in (AS_TRAINED, FOLDED):
        raise FormatError(path, f"`stored` must be {AS_TRAINED} or {FOLDED}, not {config.get('stored')!r:.60}")
    sums = checksums(config)
    if config.get("checksum") != sums["checksum"]:
        raise FormatError(path, f"damaged: {', '.join(DECISIVE_KEYS)} do not have the checksum that stands there")
    if config.get("checksum_metadata") != sums["checksum_metadata"]:
        raise FormatError(path, "damaged: what it tells about the model does not have the checksum that stands there")
    _check_units(path, config.get("units"))
    if config["stored"] == FOLDED and config.get("precision") not in PRECISIONS:
        raise FormatError(path, f"`precision` must be one of {', '.join(PRECISIONS)}")
    hashes = config.get("sha256")
    config["sha256"] = hashes if isinstance(hashes, dict) else {}
    return config, _encoder_spec(path, config)


def _check_units(path: Path, units: Any) -> None:
    types = {"input": str, "lowercase": bool, "buckets": int, "ngrams": int}
    if not isinstance(units, dict) or {name: type(value) for name, value in units.items()} != types:
        raise FormatError(path, f"`units` must name {', '.join(types)}")
    counts = 0 <= units["buckets"] < 2**31 and 0 <= units["ngrams"] < 2**31
    if units["input"] not in INPUT_MODES or not counts:
        raise FormatError(
            path, f"`units` says {units!s:.200}: input is one of {', '.join(INPUT_MODES)}, numbers at least 0"
        )


def _encoder_spec(path: Path, config: dict[str, Any]) -> EncoderSpec:
    raw = config.get("encoder")
    try:
        spec = EncoderSpec(**raw)  # type: ignore[arg-type]
        sane = (
            spec.kind in ENCODERS
            and all(type(size) is int for size in (spec.dim, spec.key_width, spec.head))
            and 0 < spec.dim < 2**20
            and 0 < spec.key_width < 2**20
            and 0 <= spec.head < 2**20
            and type(spec.position_scale) in (int, float)
            and 1e-3 <= spec.position_scale <= 1e6
            and (spec.foldable or config["stored"] == AS_TRAINED)
        )
    except (TypeError, ValueError):
        sane = False
    if not sane:
        raise FormatError(path, f"`encoder` makes no sense: {raw!r:.200}")
    return spec


def read_content(path: Path, config: dict[str, Any], config_name: str = "config.json") -> NDArray[np.uint8]:
    """The bytes of one file of the folder, once their SHA-256 is the one that the config holds for it."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device would never end
            raise FormatError(path, "not a regular file")
        with path.open("rb") as file:
            content = np.empty(os.fstat(file.fileno()).st_size, dtype=np.uint8)
            size = file.readinto(content.data)
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read ({error.strerror})") from None
    if size != len(content) or sha256([content]) != config["sha256"].get(path.name):
        raise FormatError(path, f"damaged: its SHA-256 is not the one in {config_name}")
    return content


def load_tensors(path: Path, content: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file whose `content` is in memory, parts of it; `path` is named in errors."""
    try:
        return parse_tensors(content)
    except ValueError as error:
        raise FormatError(path, f"damaged ({reason(error)})") from None


def check_tensors(
    path: Path,
    tensors: Mapping[str, NDArray[Any]],
    config: dict[str, Any],
    spec: EncoderSpec,
    vocabulary: UnitVocabulary,
) -> None:
    """An error unless names, shapes and types are those that the encoder and the units need, and all numbers finite and
    of a size that training gives."""
    sizes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    folded = config["stored"] == FOLDED
    table = tensors.get("out" if folded else "table")
    if sizes != config.get("sizes") or table is None:
        raise FormatError(path, "its tensors do not have the sizes that config.json names")
    rows = vocabulary.table_rows
    if len(table) != rows:
        raise FormatError(path, f"{len(table):,} rows for {rows:,} units")
    if folded:
        expected = table_sizes(spec, rows, vocabulary.unit_rows)
        types = {"out": config["precision"], "features": config["precision"]}
    else:
        expected = fold_sizes(spec, rows, sizes.get("factor", [0])[0]) if spec.foldable else sizes
        types = {}
    right_types = all(tensor.dtype.name == types.get(name, "float32") for name, tensor in tensors.items())
    if sizes != expected or not right_types:
        raise FormatError(path, "its tensors are not those of the encoder that config.json names")
    for name, tensor in tensors.items():
        if not is_finite(tensor):
            raise FormatError(path, f"{name} holds numbers that are not finite")
        if is_absurd(tensor):
            raise FormatError(path, f"{name} holds numbers beyond {MAX_NUMBER:,.0f}, which no training gives")


def is_finite(tensor: NDArray[Any]) -> bool:
    """Whether a tensor holds neither NaN nor Inf."""
    if tensor.dtype == np.float16:
        return largest_half(tensor) < HALF_INFINITY
    return tensor.dtype.kind != "f" or bool(np.isfinite(tensor).all())


def is_absurd(tensor: NDArray[Any]) -> bool:
    """Whether a number lies beyond MAX_NUMBER; float16 has none beyond 65,504."""
    if tensor.dtype.kind != "f" or tensor.dtype == np.float16 or not tensor.size:
        return False
    return not (tensor.min() >= -MAX_NUMBER and tensor.max() <= MAX_NUMBER)  # NaN is neither
