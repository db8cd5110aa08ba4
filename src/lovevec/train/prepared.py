"""Preparation: the CPU-heavy part of training, done once for many runs. Units, synonyms, hard negatives.

A prepared folder holds `prepared.json`, `tokenizer.json` and `prepared.safetensors`. Training from it needs only torch,
numpy, tokenizers and safetensors, so it can travel to a bare GPU machine.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from lovevec.errors import LovevecError, Parameter, reason
from lovevec.files import as_json, atomic_write, write_json, write_text
from lovevec.files.lines import read_bytes
from lovevec.files.tensors import in_blocks, map_tensors, release, tensor_blocks
from lovevec.progress import Progress
from lovevec.train.hard_negatives import hard_negatives
from lovevec.train.settings import PrepareSettings, names, with_files
from lovevec.train.synonyms import find_synonyms
from lovevec.train.target import is_cased, load_target
from lovevec.units.characters import LONGEST, normalise
from lovevec.units.ragged import Ragged, offsets_of
from lovevec.units.vocabulary import UnitVocabulary, build_vocabulary, read_pieces
from lovevec.vectors import LARGE_FILE, is_large
from lovevec.vectors.read.source import file_hash

FORMAT = 1
# What reading a damaged folder may raise.
DAMAGE = OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError, LovevecError
JSON, TENSORS, TOKENIZER, SCRATCH_VECTORS = "prepared.json", "prepared.safetensors", "tokenizer.json", "target.npy"


@dataclass(frozen=True, eq=False)
class Prepared:
    """A target made ready for training: `vectors` [n, dim] as they were given, float32 or float16; `synonyms` and
    `negatives` [n, k] are row numbers, -1 where a word has no more look-alikes.

        prepared = prepare("glove.txt", PrepareSettings(limit=50_000))
        prepared.save("prepared")
    """

    words: list[str]
    vectors: NDArray[np.floating[Any]]
    vocabulary: UnitVocabulary
    synonyms: Ragged
    negatives: NDArray[np.int32]
    settings: PrepareSettings
    target: dict[str, Any]

    @property
    def lowercase(self) -> bool:
        return self.settings.lowercase is not False

    def save(self, folder: str | Path) -> None:
        """Write the folder; `prepared.json`, without which it is no prepared folder, comes last."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / JSON).unlink(missing_ok=True)
        sizes = (len(word.encode("utf-8", "surrogatepass")) for word in self.words)
        tensors: dict[str, NDArray[Any]] = {
            "word_offsets": offsets_of(np.fromiter(sizes, np.int64, len(self.words))),
            "synonym_offsets": self.synonyms.offsets,
            "synonyms": self.synonyms.values,
            "negatives": self.negatives,
            "vectors": self.vectors,
            "words": np.frombuffer("".join(self.words).encode("utf-8", "surrogatepass"), dtype=np.uint8),
        }
        halved = ["vectors"] if _half_is_exact(self.vectors) else []
        with atomic_write(folder / TENSORS) as file:
            file.writelines(tensor_blocks(tensors, halved))
        write_text(folder / TOKENIZER, self.vocabulary.to_json())
        metadata = {
            "format": FORMAT,
            "settings": asdict(self.settings),
            "target": self.target,
            "words": len(self.words),
            "dim": int(self.vectors.shape[1]),
            "sha256": {name: file_hash(folder / name) for name in (TENSORS, TOKENIZER)},
        }
        write_json(folder / JSON, with_checksum(metadata))

    @classmethod
    def load(cls, folder: str | Path) -> Prepared:
        """Read a folder that `save` wrote; anything else is one error that says to prepare again. Large arrays stay in
        their file."""
        folder = Path(folder)
        with _explain_damage(folder):
            metadata = read_metadata(folder)
            for name in (TENSORS, TOKENIZER):
                if file_hash(folder / name) != metadata["sha256"][name]:
                    raise ValueError(f"the SHA-256 of {name} is not the one in {JSON}")
            settings = PrepareSettings(**metadata["settings"])
            tensors = map_tensors(folder / TENSORS) if is_large(folder / TENSORS) else load_file(folder / TENSORS)
            _check_tensors(tensors)
            raw, ends = tensors["words"].tobytes(), tensors["word_offsets"].tolist()
            words = [raw[low:high].decode("utf-8", "surrogatepass") for low, high in pairwise(ends)]
            text, buckets = (folder / TOKENIZER).read_text("utf-8"), settings.keep if settings.shrink == "hash" else 0
            vocabulary = UnitVocabulary.from_json(text, folder / TOKENIZER, buckets, settings.ngrams)
            synonyms = Ragged(tensors["synonyms"], tensors["synonym_offsets"])
            target = metadata["target"]
            return cls(words, tensors["vectors"], vocabulary, synonyms, tensors["negatives"], settings, target)


