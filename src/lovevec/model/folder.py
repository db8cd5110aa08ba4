"""The model folder: config.json, model.safetensors, tokenizer.json, words.json, rows.safetensors, a README.md card.

No pickle anywhere: reading a model never runs code from it. The files have fixed names; config.json holds the SHA-256
of each and of itself, and takes its place last, so a folder without it holds no model, and damage is told by name.

config.json says what is `stored`:

    weights    as they were trained, float32: what training goes on from
    folded     the folded tables (engine/fold.py) in float32, float16 or int8: what inference needs, nothing more

and holds the channel (near/channel.py), by which misspellings are read. rows.safetensors are the known words' own
vectors (known_rows.py); a model without it makes every vector from the spelling.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from lovevec.engine.fold import (
    ENCODERS,
    PRECISIONS,
    EncoderSpec,
    Precision,
    Tables,
    fold_sizes,
    fold_tables,
    table_sizes,
)
from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files import atomic_write
from lovevec.files.tensors import tensor_blocks
from lovevec.model.known import KnownWords
from lovevec.model.known_rows import KnownRows
from lovevec.near.channel import DEFAULT, Channel
from lovevec.units.mixed_input import INPUT_MODES, Units
from lovevec.units.vocabulary import UnitVocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FORMAT = 2
AS_TRAINED, FOLDED = "weights", "folded"
DECIDES = ("format", "stored", "encoder", "units", "sizes", "sha256", "channel", "precision")
CHECKS = ("checksum", "checksum_metadata")
EXPONENT, BLOCK = np.uint16(0x7C00), 65_536
LARGEST = 1e5  # of any number: a thousand times what training gives, and no sum of so many can overflow
CONFIG, WEIGHTS, TOKENIZER, WORDS, ROWS, CARD = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "words.json",
    "rows.safetensors",
    "README.md",
)


@dataclass(frozen=True, eq=False)
class ModelParts:
    """What a model is, in memory: the encoder's shape, its units, the words it learned from, and either its weights
    by name, as trained, or its folded tables (then `weights` is empty); the known words' own `rows`, if it holds them,
    and the `channel` by which misspellings are read."""

    spec: EncoderSpec
    weights: Mapping[str, NDArray[np.float32]]
    units: Units
    words: Sequence[str]
    metadata: dict[str, Any]
    tables: Tables | None = field(default=None)
    rows: KnownRows | None = None
    channel: Channel = DEFAULT

    @cached_property
    def folded(self) -> Tables:
        """The folded tables: those of the folder, or made from the weights at first use."""
        if self.tables is not None:
            return self.tables
        return fold_tables(self.spec, self.weights, self.units.vocabulary.unit_rows)

    @property
    def target(self) -> Mapping[str, Any]:
        """What the metadata say of the target; nothing where it says what is none."""
        target = self.metadata.get("target")
        return target if isinstance(target, dict) else {}

    @property
    def precision(self) -> Precision:
        """How the numbers are stored."""
        return self.tables.precision if self.tables is not None else "float32"


def write_model(
    folder: str | Path, parts: ModelParts, card: str, precision: Precision | None = None, rows: str | None = None
) -> None:
    """Write a model folder, whole or not at all; other files in it stay as they are.

    Without `precision` the model is written as it is. float16 and int8 write the folded tables. `rows` says how the
    known words' own rows are stored (see known_rows.py), "none" leaves them out.
    """
    tensors = _tensors(parts, precision)
    if wild := next((name for name, tensor in tensors.items() if not _finite(tensor) or _absurd(tensor)), None):
        raise LovevecError(f"{wild} of the model holds numbers that are not finite, or beyond {LARGEST:,.0f}")
    own = None if rows == "none" or parts.rows is None else parts.rows.to(rows or parts.rows.precision)
    files: dict[str, list[bytes | memoryview]] = {
        WEIGHTS: list(tensor_blocks(tensors)),
        TOKENIZER: [parts.units.vocabulary.to_json().encode("utf-8")],
        WORDS: [json.dumps(list(parts.words)).encode("ascii")],
        CARD: [card.encode("utf-8", "backslashreplace")],
    }
    if own is not None:
        files[ROWS] = list(tensor_blocks(own.tensors()))
    machine = {
        "format": FORMAT,
        "stored": AS_TRAINED if "table" in tensors else FOLDED,
        "encoder": parts.spec.as_dict(),
        "units": {
            "input": parts.units.mode,
            "lowercase": parts.units.lowercase,
            "buckets": parts.units.vocabulary.buckets,
            "ngrams": parts.units.vocabulary.ngrams,
        },
        "sizes": {name: list(tensors[name].shape) for name in sorted(tensors)},
        "sha256": {name: _sha256(content) for name, content in files.items() if name != CARD},
        "channel": parts.channel.as_dict(),
    }
    if machine["stored"] == FOLDED:
        machine["precision"] = tensors["out"].dtype.name
    config = {**machine, "checksum": "", "checksum_metadata": "", **parts.metadata}
    config = json.loads(json.dumps(config)) | {
        "checksum": checksum(config),
        "checksum_metadata": checksum_metadata(config),
    }
    files[CONFIG] = [(json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")]
    _write_together(Path(folder), files)


def _tensors(parts: ModelParts, precision: Precision | None) -> Mapping[str, NDArray[Any]]:
    """What goes into model.safetensors."""
    if precision is not None and precision not in PRECISIONS:
        raise LovevecError(f"unknown precision {precision!r}: choose one of {', '.join(PRECISIONS)}")
    if parts.tables is None and (precision or "float32") == "float32":
        return parts.weights
    if not parts.spec.foldable:
        raise LovevecError(f"a {parts.spec.kind} encoder does not fold: it can only be saved as float32")
    return parts.folded.to(precision or parts.precision).tensors()


def _write_together(folder: Path, files: Mapping[str, Iterable[bytes | memoryview]]) -> None:
    """All files are on the disk under temporary names before the first takes its place; config.json comes last."""
    if folder.exists() and not folder.is_dir():
        raise LovevecError(f"{folder}: is a file; a model is saved as a folder")
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name in (CONFIG, *(name for name in files if name != CONFIG)):  # the stack ends with what came first
            file = stack.enter_context(atomic_write(folder / name))
            file.writelines(files[name])
            file.flush()
            os.fsync(file.fileno())
        (folder / CONFIG).unlink(missing_ok=True)
        if ROWS not in files:
            (folder / ROWS).unlink(missing_ok=True)


def checksum(config: Mapping[str, Any]) -> str:
    """The SHA-256 of what in a config decides vectors, so that damage to it cannot go unseen."""
    return _sha256_of({name: config.get(name) for name in DECIDES if name != "precision" or name in config})


def checksum_metadata(config: Mapping[str, Any]) -> str:
    """The SHA-256 of the rest: scores, calibration, where the model comes from."""
    return _sha256_of({name: config[name] for name in config if name not in (*DECIDES, *CHECKS)})


def _sha256_of(value: Any) -> str:
    return _sha256([json.dumps(value, sort_keys=True).encode("ascii")])


def _sha256(content: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for block in content:
        digest.update(block)
    return digest.hexdigest()


def read_model(folder: str | os.PathLike[str]) -> ModelParts:
    """Read and check a model folder; whatever is wrong is one LovevecError that names the file."""
    folder = Path(folder)
    if not folder.is_dir():
        raise LovevecError(f"{folder}: no such model folder")
    if not (folder / CONFIG).is_file():
        raise LovevecError(f"{folder}: holds no model ({CONFIG} is missing)")
    config = _read_config(folder / CONFIG)
    spec = _read_spec(folder / CONFIG, config)
    needed = (WEIGHTS, TOKENIZER, WORDS, *((ROWS,) if ROWS in _hashes(config) else ()))
    content = {name: _read_checked(folder / name, config) for name in needed}
    how = config["units"]
    text = content[TOKENIZER].decode("utf-8", "replace")
    vocabulary = UnitVocabulary.from_json(text, folder / TOKENIZER, how["buckets"], how["ngrams"])
    tensors = _read_tensors(folder / WEIGHTS, content[WEIGHTS], config, spec, vocabulary)
    units = Units(vocabulary, how["input"], how["lowercase"])
    rows = _read_rows(folder / ROWS, content[ROWS], spec.dim) if ROWS in content else None
    words = KnownWords(content[WORDS], folder / WORDS, None if rows is None else len(rows))
    metadata = {key: config[key] for key in config if key not in (*DECIDES, *CHECKS)}
    channel = _read_channel(folder / CONFIG, config)
    if config["stored"] == FOLDED:
        return ModelParts(spec, {}, units, words, metadata, Tables.from_tensors(tensors), rows, channel)
    parts = ModelParts(spec, tensors, units, words, metadata, None, rows, channel)
    if spec.foldable:
        _check_fold(folder / WEIGHTS, parts)
    return parts


def _read_rows(path: Path, content: bytes, dim: int) -> KnownRows:
    """The known words' own rows; that there is one for each word is told when the words are read."""
    try:
        return KnownRows.from_tensors(load(content), dim)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(path, f"damaged ({reason(error)})") from None


