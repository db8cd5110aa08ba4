"""`lovevec prepare`."""

from __future__ import annotations

from lovevec.cli.train import add_prepare as add_arguments
from lovevec.cli.train import run_prepare as run

__all__ = ["add_arguments", "run"]
