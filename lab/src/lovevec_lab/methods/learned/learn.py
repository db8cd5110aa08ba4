"""LOVE and the rivals that learn by mimicry, each trained once on a target and kept in a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lovevec import __version__
from lovevec.errors import LovevecError, MissingExtra
from lovevec.files.checkpoints import UNFINISHED, CheckpointFolder
from lovevec.love import LOVE
from lovevec.model.folder import CONFIG
from lovevec.progress import Progress
from lovevec.train.prepared import prepare, read_metadata
from lovevec.train.settings import RECIPE, Settings, names
from lovevec.vectors.rows import lower_case
from lovevec_lab.methods.learned import RIVAL
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.method import Method
from lovevec_lab.methods.table import Table

if TYPE_CHECKING:
    from lovevec_lab.methods.learned.rival import Rival

TITLES = {
    "love": "LOVE",
    "love-recipe": "LOVE (our recipe)",
    "mimick": "MIMICK",
    "bos": "BoS",
    "kvq-fh": "KVQ-FH",
    "pbos": "PBoS",
}
PRESETS = {"love": Settings(), "love-recipe": Settings(**RECIPE)}
NO_MATTER = ("device", "checkpoint_minutes")  # settings that leave the model as it is
QUICK_EPOCHS = 3


def learn(
    name: str, target: Table, folder: Path | None, *, device: str, seed: int, quick: bool, progress: Progress
) -> Method:
    """`name` learned from the target: what is in `folder/name` if it is just that, or its training gone on with there,
    or trained now. `quick` takes a few epochs."""
    if name not in TITLES:
        raise LovevecError(f"no learned rival {name!r}: choose one of {', '.join(TITLES)}")
    if len(target.words) < 2:
        raise LovevecError(f"{target.name}: has one word; a rival that learns needs at least 2")
    place = folder / name if folder else None
    if name in PRESETS:
        plan = replace(PRESETS[name], device=device, seed=seed)
        plan = replace(plan, epochs=min(plan.epochs, QUICK_EPOCHS)) if quick else plan
        return LoveMethod(_learn_love(target, fingerprint(target), plan, place, progress), TITLES[name])
    kind = rival_class(name)
    settings = kind.settings_type(seed=seed)
    settings = replace(settings, epochs=min(settings.epochs, QUICK_EPOCHS)) if quick else settings
    return _learn_rival(kind, name, target, settings, place, device, progress)


def _learn_love(target: Table, fingerprint: str, settings: Settings, place: Path | None, progress: Progress) -> LOVE:
    """The model in the folder `place` if it is that of the target and the settings, or its training resumed there, or
    trained now."""
    from lovevec.train import resume, train

    if settings.lowercase is None:
        settings = replace(settings, lowercase=True)  # as words of a table in memory are read
    state = _love_state(place, settings, fingerprint) if place else "nothing"
    if place and state == "finished":
        return LOVE.load(place)
    if place and state == "unfinished":
        return resume(place, progress)
    if state == "other":
        progress.say(f"{place}: made otherwise (another target, other settings) or damaged; training again")
    prepared = prepare((target.words, target.vectors), settings.prepare_part(), progress)
    origin = {**prepared.target, "name": target.name, "sha256": fingerprint}
    return train(replace(prepared, target=origin), settings, output=place, overwrite=True, progress=progress)


def _love_state(place: Path, settings: Settings, fingerprint: str) -> str:
    """What the folder holds: this model "finished", its run "unfinished", an "other" one, or "nothing"."""
    from lovevec.train.run_folder import PREPARED

    unfinished = CheckpointFolder(place / UNFINISHED)
    try:
        if unfinished.exists:
            plan = unfinished.plan()["settings"]
            right = read_metadata(place / UNFINISHED / PREPARED)["target"]["sha256"] == fingerprint
            return (
                "unfinished"
                if right and plan["device"] == settings.device and _same_settings(plan, settings)
                else "other"
            )
        if (place / CONFIG).exists():
            metadata = json.loads((place / CONFIG).read_text("utf-8"))
            right = metadata["target"]["sha256"] == fingerprint
            return "finished" if right and _same_settings(metadata["settings"], settings) else "other"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, LovevecError):
        return "other"
    return "nothing"


def _same_settings(stored: Mapping[str, Any], settings: Settings) -> bool:
    """Whether stored settings give the model that these give. What older files do not know is the default; what they
    know and we no longer do was the default in every model that was made here."""
    known = {name: stored[name] for name in names(Settings) if name in stored and name not in NO_MATTER}
    return Settings(**known) == replace(settings, **{name: getattr(Settings(), name) for name in NO_MATTER})


def _learn_rival(
    kind: type[Rival[Any]],
    name: str,
    target: Table,
    settings: Any,
    place: Path | None,
    device: str,
    progress: Progress,
) -> Rival[Any]:
    from lovevec.device import choose_device
    from lovevec.train.target import load_target
    from lovevec_lab.methods.learned.mimicry import SAVE_SECONDS, mimic
    from lovevec_lab.methods.learned.rival import read_config

    origin = {"name": target.name, "words": len(target.words), "sha256": fingerprint(target)}
    identity = {"lovevec": __version__, "rival": name, "settings": asdict(settings), "target": origin}
    unfinished = CheckpointFolder(place / UNFINISHED if place else None, SAVE_SECONDS)
    if place and not _same(unfinished.plan, identity):
        begun = (place / UNFINISHED).exists()
        if not begun and _same(partial(read_config, place), identity):
            return kind.load(place)
        if begun or (place / RIVAL).exists():
            progress.say(f"{place}: made otherwise (another target, other settings) or damaged; training again")
        unfinished.remove()
        unfinished.begin(identity)
    lower = load_target((target.words, target.vectors), progress=progress)  # each word once, in lower case
    rival = mimic(kind, settings, lower.words, lower.vectors, unfinished, choose_device(device), progress)
    rival.metadata = {**identity, **rival.metadata}
    if place:
        rival.save(place)
        unfinished.remove()
    return rival


def _same(read: Callable[[], dict[str, Any]], identity: dict[str, Any]) -> bool:
    """Whether what can be read is of this rival, with these settings, from this target."""
    try:
        stored = read()
        alike = all(stored[name] == identity[name] for name in ("rival", "settings"))
        return alike and bool(stored["target"]["sha256"] == identity["target"]["sha256"])
    except (LovevecError, KeyError, TypeError):
        return False


def open_rival(folder: Path) -> Method:
    """The rival that a folder with a `rival.json` holds."""
    with _require_torch():
        from lovevec_lab.methods.learned.rival import read_config
    return rival_class(str(read_config(folder).get("rival"))).load(folder)


def rival_class(name: str) -> type[Rival[Any]]:
    """The class of a rival, imported now: it needs torch."""
    with _require_torch():
        if name == "mimick":
            from lovevec_lab.methods.learned.mimick import Mimick

            return Mimick
        if name == "bos":
            from lovevec_lab.methods.learned.bos import BoS

            return BoS
        if name == "kvq-fh":
            from lovevec_lab.methods.learned.kvq_fh import KVQFH

            return KVQFH
        if name == "pbos":
            from lovevec_lab.methods.learned.pbos import PBoS

            return PBoS
    raise LovevecError(f"no learned rival {name!r}: choose one of {', '.join(TITLES)}")


@contextmanager
def _require_torch() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("torch", "train") from None


def fingerprint(target: Table) -> str:
    """The SHA-256 of a target's words and vectors as training sees them: in lower case, each word once. So a table and
    its lower-case form, which some tasks use, have one model."""
    words, keep = lower_case(target.words)
    digest = hashlib.sha256(json.dumps(words).encode("ascii"))
    digest.update(np.ascontiguousarray(target.vectors[keep], dtype="<f4").tobytes())
    return digest.hexdigest()
