"""Targets: the tables of word vectors that lovevec learns to mimic, from files or from memory."""

from __future__ import annotations

from lovevec.targets.load import load_target
from lovevec.targets.target import Target

__all__ = ["Target", "load_target"]
