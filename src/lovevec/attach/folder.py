"""An attached table as a folder, so that nothing has to be learned again:

    attached.json       options, and what was learned as plain numbers; SHA-256 of the two files below and of itself
    words.json          the table's words
    table.safetensors   its vectors; the map into their space and the known neighbors that mend it, where there are any
    model/              the model behind the table, a model folder

No pickle: reading runs no code of the folder. Files are checked by their hash, arrays by shape and range.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import new_folder
from lovevec.attach.lengths import Lengths
from lovevec.attach.neighbors import Codes, KnownNeighbors
from lovevec.attach.space import Map, MapFit, Space
from lovevec.engine.nearest import NeighborIndex
from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files.lines import read_bytes
from lovevec.files.tensors import lengths_of, tensor_blocks
from lovevec.files.together import current, replaced_together, write_blocks
from lovevec.model.folder import OPTIONAL as MODEL_OPTIONAL
from lovevec.model.validation import MAX_CONFIG, MAX_NUMBER, is_absurd, is_finite, load_tensors, read_content, sha256

FORMAT = 1
CONFIG, WORDS, TABLE, MODEL = "attached.json", "words.json", "table.safetensors", "model"
CODES = ("known", "centres", "misses")  # arrays of int8, each with its bits and width
OPTIONS = ("lowercase", "by_confidence", "near")


@dataclass(frozen=True, eq=False)
class AttachedParts:
    """An attached table without the model behind it: the known words with their vectors, how the model's vectors get
    into their space and to which lengths, what was dropped of the table, and the options of attaching. The last rows,
    as many as `learned` says, are of words that were learned from texts."""

    known: NeighborIndex
    space: Space
    lengths: Lengths
    dropped: list[str]
    lowercase: bool = True
    by_confidence: bool = True
    near: bool = True
    learned: int = 0

    @property
    def vectors(self) -> NDArray[Any]:
        """The known words' own vectors, [words, dim], float32 or float16."""
        vectors = self.known.vectors
        assert isinstance(vectors, np.ndarray)  # a table's rows are no codes
        return vectors

    def check_model(self, folder: str | os.PathLike[str], dim: int) -> None:
        """Refuse a model whose vectors of `dim` numbers the map and the lengths were not learned for."""
        source = self.vectors.shape[1] if self.space.map is None else len(self.space.map.slope)
        slope = self.lengths.slope
        if source != dim or (slope is not None and (slope.dtype != np.float32 or slope.shape != (dim,))):
            raise FormatError(Path(folder, TABLE), f"was not learned for the model beside it, of {dim} dimensions")


def write_attached(folder: str | os.PathLike[str], parts: AttachedParts, save_model: Callable[[Path], None]) -> None:
    """Write the folder as a whole (files/together.py). `save_model` writes the model behind the table into a folder."""
    folder = new_folder(folder)
    if folder.exists() and not folder.is_dir():
        raise LovevecError(f"{folder}: is a file; an attached table is saved as a folder")
    space, lengths = parts.space, parts.lengths
    tensors, codes = {"vectors": parts.vectors}, {}
    if lengths.slope is not None:
        tensors["length_slope"] = lengths.slope
    if space.map is not None:
        tensors["slope"] = space.map.slope
        if space.map.neighbors is not None and space.map.misses is not None:
            neighbors = space.map.neighbors
            arrays = dict(zip(CODES, (neighbors.vectors, neighbors.centres, space.map.misses), strict=True))
            codes = {name: [code.bits, code.dim] for name, code in arrays.items()}
            tensors |= {name: code.steps for name, code in arrays.items()}
            tensors |= {"rows": neighbors.rows, "starts": neighbors.starts.astype(np.int64)}
    words = [json.dumps(list(parts.known.words)).encode("ascii")]
    config = {
        "format": FORMAT,
        "space": asdict(replace(space, map=None)),
        "lengths": asdict(replace(lengths, slope=None)),
        "codes": codes,
        "dropped": parts.dropped,
        "learned": parts.learned,
        **{name: getattr(parts, name) for name in OPTIONS},
        "sha256": {WORDS: sha256(words), TABLE: sha256(tensor_blocks(tensors))},
    }
    config["checksum"] = _checksum(config)
    config_text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    files = {CONFIG: [config_text.encode("utf-8", "backslashreplace")], WORDS: words, TABLE: tensor_blocks(tensors)}
    with replaced_together(folder, [f"{MODEL}/{name}" for name in MODEL_OPTIONAL]) as new:
        for name, content in files.items():
            write_blocks(new / name, content)
        save_model(new / MODEL)


