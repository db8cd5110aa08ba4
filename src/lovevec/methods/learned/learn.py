"""LOVE and the rivals that learn by mimicry, each trained once on a target and kept in a folder.

One loop trains them all (lovevec.train): a rival is a set of settings, from the file of its name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.methods.learned import bos, kvq_fh, mimick, pbos, recipe
from lovevec.methods.model import Model
from lovevec.methods.table import Table
from lovevec.model.folder import CONFIG
from lovevec.progress import Progress
from lovevec.train.prepared import Prepared, prepare, read_metadata
from lovevec.train.settings import Settings
from lovevec.vectors.rows import lower_case

PRESETS: dict[str, Settings] = {
    "love": Settings(),
    "love-recipe": recipe.settings(),
    "mimick": mimick.settings(),
    "bos": bos.settings(),
    "kvq-fh": kvq_fh.settings(),
    "pbos": pbos.settings(),
}
TITLES = {
    "love": "LOVE",
    "love-recipe": "LOVE (our recipe)",
    "mimick": "MIMICK",
    "bos": "BoS",
    "kvq-fh": "KVQ-FH",
    "pbos": "PBoS",
}
QUICK_EPOCHS = 3
NO_MATTER = ("device", "checkpoint_minutes")  # settings that leave the model as it is


def learn(
    name: str, target: Table, folder: Path | None, *, device: str, seed: int, quick: bool, progress: Progress
) -> Model:
    """A model trained on the target with the settings of `name`: the one in `folder/name` if it is just that, or its
    training resumed there, or trained now. `quick` takes a few epochs."""
    if name not in PRESETS:
        raise LovevecError(f"no learned rival {name!r}: choose one of {', '.join(PRESETS)}")
    settings = replace(PRESETS[name], device=device, seed=seed)
    if quick:
        settings = replace(settings, epochs=min(settings.epochs, QUICK_EPOCHS))
    return Model(_love(target, settings, folder and folder / name, progress), TITLES[name])


def _love(target: Table, settings: Settings, place: Path | None, progress: Progress) -> LOVE:
    from lovevec.train import resume, train

    if place is None:
        return train(_prepared(target, settings, progress), settings, progress=progress)
    state = _state(place, settings, fingerprint(target))
    if state == "finished":
        return LOVE.load(place)
    if state == "unfinished":
        return resume(place, progress)
    if state == "other":
        progress.say(f"{place}: was trained on another target or with other settings; training again")
    return train(_prepared(target, settings, progress), settings, output=place, overwrite=True, progress=progress)


def _prepared(target: Table, settings: Settings, progress: Progress) -> Prepared:
    if len(target.words) < 2:
        raise LovevecError(f"{target.name}: has one word; a rival that learns needs at least 2")
    prepared = prepare((target.words, target.vectors), settings.prepare_part(), progress)
    return replace(prepared, target={**prepared.target, "name": target.name, "sha256": fingerprint(target)})


def _state(place: Path, settings: Settings, sha256: str) -> str:
    """What the folder holds: this model "finished", its run "unfinished", an "other" one, or "nothing"."""
    from lovevec.train.run import PREPARED, RUN, UNFINISHED

    own = place / UNFINISHED
    try:
        if (own / RUN).exists():
            plan = json.loads((own / RUN).read_text("utf-8"))["settings"]
            right = read_metadata(own / PREPARED)["target"]["sha256"] == sha256
            return "unfinished" if right and plan["device"] == settings.device and _same(plan, settings) else "other"
        if (place / CONFIG).exists():
            metadata = json.loads((place / CONFIG).read_text("utf-8"))
            right = metadata["target"]["sha256"] == sha256
            return "finished" if right and _same(metadata["settings"], settings) else "other"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, LovevecError):
        return "other"
    return "nothing"


def _same(found: Mapping[str, Any], wanted: Settings) -> bool:
    """Whether stored settings give the model that the wanted ones give; what older files do not know is the default."""
    ignored = {name: getattr(wanted, name) for name in NO_MATTER}
    return Settings.from_dict({**found, **ignored}) == wanted


def fingerprint(target: Table) -> str:
    """The SHA-256 of a target's words and vectors as training sees them: in lower case, each word once. So a table and
    its lower-case form, which some tasks use, have one model."""
    words, keep = lower_case(target.words)
    digest = hashlib.sha256(json.dumps(words).encode("ascii"))
    digest.update(np.ascontiguousarray(target.vectors[keep], dtype="<f4").tobytes())
    return digest.hexdigest()
