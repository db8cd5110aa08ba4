"""Arguments that many calls have: a flag, one of a few names, a folder to write. What is none is one error that names
it; a data frame has no truth value, and an empty name would be the working directory."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import numpy as np

from lovevec.errors import LovevecError, Parameter, shown


def check_flags(**flags: object) -> None:
    """Refuse what is neither true nor false (nor 1 or 0)."""
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)) and not (type(value) is int and value in (0, 1)):
            raise LovevecError(f"{Parameter(name)} is {shown(value)}: must be True or False")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse what is none of some names."""
    if not isinstance(value, str) or value not in choices:
        raise LovevecError(f"unknown {name} {shown(value)}: choose one of {', '.join(choices)}")


def new_folder(folder: object) -> Path:
    """The path of a folder that is to be written; an error where it is empty, or no path."""
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder) or not isinstance(os.fspath(folder), str):
        raise LovevecError(f"{Parameter('folder')} is {shown(folder)}: must be the path of a folder to write")
    return Path(folder)