@contextmanager
def _explain_damage(folder: Path) -> Iterator[None]:
    """Turn whatever reading a folder raises into the one error that says to prepare again."""
    try:
        yield
    except DAMAGE as error:
        raise LovevecError(
            f"{folder}: not a prepared folder, or damaged ({reason(error)}); run lovevec prepare again"
        ) from None


def _check_tensors(tensors: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError where the tensors do not fit together: training would find out hours later, or not at all."""
    vectors, negatives, synonyms = tensors["vectors"], tensors["negatives"], tensors["synonyms"]
    count = len(vectors)
    kinds = {"words": "u1", "word_offsets": "i8", "synonym_offsets": "i8", "synonyms": "i4", "negatives": "i4"}
    wrong = [name for name, kind in kinds.items() if tensors[name].dtype != np.dtype(kind)]
    if wrong or vectors.dtype not in (np.float16, np.float32):
        raise ValueError(f"{', '.join(wrong) or 'vectors'} of another type")
    if vectors.ndim != 2 or negatives.ndim != 2 or len(negatives) != count or not vectors.size:
        raise ValueError(f"vectors of shape {vectors.shape}, negatives of shape {negatives.shape}")
    for offsets, flat in (("word_offsets", "words"), ("synonym_offsets", "synonyms")):
        ends = tensors[offsets]
        if ends.shape != (count + 1,) or ends[0] != 0 or ends[-1] != len(tensors[flat]) or (np.diff(ends) < 0).any():
            raise ValueError(f"{offsets} do not cut {flat} into {count:,} rows")
    for name, rows, least in (("synonyms", synonyms, 0), ("negatives", negatives, -1)):
        if rows.size and not (least <= rows.min() and rows.max() < count):
            raise ValueError(f"{name} that are no rows")
    if not all(np.isfinite(rows).all() for _, rows in in_blocks(vectors)):
        raise ValueError("vectors that are not finite")


def read_metadata(folder: Path) -> dict[str, Any]:
    """The content of prepared.json; ValueError where it is of another format than this version's."""
    content = read_bytes(folder / JSON)
    metadata: dict[str, Any] = json.loads(content)
    if metadata["format"] != FORMAT:
        raise ValueError(f"format {metadata['format']!r} is not {FORMAT}")
    written = as_json(metadata).encode("utf-8", "backslashreplace")
    if written != content or metadata != with_checksum(metadata):
        raise ValueError(f"{JSON} does not have the checksum that stands there")
    return metadata


def with_checksum(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The content of prepared.json with the SHA-256 of all the rest of it."""
    plain = {name: value for name, value in metadata.items() if name != "checksum"}
    return {**plain, "checksum": hashlib.sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()}


def settings_of(folder: str | Path) -> PrepareSettings:
    """The settings of a prepared folder, from its prepared.json alone."""
    with _explain_damage(Path(folder)):
        return PrepareSettings(**read_metadata(Path(folder))["settings"])


def _half_is_exact(vectors: NDArray[np.float32]) -> bool:
    """Whether float16 holds every number exactly, as in many published subsets of vectors."""
    with np.errstate(over="ignore"):
        return all(np.array_equal(rows.astype(np.float16), rows) for _, rows in in_blocks(vectors))


def is_prepared(source: Any) -> bool:
    """Whether `source` is the path of a folder that `Prepared.save` wrote."""
    return isinstance(source, (str, os.PathLike)) and (Path(source) / JSON).is_file()


def prepare(
    target: Any, settings: PrepareSettings | None = None, progress: Progress | None = None, scratch: Path | None = None
) -> Prepared:
    """Find the units, synonyms and hard negatives of a target's words, once for many runs.

    `target` is anything that `load_target` takes. Where the settings leave `lowercase` open, the words of a cased
    transformer keep their case and all others lose it. Vectors that are many and in memory go to a file in the folder
    `scratch`, if there is one, and are read from there.

        prepare("glove.txt", PrepareSettings(limit=50_000)).save("prepared")
    """
    settings = settings or PrepareSettings()
    progress = progress or Progress(quiet=True)
    if settings.lowercase is None:
        cased = is_cased(target)
        settings = replace(settings, lowercase=not cased)
        if cased:
            name = target if isinstance(target, (str, os.PathLike)) else "the target"
            progress.say(f"{name} is cased: words keep their case ({Parameter('lowercase')} takes it away)")
    limit, lowercase, words = settings.limit or None, settings.lowercase is True, settings.words or None
    table = load_target(target, limit=limit, lowercase=lowercase, words=words, progress=progress)
    for line in table.report.lines():
        progress.say(line)
    if scratch is not None and not table.mapped and table.vectors.nbytes >= LARGE_FILE:
        np.save(scratch / SCRATCH_VECTORS, table.vectors)
        table = replace(table, vectors=np.load(scratch / SCRATCH_VECTORS, mmap_mode="r"))
    with progress.phase("vocabulary", unit="units") as phase:
        pieces = read_pieces(settings.vocabulary) if settings.vocabulary else None
        pieces = [] if settings.input == "chars" else pieces  # no rows for what is never looked up
        sizes = settings.vocabulary_size, settings.shrink, settings.keep, settings.ngrams
        # Of a long word training sees the head and the tail; all of them would take the square of their letters.
        seen = [normalise(word, lowercase) if len(word) > LONGEST else word for word in table.words]
        vocabulary = build_vocabulary(seen, pieces, *sizes)
        phase.advance(len(vocabulary))
    synonyms = Ragged.from_lengths(np.empty(0, dtype=np.int32), np.zeros(len(table), dtype=np.int64))
    if settings.synonyms:
        bar, most = settings.synonym_similarity, settings.synonyms
        synonyms = find_synonyms(table.vectors, similarity=bar, most=most, progress=progress)
    release(table.vectors)
    negatives = np.empty((len(table), 0), dtype=np.int32)
    if settings.negatives:
        negatives = hard_negatives(seen, synonyms, k=settings.negatives, progress=progress)
    origin = {"name": table.name, "dim": table.dim, "words": len(table), **table.source}
    public = with_files(settings, lambda name: Path(name).name)  # no folders of this machine in what people publish
    return Prepared(table.words, table.vectors, vocabulary, synonyms, negatives, public, origin)


def refuse_stale(prepared: PrepareSettings, chosen: Mapping[str, Any]) -> None:
    """Raise where a setting in `chosen` differs from the one that the target was prepared with; the error names it."""
    before, after = asdict(prepared), asdict(with_files(replace(prepared, **chosen), lambda name: Path(name).name))
    changed = [name for name in names(PrepareSettings) if after[name] != before[name]]
    if changed:
        parameters = ", ".join(f"{Parameter(name)}" for name in changed)
        raise LovevecError(f"{parameters}: fixed when this target was prepared; run lovevec prepare again with it")
