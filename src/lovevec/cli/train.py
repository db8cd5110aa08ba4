"""`lovevec train`."""

from __future__ import annotations

from lovevec.train.command import add_train as add_arguments
from lovevec.train.command import run_train as run

__all__ = ["add_arguments", "run"]
