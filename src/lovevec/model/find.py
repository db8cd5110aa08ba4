"""Which model is meant: nothing for the shipped default, a shipped model's name, a folder, or a hub id.

None, "default"       the default model, which ships with the package
"minilm-input"        another shipped model
"my-model", a path    a model folder; it wins over a hub id of the same name
"owner/name"          a model on the Hugging Face hub: from the local cache, or else from the network

The name of a shipped model always means that one, wherever the program runs: a folder of the same name is "./default".
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError, shown
from lovevec.model.folder import holds_model
from lovevec.model.hub import HUB_ID, from_hub
from lovevec.model.shipped import shipped

DEFAULT = "default"


def find_model(name: str | os.PathLike[str] | None = None, **hub: Any) -> Path:
    """The folder of the model that `name` means; an error says where it was looked for.

    `hub` are the options of `from_hub`, for a model that is there: revision, token, cache_dir and so on.

        find_model("minilm-input").name     # 'minilm-input'
    """
    if name is None:
        return _shipped(DEFAULT)
    if not isinstance(name, (str, os.PathLike)) or not os.fspath(name):
        raise LovevecError(f"a model is named by its folder, its name or its hub id, not by {shown(name)}")
    if isinstance(name, str) and (name in shipped() or name == DEFAULT):
        return _shipped(name)
    folder = Path(name)
    try:
        if not isinstance(name, str) or holds_model(folder):
            return folder
    except OSError as error:  # a name that is too long, a folder that may not be read
        short = str(name) if len(str(name)) <= 200 else f"{str(name)[:100]}…{str(name)[-50:]}"
        raise LovevecError(f"{short}: cannot be read: {error.strerror}") from None
    if folder.is_dir():
        return folder  # the reader says what it lacks
    if HUB_ID.fullmatch(name):
        return from_hub(name, **hub)
    there = ", ".join(shipped()) or "none in this copy"
    raise LovevecError(f"{name}: no such model folder, nor a shipped model ({there}), nor a hub id (owner/name)")


def _shipped(name: str) -> Path:
    try:
        return shipped()[name]
    except KeyError:
        raise LovevecError(
            f"this copy of lovevec holds no model named {name}: install lovevec again, or name a model folder"
        ) from None
