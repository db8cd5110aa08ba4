"""Encoders of whole texts behind one small interface, by name as the command line has them.

default, my-model          a LOVE: shipped, a folder, a hub id
glove.npz                  a vector file, with the default LOVE attached for the words that it lacks
potion-base-8M             a model2vec folder (config.json or modules.json says so), or a hub id
all-MiniLM-L6-v2           a sentence-transformers folder (with modules.json), or a hub id
NAME+robust                the last two with LOVE inside: plugins/model2vec, plugins/transformers
symspell+NAME, aspell+NAME any of them behind a speller
mine=NAME                  the same, called `mine` in tables

The spellers correct each word that the shipped default does not know to one of its 80,000 known words, for all alike.
What holds no letter stays as it is, and so do marks, blanks, and words of one or two letters; a correction has the case
of the word. In Python an encoder may also be an object with `encode(list of texts)`: a LOVE, vectors with LOVE
attached, a StaticModel, a SentenceTransformer, one of your own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lovevec.errors import LovevecError, Parameter
from lovevec.love import LOVE
from lovevec.model.find import DEFAULT, find_model
from lovevec.model.hub import HUB_ID, from_hub
from lovevec.model.shipped import shipped
from lovevec.transformer.load import LOADING_ERRORS, loading
from lovevec_lab.evaluate.comparison import as_list
from lovevec_lab.methods.open_method import is_there, split_name

SPELLERS = ("symspell", "aspell")
ROBUST = "+robust"
MODULES, CONFIG = "modules.json", "config.json"
FILES = (".safetensors", ".json", ".txt", ".model")  # what is loaded; weights of other kinds only where these lack
OTHER_WEIGHTS = (".bin", ".npz", ".pt")
SHORTEST = 3  # letters of a word that a speller corrects
WORDS_AND_MARKS = re.compile(r"(\w+n['’]t\b|\w+|[^\w\s])")  # wouldn't is a word; of Deen's, Deen

Encode = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, eq=False)
class BenchmarkEncoder:
    """`encode` gives [texts, dim]. `megabytes` are those of its files, `front` is the speller that texts meet first;
    `with_love` makes the same with LOVE inside, where that can be."""

    name: str
    encode: Encode
    megabytes: float | None = None
    front: str = ""
    with_love: Callable[[], BenchmarkEncoder] | None = None


def encoders_of(sources: Any, speller: str = "", robust: bool = False, device: str = "auto") -> list[BenchmarkEncoder]:
    """The encoders that are listed; after each the same with LOVE inside (`robust`, where it can have it), and behind
    the `speller`. A dict gives each a name of its own. What is named is opened anew for the speller's row: encoders
    remember words, and one row's speed is not to gain by another's."""
    if speller and speller not in SPELLERS:
        raise LovevecError(f"{Parameter('speller', speller)}: there are {', '.join(SPELLERS)}")
    named = sources.items() if isinstance(sources, Mapping) else (("", source) for source in as_list(sources))
    listed: list[BenchmarkEncoder] = []
    for name, source in named:
        encoder = as_encoder(source, device)
        encoder = replace(encoder, name=name) if name else encoder
        listed.append(encoder)
        if robust and encoder.with_love and not encoder.front:
            listed.append(replace(encoder.with_love(), name=encoder.name + ROBUST))
        if speller and not encoder.front:
            listed.append(behind(speller, replace(as_encoder(source, device), name=encoder.name)))
    if not listed:
        raise LovevecError(
            "nothing to evaluate: name a model, a vector file, a model2vec or sentence-transformers folder"
        )
    return listed


def as_encoder(source: Any, device: str = "auto") -> BenchmarkEncoder:
    """An encoder by its name, or made of an object with `encode`."""
    if isinstance(source, BenchmarkEncoder):
        return source
    if isinstance(source, (str, os.PathLike)):
        return open_encoder(os.fspath(source), device)
    if not callable(getattr(source, "encode", None)):
        raise LovevecError(f"{type(source).__name__}: is no encoder of texts: a name or an object with encode expected")
    return BenchmarkEncoder(type(source).__name__, source.encode)


def open_encoder(text: str, device: str = "auto") -> BenchmarkEncoder:
    """What `text` names: NAME=, a speller and +, a model or file, +robust; all but the third as one likes."""
    own, source = split_name(text)
    front, plus, rest = source.partition("+")
    front, source = (front, rest) if plus and front in SPELLERS and not is_there(Path(source)) else ("", source)
    robust = source.endswith(ROBUST) and not is_there(Path(source))
    source = source.removesuffix(ROBUST) if robust else source
    encoder = _open(source, device)
    if robust:
        if encoder.with_love is None:
            raise LovevecError(
                f"{source}{ROBUST}: has LOVE in it as it is; only model2vec and sentence-transformers gain it"
            )
        encoder = encoder.with_love()
    if front:
        encoder = behind(front, encoder)
    return replace(encoder, name=own) if own else encoder


def _open(source: str, device: str) -> BenchmarkEncoder:
    path = Path(source)
    name = path.name if path.name not in ("", "..") else path.resolve().name
    if is_there(path) and not path.is_dir():
        size = path.stat().st_size / 1e6 + megabytes(find_model(DEFAULT))
        return BenchmarkEncoder(name, LOVE.load().attach(path).encode, size)
    folder = path
    if not path.is_dir():
        if source in shipped() or not HUB_ID.fullmatch(source):
            folder = _known(source)
        else:
            folder = from_hub(source, (CONFIG,), tuple(f"*{end}" for end in FILES))
    if is_model2vec(folder):
        return _model2vec(folder, name)
    if (folder / MODULES).is_file():
        return _sentence_transformer(folder, name, device)
    return BenchmarkEncoder(name, LOVE.load(folder).encode, megabytes(folder))


def _known(source: str) -> Path:
    try:
        return find_model(source)
    except LovevecError:
        there = ", ".join(shipped())
        raise LovevecError(
            f"{source:.200}: no such file or folder, nor a shipped model ({there}), nor a hub id (owner/name); an "
            "encoder is a LOVE, a vector file, a model2vec or a sentence-transformers folder"
        ) from None


def is_model2vec(folder: Path) -> bool:
    """By what model2vec writes: the type of the model, or the one module that sentence-transformers reads it by."""
    config, modules = _json(folder / CONFIG), _json(folder / MODULES)
    if isinstance(config, dict) and config.get("model_type") == "model2vec":
        return True
    first = modules[0] if isinstance(modules, list) and modules else {}
    return str(first.get("type")).endswith(".StaticEmbedding") and first.get("path") in (".", "")


def _json(file: Path) -> Any:
    """What a file holds; None where it is no such file, which its own reader tells."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _model2vec(folder: Path, name: str) -> BenchmarkEncoder:
    from lovevec.plugins.model2vec import ROBUST_FILE, RobustStaticModel, robustify  # first: says what to install

    saved = (folder / ROBUST_FILE).is_file()  # a robust one
    from model2vec import StaticModel

    try:
        model = (RobustStaticModel if saved else StaticModel).from_pretrained(folder)
    except LOADING_ERRORS as error:
        reason = " ".join(str(error).split())[:240]
        raise LovevecError(f"{folder}: cannot be read as a model of model2vec: {reason}") from None

    def with_love() -> BenchmarkEncoder:
        robust = robustify(model)
        return BenchmarkEncoder(name + ROBUST, _listing(robust.encode), _megabytes_on_disk(robust))

    encode = _listing(model.encode)
    return BenchmarkEncoder(name, encode, megabytes(folder), with_love=None if saved else with_love)


