"""LOVE itself, learned in the same way as its rivals: once on a target, and kept in a folder.

love          the paper's settings
love-recipe   what the shipped models are trained with (train/settings.py)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError
from lovevec.files.unfinished import UNFINISHED, Unfinished
from lovevec.love import LOVE
from lovevec.model.folder import CONFIG
from lovevec.progress import Progress
from lovevec.train.prepared import prepare, read_metadata
from lovevec.train.settings import RECIPE, Settings, names
from lovevec_lab.methods.table import Table

PRESETS = {"love": Settings(), "love-recipe": Settings(**RECIPE)}
NO_MATTER = ("device", "checkpoint_minutes")  # settings that leave the model as it is


def learn_love(target: Table, fingerprint: str, settings: Settings, place: Path | None, progress: Progress) -> LOVE:
    """The model in the folder `place` if it is that of the target and the settings, or its training resumed there, or
    trained now."""
    from lovevec.train import resume, train

    state = _state(place, settings, fingerprint) if place else "nothing"
    if place and state == "finished":
        return LOVE.load(place)
    if place and state == "unfinished":
        return resume(place, progress)
    if state == "other":
        progress.say(f"{place}: made otherwise (another target, other settings) or damaged; training again")
    prepared = prepare((target.words, target.vectors), settings.prepare_part(), progress)
    origin = {**prepared.target, "name": target.name, "sha256": fingerprint}
    return train(replace(prepared, target=origin), settings, output=place, overwrite=True, progress=progress)


def _state(place: Path, settings: Settings, fingerprint: str) -> str:
    """What the folder holds: this model "finished", its run "unfinished", an "other" one, or "nothing"."""
    from lovevec.train.run import PREPARED

    unfinished = Unfinished(place / UNFINISHED)
    try:
        if unfinished.exists:
            plan = unfinished.plan()["settings"]
            right = read_metadata(place / UNFINISHED / PREPARED)["target"]["sha256"] == fingerprint
            return "unfinished" if right and plan["device"] == settings.device and _same(plan, settings) else "other"
        if (place / CONFIG).exists():
            metadata = json.loads((place / CONFIG).read_text("utf-8"))
            right = metadata["target"]["sha256"] == fingerprint
            return "finished" if right and _same(metadata["settings"], settings) else "other"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, LovevecError):
        return "other"
    return "nothing"


def _same(stored: Mapping[str, Any], settings: Settings) -> bool:
    """Whether stored settings give the model that these give. What older files do not know is the default; what they
    know and we no longer do was the default in every model that was made here."""
    known = {name: stored[name] for name in names(Settings) if name in stored and name not in NO_MATTER}
    return Settings(**known) == replace(settings, **{name: getattr(Settings(), name) for name in NO_MATTER})
