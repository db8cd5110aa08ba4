"""What the rivals that learn by mimicry have in common: each word as it is, and the squared distance to its target."""

from __future__ import annotations

from typing import Any

from lovevec.train.settings import Settings

ALL = 2**31 - 1


def plain_settings(**own: Any) -> Settings:
    """No augmentation, no synonyms, no hard negatives, no dropout; `own` are the rival's own settings."""
    typos = dict.fromkeys(("swap", "drop", "insert", "keyboard", "sound", "synonym"), 0.0)
    off = {"synonyms": 0, "negatives": 0, "hard_negatives": 0, "dropout": 0.0}
    return Settings(**{"loss": "mse", "none": 1.0, **typos, **off, **own})