def _read_channel(path: Path, config: dict[str, Any]) -> Channel:
    try:
        return Channel.from_dict(config.get("channel"))
    except LovevecError as error:
        raise FormatError(path, error.message) from None


def _read_tensors(
    path: Path, content: bytes, config: dict[str, Any], spec: EncoderSpec, vocabulary: UnitVocabulary
) -> dict[str, NDArray[Any]]:
    """The tensors, once their names, shapes and types are those that the encoder and the units need, and all numbers
    are finite."""
    try:
        tensors: dict[str, NDArray[Any]] = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(path, f"damaged ({reason(error)})") from None
    sizes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    folded = config["stored"] == FOLDED
    table = tensors.get("out" if folded else "table")
    if sizes != config.get("sizes") or table is None:
        raise FormatError(path, f"its tensors do not have the sizes that {CONFIG} names")
    rows = vocabulary.table_rows
    if len(table) != rows:
        raise FormatError(path, f"{len(table):,} rows for {rows:,} units")
    if folded:
        expected = table_sizes(spec, rows, vocabulary.unit_rows)
        kinds = {"out": config["precision"], "features": config["precision"]}
    else:
        expected = fold_sizes(spec, rows, sizes.get("factor", [0])[0]) if spec.foldable else sizes
        kinds = {}
    right_types = all(tensor.dtype.name == kinds.get(name, "float32") for name, tensor in tensors.items())
    if sizes != expected or not right_types:
        raise FormatError(path, f"its tensors are not those of the encoder that {CONFIG} names")
    for name, tensor in tensors.items():
        if not _finite(tensor):
            raise FormatError(path, f"{name} holds numbers that are not finite")
        if _absurd(tensor):
            raise FormatError(path, f"{name} holds numbers beyond {LARGEST:,.0f}, which no training gives")
    return tensors


