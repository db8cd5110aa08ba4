"""The errors that lovevec raises on purpose: each message names what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path


class LovevecError(Exception):
    """Anything wrong with what the caller gave us. The command line prints it as one line and exits with 2."""


class FormatError(LovevecError):
    """A file that does not say what its format promises; knows the file and, for text, the line (from 1)."""

    def __init__(self, path: str | Path, problem: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")


def reason(error: Exception) -> str:
    """What another library says of a damaged file, as part of our line: its first line, not too long. Its words may be
    those of the file."""
    said = str(error) or type(error).__name__
    return " ".join(said[:1000].split())[:200]


class MissingExtra(LovevecError):
    """An optional package is not installed; says which extra brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: pip install 'lovevec[{extra}]'")
