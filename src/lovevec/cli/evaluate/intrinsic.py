"""What the tasks on words alone share: their flags, what is refused early, what is kept of a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from lovevec.cli.evaluate.shared import METHODS_HELP, add_common, add_rivals, without_folders
from lovevec.errors import LovevecError


def add_flags(parser: argparse.ArgumentParser, sets: str) -> None:
    """Methods, sets, and what all tasks have."""
    parser.add_argument("methods", nargs="*", metavar="method", help=METHODS_HELP)
    parser.add_argument(
        "--set",
        dest="sets",
        nargs="+",
        action="extend",
        metavar="SET",
        help=f"names ({sets}: the default) or own files; after the methods",
    )
    add_rivals(parser)
    add_common(parser)


def refuse_less_than_one(given: argparse.Namespace, *counts: str) -> None:
    """An error before any work is done."""
    for flag in counts:
        if (number := getattr(given, flag)) is not None and number < 1:
            raise LovevecError(f"--{flag}: must be at least 1, not {number}")


def settings_of(given: argparse.Namespace, sets: Sequence[Any], **more: Any) -> dict[str, Any]:
    """What the numbers depend on, for the JSON; a set is told by its content."""
    return {
        "methods": [without_folders(name) for name in given.methods],
        "rivals": given.rivals,
        "target": without_folders(given.target) if given.target else None,
        "sets": {one.name: one.digest for one in sets},
        "seed": given.seed,
        "quick": given.quick,
        **more,
    }