def _finite(tensor: NDArray[Any]) -> bool:
    if tensor.dtype == np.float16:  # whether all bits of the exponent are set, in the cache: numpy's isfinite is slow
        bits = tensor.reshape(-1).view(np.uint16)
        parts = (bits[low : low + BLOCK] & EXPONENT for low in range(0, len(bits), BLOCK))
        return not any((part == EXPONENT).any() for part in parts)
    return tensor.dtype.kind != "f" or bool(np.isfinite(tensor).all())


def _absurd(tensor: NDArray[Any]) -> bool:
    """Whether a number is finite and makes no sense; float16 has none beyond 65,504."""
    if tensor.dtype.kind != "f" or tensor.dtype == np.float16 or not tensor.size:
        return False
    return not (tensor.min() >= -LARGEST and tensor.max() <= LARGEST)  # NaN is neither


def _check_fold(path: Path, parts: ModelParts) -> None:
    """Weights may each be small and their products absurd; the folded tables are what counts, and are needed anyway."""
    with np.errstate(all="ignore"):
        tables = parts.folded.tensors()
    if any(map(_absurd, tables.values())):
        raise FormatError(path, f"its weights multiply to numbers beyond {LARGEST:,.0f}, which no training gives")


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({reason(error)})") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        number = config.get("format") if isinstance(config, dict) else None
        raise FormatError(path, f"format {number!r:.60} is not {FORMAT}: made by another version of lovevec")
    if config.get("stored") not in (AS_TRAINED, FOLDED):
        raise FormatError(path, f"`stored` must be {AS_TRAINED} or {FOLDED}, not {config.get('stored')!r:.60}")
    if config.get("checksum") != checksum(config):
        raise FormatError(path, f"damaged: {', '.join(DECIDES)} do not have the checksum that stands there")
    if config.get("checksum_metadata") != checksum_metadata(config):
        raise FormatError(path, "damaged: what it tells about the model does not have the checksum that stands there")
    config["units"] = _read_units(path, config.get("units"))
    if config["stored"] == FOLDED and config.get("precision") not in PRECISIONS:
        raise FormatError(path, f"`precision` must be one of {', '.join(PRECISIONS)}")
    return config


def _read_units(path: Path, raw: Any) -> dict[str, Any]:
    how = dict(raw) if isinstance(raw, dict) else {}
    shapes = {"input": str, "lowercase": bool, "buckets": int, "ngrams": int}
    if set(how) != set(shapes) or any(type(how[name]) is not kind for name, kind in shapes.items()):
        raise FormatError(path, f"`units` must name {', '.join(shapes)}")
    counts = 0 <= how["buckets"] < 2**31 and 0 <= how["ngrams"] < 2**31
    if how["input"] not in INPUT_MODES or not counts:
        raise FormatError(
            path, f"`units` says {how!s:.200}: input is one of {', '.join(INPUT_MODES)}, numbers at least 0"
        )
    return how


def _read_spec(path: Path, config: dict[str, Any]) -> EncoderSpec:
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


def _read_checked(path: Path, config: dict[str, Any]) -> bytes:
    """A file's bytes, once their hash is what config.json says."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device would never end
            raise FormatError(path, "not a regular file")
        content = path.read_bytes()
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read ({error.strerror})") from None
    if _sha256([content]) != _hashes(config).get(path.name):
        raise FormatError(path, f"damaged: its SHA-256 is not the one in {CONFIG}")
    return content


def _hashes(config: dict[str, Any]) -> dict[str, Any]:
    hashes = config.get("sha256")
    return hashes if isinstance(hashes, dict) else {}