def _sentence_transformer(folder: Path, name: str, device: str) -> BenchmarkEncoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise LovevecError(
            f"{name}: is a model of sentence-transformers: pip install sentence-transformers 'lovevec[bert]'"
        ) from None
    from lovevec.device import choose_device
    from lovevec.plugins.transformers import robustify  # also what reads a saved robust model

    with loading(str(folder)):
        model = SentenceTransformer(str(folder), device=str(choose_device(device)), local_files_only=True)

    def encode(of: Any) -> Encode:
        return _listing(partial(of.encode, show_progress_bar=False))

    def with_love() -> BenchmarkEncoder:
        robust = robustify(model)
        with loading(name):
            return BenchmarkEncoder(name + ROBUST, encode(robust), _megabytes_on_disk(robust))

    return BenchmarkEncoder(name, encode(model), megabytes(folder), with_love=with_love)


def _listing(encode: Callable[[list[str]], Any]) -> Encode:
    """The same for any sequence."""
    return lambda texts: encode(list(texts))


def _megabytes_on_disk(model: Any) -> float:
    """Those of a model with what LOVE adds, which is saved with it."""
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return megabytes(Path(folder))


def megabytes(folder: Path) -> float:
    """The size of a model's files: weights, vocabulary, settings."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    ends = FILES if any(file.suffix == FILES[0] for file in files) else (*FILES, *OTHER_WEIGHTS)
    return sum(file.stat().st_size for file in files if file.suffix in ends) / 1e6


def behind(speller: str, encoder: BenchmarkEncoder) -> BenchmarkEncoder:
    """The encoder of corrected texts."""
    correct = partial(correct_texts, corrections=corrections_of(speller))
    return replace(
        encoder,
        name=f"{speller}+{encoder.name}",
        encode=lambda texts: encoder.encode(correct(texts)),
        front=speller,
        with_love=None,
    )


Corrections = Callable[[list[str]], list[str | None]]


@cache
def corrections_of(speller: str) -> Corrections:
    """Lower-case words -> for each the speller's first word among those of the shipped default, None where it has none;
    a known word is its own. Nothing is kept between calls, so that its time is its own."""
    words = list(LOVE.load().words)
    known = frozenset(words)
    if speller == "symspell":
        from lovevec_lab.methods.symspell import SymSpellDictionary

        dictionary = SymSpellDictionary(words)
        return lambda asked: [word if word in known else dictionary.correct(word) for word in asked]
    from lovevec_lab.methods.spellers import AspellDictionary

    aspell = AspellDictionary(words)

    def suggest(asked: list[str]) -> list[str | None]:
        unknown = [word for word in asked if word not in known]
        first = dict(zip(unknown, aspell.suggestions(unknown), strict=True))
        return [next((one for one in first.get(word, [word]) if one in known), None) for word in asked]

    return suggest


def correct_texts(texts: Sequence[str], corrections: Corrections) -> list[str]:
    """The texts with their unknown words corrected; each distinct word is asked for once."""
    parts = [WORDS_AND_MARKS.split(text) for text in texts]
    asked = [word for word in dict.fromkeys(word for part in parts for word in part[1::2]) if _is_word(word)]
    lower = list(dict.fromkeys(word.lower() for word in asked))
    found = dict(zip(lower, corrections(lower), strict=True))
    changed = {
        word: _match_case(new, word) for word in asked if (new := found[word.lower()]) not in (None, word.lower())
    }
    return ["".join(changed.get(part, part) for part in row) for row in parts]


def _is_word(part: str) -> bool:
    letters = part.replace("'", "").replace("’", "")
    return len(part) >= SHORTEST and letters.isalnum() and any(map(str.isalpha, letters))


def _match_case(new: str, old: str) -> str:
    return new.upper() if old.isupper() else new[:1].upper() + new[1:] if old[:1].isupper() else new