def read_attached(folder: str | os.PathLike[str]) -> tuple[AttachedParts, Path]:
    """Read and check what `write_attached` wrote; and the folder of the model behind it."""
    folder = Path(folder)
    if not current(folder, CONFIG).is_file():
        raise LovevecError(f"{folder}: holds no attached table ({CONFIG} is missing)")
    config = _read_config(current(folder, CONFIG))
    content = read_content(current(folder, WORDS), config, CONFIG).tobytes()
    tensors = load_tensors(folder / TABLE, read_content(current(folder, TABLE), config, CONFIG))
    try:
        words = json.loads(content)
        if any(not is_finite(tensor) or is_absurd(tensor) for tensor in tensors.values()):
            raise ValueError("numbers that are not finite, or absurd")
        vectors = tensors["vectors"]
        vectors.flags.writeable = False
        right = vectors.ndim == 2 and len(vectors) == len(words) and vectors.dtype.name in ("float16", "float32")
        if not right or not all(type(word) is str for word in words) or len(words) != len(set(words)):
            raise ValueError(f"vectors of shape {vectors.shape} for {len(words):,} words")
        if not all(value is None or abs(value) <= MAX_NUMBER for value in config["lengths"].values()):
            raise ValueError("lengths that make no sense")
        fits = {name: config["space"][name] and MapFit(**config["space"][name]) for name in ("direct", "mapped")}
        numbers = {"shared": int(config["space"]["shared"]), "agreement": float(config["space"]["agreement"])}
        space = Space(**config["space"] | fits | numbers | {"map": _map(tensors, config["codes"], vectors)})
        lengths = Lengths(**config["lengths"] | {"slope": tensors.get("length_slope")})
        known = NeighborIndex(tuple(words), vectors, lengths_of(vectors))
        options, learned = {name: bool(config[name]) for name in OPTIONS}, config.get("learned", 0)
        if type(learned) is not int or not 0 <= learned <= len(words):
            raise ValueError(f"{learned!r:.60} of {len(words):,} words learned")
        dropped = list(map(str, config["dropped"]))
        return AttachedParts(known, space, lengths, dropped, **options, learned=learned), folder / MODEL
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(folder / TABLE, f"is not what lovevec writes ({reason(error)})") from None


def _map(tensors: dict[str, NDArray[Any]], codes: dict[str, list[int]], table: NDArray[Any]) -> Map | None:
    """The map into the table's space; ValueError where its arrays do not fit together or lead out of the table."""
    slope = tensors.get("slope")
    if slope is None:
        return None
    if slope.dtype != np.float32 or slope.ndim != 2 or slope.shape[1] != table.shape[1]:
        raise ValueError("no map into the space of the table")
    if not codes:
        return Map(slope)
    known, centres, misses = all_codes = [Codes(tensors[name], *codes[name]) for name in CODES]
    rows, starts = tensors["rows"], tensors["starts"]
    right = (
        all(code.steps.dtype == np.int8 and 0 < code.dim <= code.steps.shape[1] for code in all_codes)
        and all(0 <= code.bits <= 14 for code in all_codes)
        and len(known) == len(misses) == len(rows)
        and len(starts) == len(centres) + 1 > 1
        and (known.dim, centres.dim, misses.dim) == (len(slope), len(slope), slope.shape[1])
        and rows.dtype == starts.dtype == np.int64
        and bool(((rows >= 0) & (rows < len(table))).all())
        and (starts[0], starts[-1]) == (0, len(rows))
        and not (np.diff(starts) < 0).any()
    )
    if not right:
        raise ValueError("the arrays of known neighbors do not fit together")
    return Map(slope, KnownNeighbors(known, rows, table, centres, starts), misses)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(read_bytes(path, MAX_CONFIG))
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({reason(error)})") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise FormatError(path, f"its format is not {FORMAT}: made by another version of lovevec")
    if config.get("checksum") != _checksum(config) or not isinstance(config.get("sha256"), dict):
        raise FormatError(path, "damaged: it does not have the checksum that stands there")
    return config


def _checksum(config: dict[str, Any]) -> str:
    plain = json.loads(json.dumps({name: value for name, value in config.items() if name != "checksum"}))
    return sha256([json.dumps(plain, sort_keys=True).encode("ascii")])
