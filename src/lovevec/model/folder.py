"""The model folder: config.json, model.safetensors, tokenizer.json, words.json, rows.safetensors, lexicon.safetensors,
forms.json, context.safetensors, learned.safetensors, a README.md card.

No pickle anywhere: reading a model never runs code from it. The files have fixed names; config.json holds the SHA-256
of each and of itself, so that damage is told by name (validation.py). A model takes the place of another as a whole, at
one moment (files/together.py): a process that is killed leaves the old one or the new one.

config.json says what is `stored`:

    weights    as they were trained, float32: what training goes on from
    folded     the folded tables (engine/fold.py) in float32, float16 or int8: what inference needs, nothing more

and holds the channel (near/channel.py), by which misspellings are read. rows.safetensors are the known words' own
vectors (known_rows.py); a model without it makes every vector from the spelling. lexicon.safetensors says which other
words exist (near/lexicon.py), forms.json what stands for known words (near/forms.py), context.safetensors what the rest
of a sentence says of a word (near/context.py), learned.safetensors what texts said of words that arrived (learned.py);
a model may have none of these.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_choice, new_folder
from lovevec.damage.languages import ENGLISH, Language
from lovevec.engine.fold import PRECISIONS, EncoderSpec, Precision, Tables, fold_tables
from lovevec.errors import FormatError, LovevecError, reason
from lovevec.files.lines import read_bytes
from lovevec.files.tensors import tensor_blocks
from lovevec.files.together import NEW, current, replaced_together, write_blocks
from lovevec.model import validation
from lovevec.model.known_rows import CODE_DTYPES, KnownRows, KnownWords
from lovevec.model.learned import Learned
from lovevec.model.validation import AS_TRAINED, FOLDED, MAX_NUMBER
from lovevec.near.channel import Channel
from lovevec.near.context import Context
from lovevec.near.forms import check_listed
from lovevec.near.lexicon import Lexicon
from lovevec.near.orthography import Orthography
from lovevec.units.mixed_input import Units
from lovevec.units.vocabulary import UnitVocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONFIG, CARD, TOKENIZER = "config.json", "README.md", "tokenizer.json"
WEIGHTS, WORDS, ROWS = "model.safetensors", "words.json", "rows.safetensors"
LEXICON, FORMS, CONTEXT = "lexicon.safetensors", "forms.json", "context.safetensors"
LEARNED = "learned.safetensors"
OPTIONAL = (ROWS, LEXICON, FORMS, CONTEXT, LEARNED)
MAX_CARD = 1 << 20  # bytes


@dataclass(frozen=True, eq=False)
class ModelParts:
    """What a model is, in memory: the encoder's shape, its units, the words it learned from, and either its weights
    by name, as trained, or its folded tables (then `weights` is empty); the known words' own `rows`, if it holds them,
    the `orthography` by which strings are read, the `context` by which they are read in sentences, if it has one, and
    what it has `learned` of words that arrived, if it has.
    """

    spec: EncoderSpec
    weights: Mapping[str, NDArray[np.float32]]
    units: Units
    words: Sequence[str]
    metadata: dict[str, Any]
    tables: Tables | None = field(default=None)
    rows: KnownRows | None = None
    orthography: Orthography = field(default_factory=Orthography)
    context: Context | None = None
    learned: Learned | None = None

    @cached_property
    def folded(self) -> Tables:
        """The folded tables: those of the folder, or made from the weights at first use."""
        if self.tables is not None:
            return self.tables
        return fold_tables(self.spec, self.weights, self.units.vocabulary.unit_rows)

    @property
    def target(self) -> Mapping[str, Any]:
        """What the metadata say of the target; an empty mapping where they say nothing that makes sense."""
        target = self.metadata.get("target")
        return target if isinstance(target, dict) else {}

    @property
    def precision(self) -> Precision:
        return self.tables.precision if self.tables is not None else "float32"


def write_model(
    folder: str | Path, parts: ModelParts, card: str, precision: Precision | None = None, rows: str | None = None
) -> None:
    """Write a model folder, whole or not at all; other files in it stay as they are.

    Without `precision` the model is written as it is. float16 and int8 write the folded tables. `rows` says how the
    known words' own rows are stored (see known_rows.py), "none" leaves them out.
    """
    if rows is not None:
        check_choice("rows", rows, (*CODE_DTYPES, "none"))
    tensors = _tensors(parts, precision)
    for name, tensor in tensors.items():
        if not validation.is_finite(tensor) or validation.is_absurd(tensor):
            raise LovevecError(f"{name} of the model holds numbers that are not finite, or beyond {MAX_NUMBER:,.0f}")
    own = None if rows == "none" or parts.rows is None else parts.rows.to(rows or parts.rows.precision)
    files: dict[str, list[bytes | memoryview]] = {
        WEIGHTS: list(tensor_blocks(tensors)),
        TOKENIZER: [parts.units.vocabulary.to_json().encode("utf-8")],
        WORDS: [_words_as_json(parts.words)],
        CARD: [card.encode("utf-8", "backslashreplace")],
    }
    if own is not None:
        files[ROWS] = list(tensor_blocks(own.tensors()))
    if not parts.orthography.lexicon.is_empty:
        files[LEXICON] = list(tensor_blocks(parts.orthography.lexicon.tensors()))
    if parts.context is not None and own is not None:
        files[CONTEXT] = list(tensor_blocks(parts.context.tensors()))
    if parts.learned is not None and CONTEXT in files:
        files[LEARNED] = list(tensor_blocks(parts.learned.tensors()))
    if parts.orthography.listed:
        files[FORMS] = [json.dumps(parts.orthography.listed, ensure_ascii=False).encode("utf-8", "surrogatepass")]
    decisive = {
        "format": validation.FORMAT_VERSION,
        "stored": AS_TRAINED if "table" in tensors else FOLDED,
        "encoder": parts.spec.as_dict(),
        "units": {
            "input": parts.units.mode,
            "lowercase": parts.units.lowercase,
            "buckets": parts.units.vocabulary.buckets,
            "ngrams": parts.units.vocabulary.ngrams,
        },
        "sizes": {name: list(tensors[name].shape) for name in sorted(tensors)},
        "sha256": {name: validation.sha256(content) for name, content in files.items() if name != CARD},
        "channel": parts.orthography.channel.as_dict(),
    }
    if (language := parts.orthography.language).code != ENGLISH.code:
        decisive["language"] = language.as_dict()
    if decisive["stored"] == FOLDED:
        decisive["precision"] = tensors["out"].dtype.name
    config = {**decisive, "checksum": "", "checksum_metadata": "", **parts.metadata}
    config = json.loads(json.dumps(config)) | validation.checksums(config)
    files[CONFIG] = [(json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")]
    _write_together(new_folder(folder), files)


def _tensors(parts: ModelParts, precision: Precision | None) -> Mapping[str, NDArray[Any]]:
    if precision is not None:
        check_choice("precision", precision, PRECISIONS)
    if parts.tables is None and (precision or "float32") == "float32":
        return parts.weights
    if not parts.spec.foldable:
        raise LovevecError(f"a {parts.spec.kind} encoder does not fold: it can only be saved as float32")
    return parts.folded.to(precision or parts.precision).tensors()


def _write_together(folder: Path, files: Mapping[str, Iterable[bytes | memoryview]]) -> None:
    if folder.exists() and not folder.is_dir():
        raise LovevecError(f"{folder}: is a file; a model is saved as a folder")
    with replaced_together(folder, OPTIONAL) as new:
        for name, content in files.items():
            write_blocks(new / name, content)


def holds_model(folder: Path) -> bool:
    """Whether a folder holds a model."""
    return current(folder, CONFIG).is_file()


def read_card(folder: str | os.PathLike[str]) -> str:
    """The README.md of a model folder; an empty text where there is none. It has no hash, so it may be no link out of
    the folder, unless into the hub's cache, whose files are all such links."""
    folder = Path(folder)
    path = current(folder, CARD)
    if not os.path.lexists(path):
        return ""
    here = Path(os.path.realpath(folder))
    inside = [str(here), str(here / NEW), str(here.parent / NEW / here.name)]
    if here.parent.name == "snapshots":
        inside.append(os.path.realpath(here.parents[1] / "blobs"))
    if os.path.dirname(os.path.realpath(path)) not in inside:
        raise FormatError(path, "is a link that leads out of the model folder; put the file itself there")
    return read_bytes(path, MAX_CARD).decode("utf-8", "replace")


