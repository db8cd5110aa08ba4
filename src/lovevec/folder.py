"""The model folder: config.json, model.safetensors, tokenizer.json, words.json, and a README.md model card.

No pickle anywhere: reading a model never runs code from it. config.json names every file's SHA-256 and is written
last, so a folder without it holds no model, and a damaged file is told by name.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from lovevec.engine.fold import fold_sizes
from lovevec.engine.spec import ENCODERS, EncoderSpec
from lovevec.errors import FormatError, LovevecError
from lovevec.files import atomic_write, write_json
from lovevec.units import INPUT_MODES, Units
from lovevec.vocabulary import UnitVocabulary

FORMAT = 1
DECIDES = ("format", "encoder", "units", "sizes", "sha256")
CONFIG, WEIGHTS, TOKENIZER, WORDS, CARD = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "words.json",
    "README.md",
)


@dataclass(frozen=True, eq=False)
class ModelParts:
    """What a model is, in memory: the encoder's shape, its weights by name, its units, the words it learned from."""

    spec: EncoderSpec
    weights: dict[str, NDArray[np.float32]]
    units: Units
    words: list[str]
    about: dict[str, Any]


def write_model(folder: str | Path, parts: ModelParts, card: str) -> None:
    """Write a model folder; other files in it stay as they are."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        WEIGHTS: save({name: np.ascontiguousarray(weight) for name, weight in parts.weights.items()}),
        TOKENIZER: parts.units.vocabulary.to_json().encode("utf-8"),
        WORDS: json.dumps(parts.words).encode("ascii"),
        CARD: card.encode("utf-8", "backslashreplace"),
    }
    (folder / CONFIG).unlink(missing_ok=True)
    for name, content in files.items():
        with atomic_write(folder / name) as file:
            file.write(content)
    machine = {
        "format": FORMAT,
        "encoder": parts.spec.as_dict(),
        "units": {
            "input": parts.units.mode,
            "lowercase": parts.units.lowercase,
            "buckets": parts.units.vocabulary.buckets,
        },
        "sizes": {name: list(weight.shape) for name, weight in parts.weights.items()},
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != CARD},
    }
    write_json(folder / CONFIG, {**machine, "checksum": checksum(machine), **parts.about})


def checksum(config: dict[str, Any]) -> str:
    """The SHA-256 of what in a config decides vectors, so that damage to it cannot go unseen."""
    decides = json.dumps({name: config.get(name) for name in DECIDES}, sort_keys=True)
    return hashlib.sha256(decides.encode("utf-8", "surrogatepass")).hexdigest()


def read_model(folder: str | os.PathLike[str]) -> ModelParts:
    """Read and check a model folder; whatever is wrong is one LovevecError that names the file."""
    folder = Path(folder)
    if not folder.is_dir():
        raise LovevecError(f"{folder}: no such model folder")
    if not (folder / CONFIG).is_file():
        raise LovevecError(f"{folder}: holds no model ({CONFIG} is missing)")
    config = _read_config(folder / CONFIG)
    content = {name: _read_checked(folder / name, config) for name in (WEIGHTS, TOKENIZER, WORDS)}
    spec = _read_spec(folder / CONFIG, config)
    try:
        weights = load(content[WEIGHTS])
        words = json.loads(content[WORDS])
    except (SafetensorError, ValueError, KeyError) as error:
        raise FormatError(folder, f"damaged ({error})") from None
    sizes = {name: list(weight.shape) for name, weight in weights.items()}
    if sizes != config.get("sizes") or "table" not in weights:
        raise FormatError(folder / WEIGHTS, f"its tensors do not have the sizes that {CONFIG} names")
    if spec.foldable and sizes != fold_sizes(spec, len(weights["table"]), sizes.get("factor", [0])[0]):
        raise FormatError(folder / WEIGHTS, f"its tensors are not those of the encoder that {CONFIG} names")
    how = config["units"]
    vocabulary = UnitVocabulary.from_json(content[TOKENIZER].decode("utf-8"), folder / TOKENIZER, how["buckets"])
    if len(weights["table"]) != vocabulary.table_rows:
        raise FormatError(folder / WEIGHTS, f"{len(weights['table']):,} rows for {vocabulary.table_rows:,} units")
    about = {key: config[key] for key in config if key not in (*DECIDES, "checksum")}
    return ModelParts(spec, weights, Units(vocabulary, how["input"], how["lowercase"]), words, about)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({error})") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        found = config.get("format") if isinstance(config, dict) else None
        raise FormatError(path, f"format {found!r} is not {FORMAT}: made by another version of lovevec?")
    if config.get("checksum") != checksum(config):
        raise FormatError(path, f"damaged: {', '.join(DECIDES)} do not have the checksum that stands there")
    how = config.get("units")
    shapes = {"input": str, "lowercase": bool, "buckets": int}
    if not isinstance(how, dict) or any(type(how.get(name)) is not kind for name, kind in shapes.items()):
        raise FormatError(path, "`units` must name input, lowercase and buckets")
    if how["input"] not in INPUT_MODES or not 0 <= how["buckets"] < 2**31:
        raise FormatError(path, f"`units` says {how}: input is one of {', '.join(INPUT_MODES)}, buckets at least 0")
    return config


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
            and float(spec.position_scale) > 0
        )
    except (TypeError, ValueError):
        sane = False
    if not sane:
        raise FormatError(path, f"`encoder` makes no sense: {raw!r}")
    return spec


def _read_checked(path: Path, config: dict[str, Any]) -> bytes:
    """A file's bytes, once their hash is what config.json says."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read ({error.strerror})") from None
    hashes = config.get("sha256")
    if not isinstance(hashes, dict) or hashlib.sha256(content).hexdigest() != hashes.get(path.name):
        raise FormatError(path, f"damaged: its SHA-256 is not the one in {CONFIG}")
    return content
