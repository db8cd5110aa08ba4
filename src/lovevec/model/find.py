"""Which model is meant: nothing for the shipped default, a shipped or an installed model's name, a folder, or a hub id.

None, "default"       the default model, English, which ships with the package
"minilm-input"        another shipped model
"fr"                  a model that a package of its own brought: pip install lovevec-fr
"my-model", a path    a model folder; it wins over an installed model or a hub id of the same name
"owner/name"          a model on the Hugging Face hub: from the local cache, or else from the network

The name of a shipped model always means that one, wherever the program runs: a folder of the same name is "./default".
A package names its models by entry points of the group `lovevec.models`: `fr = "lovevec_fr"` is the folder `fr` in the
package lovevec_fr. No code of the package runs.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, shown
from lovevec.model.folder import holds_model
from lovevec.model.hub import HUB_ID, from_hub
from lovevec.model.shipped import shipped

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # takes 10 ms, so that it is imported when a name needs it

DEFAULT = "default"
GROUP = "lovevec.models"
PACKAGES = ("fi", "fr", "ru")  # languages whose models lie in models/ of lovevec's repository, a package each
GUIDE = "docs/guide/other-languages.md"


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
    if (package := _installed(name)) is not None:
        return package
    if folder.is_dir():
        return folder  # the reader says what it lacks
    if HUB_ID.fullmatch(name):
        return from_hub(name, **hub)
    if name in PACKAGES:
        raise LovevecError(
            f"{name}: this model is a package of its own, which is not installed: pip install lovevec-{name}"
            f" (in a clone of lovevec: pip install ./models/lovevec-{name})"
        )
    there = ", ".join(shipped()) or "none in this copy"
    more = ", ".join(installed())
    raise LovevecError(
        f"{name}: no such model folder, nor a shipped model ({there}), nor "
        + (f"an installed one ({more}), nor " if more else "")
        + "a hub id (owner/name)"
        + (f"; {GUIDE} says how a language gets a model" if len(name) == 2 else "")
    )


def installed() -> dict[str, Path]:
    """The folders of the models that packages brought, by name; those of shipped models are taken."""
    from importlib.metadata import entry_points

    taken = {DEFAULT, *shipped()}
    points = [point for point in entry_points(group=GROUP) if point.name not in taken]
    folders = {point.name: _folder_of(point) for point in sorted(points, key=lambda point: point.name)}
    return {name: folder for name, folder in folders.items() if folder is not None}


def _installed(name: str) -> Path | None:
    from importlib.metadata import entry_points

    points = entry_points(group=GROUP, name=name)
    return next((folder for point in points if (folder := _folder_of(point)) is not None), None)


def _folder_of(point: EntryPoint) -> Path | None:
    """The folder of a package's model. None where the package is gone, or where its name would run code: that of a part
    of another package, which Python imports to find it."""
    if "." in point.value:
        return None
    try:
        spec = find_spec(point.value)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) / point.name if places else None


def _shipped(name: str) -> Path:
    try:
        return shipped()[name]
    except KeyError:
        raise LovevecError(
            f"this copy of lovevec holds no model named {name}: install lovevec again, or name a model folder"
        ) from None
