"""The errors that lovevec raises on purpose: each message names what is wrong, where, and what to do.

A message may name parameters. The library does not know how its reader writes them, so it puts a `Parameter` into the
message, and each front spells it when it prints:

    raise LovevecError(f"{path}: is there already; choose another file, or {Parameter('overwrite', True)}")

    Python         v.npz: is there already; choose another file, or overwrite=True
    command line   v.npz: is there already; choose another file, or --overwrite
    HTTP           v.npz: is there already; choose another file, or overwrite: True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# How a parameter stands in a message until it is spelled: between two control characters, its value behind a third.
MARKED = re.compile("\x0e([^\x0e\x0f\x1f]*)\x1f([^\x0e\x0f]*)\x0f")
FUNCTIONS = ("resume",)  # Python calls a function where a command takes a flag


class Parameter(NamedTuple):
    """A parameter that a message names, with the value that it has or should have. For use in f-strings only."""

    name: str
    value: object = ""

    def __format__(self, specification: str) -> str:
        return f"\x0e{self.name}\x1f{self.value}\x0f"


Spelling = Callable[[str, str], str]  # a parameter's name and its value, which is "" where none is named


def as_argument(name: str, value: str) -> str:
    """A parameter as Python has it: `limit`, `limit=5`, `resume('my-model')`."""
    if name in FUNCTIONS:
        return f"{name}({value!r})"
    return f"{name}={value}" if value else name


def as_field(name: str, value: str) -> str:
    """A parameter as the field of a JSON object: `limit`, `limit: 5`."""
    return f"{name}: {value}" if value else name


def spell(message: str, spelling: Spelling = as_argument) -> str:
    """A message with each `Parameter` in it written by `spelling`."""
    return MARKED.sub(lambda mark: spelling(mark[1], mark[2]), message)


class LovevecError(Exception):
    """Anything wrong with what the caller gave us. `str` spells parameters as Python does; the command line prints one
    line with its flags, and exits with 2."""

    def __init__(self, message: str = "") -> None:
        super().__init__(spell(message))
        self.message = message  # parameters not yet spelled: what another error quotes

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that the message mentions."""
        return [mark[1] for mark in MARKED.finditer(self.message)]

    def spelled(self, spelling: Spelling) -> str:
        """The message with its parameters as a front writes them."""
        return spell(self.message, spelling)


class FormatError(LovevecError):
    """A file that does not say what its format promises; knows the file and, for text, the line (from 1)."""

    def __init__(self, path: str | Path, problem: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")


class MissingExtra(LovevecError):
    """An optional package is not installed; says which extra brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: pip install 'lovevec[{extra}]'")


def reason(error: Exception) -> str:
    """What another library says of a damaged file, as part of our line: its first 200 characters on one line. Its words
    may be those of the file."""
    text = " ".join((str(error) or type(error).__name__)[:1000].split())
    return (text if text.isprintable() else repr(text)[1:-1])[:200]


def shown(value: object) -> str:
    """A value as part of our line: the first 60 characters of its repr on one line. A frame's has several."""
    return " ".join(f"{value!r:.300}".split())[:60]