def _words_as_json(words: Sequence[str]) -> bytes:
    """A list of words in UTF-8: Cyrillic takes a third of what escapes take. A word that UTF-8 cannot say, since it has
    half of a surrogate pair, is why all of the list is written with escapes."""
    try:
        return json.dumps(list(words), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(list(words)).encode("ascii")


def read_model(folder: str | os.PathLike[str]) -> ModelParts:
    """Read and check a model folder; whatever is wrong is one LovevecError that names the file."""
    folder = Path(folder)
    if not holds_model(folder):
        if not folder.is_dir():
            raise LovevecError(f"{folder}: no such model folder")
        raise LovevecError(f"{folder}: holds no model ({CONFIG} is missing)")
    config, spec, content = _read_files(folder)
    units = config["units"]
    text = content[TOKENIZER].tobytes().decode("utf-8", "replace")
    vocabulary = UnitVocabulary.from_json(text, folder / TOKENIZER, units["buckets"], units["ngrams"])
    tensors = validation.load_tensors(folder / WEIGHTS, content[WEIGHTS])
    validation.check_tensors(folder / WEIGHTS, tensors, config, spec, vocabulary)
    try:
        own = validation.load_tensors(folder / ROWS, content[ROWS]) if ROWS in content else None
        rows = None if own is None else KnownRows.from_tensors(own, spec.dim)
    except ValueError as error:
        raise FormatError(folder / ROWS, f"damaged ({reason(error)})") from None
    orthography = _read_orthography(folder, config, content)
    try:
        held = validation.load_tensors(folder / CONTEXT, content[CONTEXT]) if CONTEXT in content else None
        context = None if held is None or rows is None else Context.from_tensors(held, spec.dim)
    except ValueError as error:
        raise FormatError(folder / CONTEXT, f"damaged ({reason(error)})") from None
    try:
        held = validation.load_tensors(folder / LEARNED, content[LEARNED]) if LEARNED in content else None
        learned = None if held is None or context is None else Learned.from_tensors(held, spec.dim)
    except ValueError as error:
        raise FormatError(folder / LEARNED, f"damaged ({reason(error)})") from None
    folded = config["stored"] == FOLDED
    parts = ModelParts(
        spec,
        {} if folded else tensors,
        Units(vocabulary, units["input"], units["lowercase"]),
        KnownWords(content[WORDS].tobytes(), folder / WORDS, None if rows is None else len(rows)),
        validation.metadata_of(config),
        Tables.from_tensors(tensors) if folded else None,
        rows,
        orthography,
        context,
        learned,
    )
    if spec.foldable and not folded:
        with np.errstate(all="ignore"):
            tables = parts.folded.tensors().values()  # which are needed anyway
        if any(map(validation.is_absurd, tables)):  # of weights each of which is small
            problem = f"its weights multiply to numbers beyond {MAX_NUMBER:,.0f}, which no training gives"
            raise FormatError(folder / WEIGHTS, problem)
    return parts


def _read_files(folder: Path) -> tuple[dict[str, Any], EncoderSpec, dict[str, NDArray[np.uint8]]]:
    """The config of a model, its encoder, and its other files. When another process replaces the model meanwhile, they
    are read once more."""
    config, spec = validation.read_config(current(folder, CONFIG))
    try:
        return config, spec, _contents(folder, config)
    except LovevecError:
        newer, spec = validation.read_config(current(folder, CONFIG))
        if newer == config:
            raise
        return newer, spec, _contents(folder, newer)


def _contents(folder: Path, config: dict[str, Any]) -> dict[str, NDArray[np.uint8]]:
    names = (WEIGHTS, TOKENIZER, WORDS, *(name for name in OPTIONAL if name in config["sha256"]))
    return {name: validation.read_content(current(folder, name), config) for name in names}


def _read_orthography(folder: Path, config: Mapping[str, Any], content: Mapping[str, NDArray[np.uint8]]) -> Orthography:
    try:
        channel = Channel.from_dict(config.get("channel"))
        language = Language.from_dict(config["language"]) if "language" in config else ENGLISH
    except LovevecError as error:
        raise FormatError(folder / CONFIG, error.message) from None
    lexicon, listed = Lexicon.empty(), check_listed({})
    if LEXICON in content:
        try:
            lexicon = Lexicon.from_tensors(validation.load_tensors(folder / LEXICON, content[LEXICON]))
        except ValueError as error:
            raise FormatError(folder / LEXICON, f"damaged ({reason(error)})") from None
    if FORMS in content:
        try:
            listed = check_listed(json.loads(content[FORMS].tobytes()))
        except (ValueError, RecursionError) as error:
            raise FormatError(folder / FORMS, f"damaged ({reason(error)})") from None
    return Orthography(channel, lexicon, listed, language)
