"""Which model is meant: nothing for the shipped default, a shipped model's name, a folder, or a hub id.

None, "default"       the default model, which ships with the package
"minilm-input"        another shipped model
"my-model", a path    a model folder; it wins over a shipped model or a hub id of the same name
"owner/name"          a model on the Hugging Face hub: from the local cache, or else from the network
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lovevec.errors import LovevecError
from lovevec.model.folder import CARD, CONFIG, ROWS, TOKENIZER, WEIGHTS, WORDS
from lovevec.model.shipped import shipped

DEFAULT = "default"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
NEEDED = (CONFIG, WEIGHTS, TOKENIZER, WORDS)


def find_model(name: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the model that `name` means; an error says where it was looked for."""
    if name is None:
        return _shipped(DEFAULT)
    if not isinstance(name, (str, os.PathLike)) or not os.fspath(name):
        raise LovevecError(f"a model is named by its folder, its name or its hub id, not by {name!r}")
    folder = Path(name)
    try:
        if not isinstance(name, str) or (folder / CONFIG).is_file():
            return folder
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise LovevecError(f"{_short(name)}: cannot be read: {error.strerror}") from None
    if name in shipped() or name == DEFAULT:
        return _shipped(name)
    if folder.is_dir():
        return folder  # the reader says what it lacks
    if HUB_ID.fullmatch(name):
        return from_hub(name)
    there = ", ".join(shipped()) or "none in this copy"
    raise LovevecError(f"{name}: no such model folder, nor a shipped model ({there}), nor a hub id (owner/name)")


def _shipped(name: str) -> Path:
    try:
        return shipped()[name]
    except KeyError:
        raise LovevecError(
            f"this copy of lovevec holds no model named {name}: install lovevec again, or name a model folder"
        ) from None


def from_hub(name: str, needed: Sequence[str] = NEEDED, patterns: Sequence[str] = (*NEEDED, ROWS, CARD)) -> Path:
    """The folder of a hub model: from the local cache where that has the `needed` files, or else downloaded (what fits
    the `patterns`), unless that is not to be."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
        if all((folder / file).is_file() for file in needed):
            return folder
    except (OSError, ValueError):
        pass  # not there
    tried = f"{name}: no such model folder, and not in the hub's cache ({constants.HF_HUB_CACHE})"
    owner = name.split("/")[0]
    if Path(owner).is_dir():
        raise LovevecError(f"{tried}; not looked for on the hub, since {owner}/ is a folder here")
    if constants.HF_HUB_OFFLINE:
        raise LovevecError(f"{tried}; not looked for on the hub, since HF_HUB_OFFLINE is set")
    connection_error: type[BaseException] = HfHubHTTPError.__mro__[
        1
    ]  # that of the HTTP library which this version of the hub's client uses
    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns)))
    except (OSError, ValueError, HfHubHTTPError, connection_error) as error:
        raise LovevecError(f"{tried}; the hub did not give it ({type(error).__name__}: {_line(error)})") from None


def _short(name: str | os.PathLike[str]) -> str:
    text = str(name)
    return text if len(text) <= 200 else f"{text[:100]}…{text[-50:]}"


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
