"""`lovevec prepare`."""

from __future__ import annotations

from lovevec.train.command import add_prepare as add_arguments
from lovevec.train.command import run_prepare as run

__all__ = ["add_arguments", "run"]
