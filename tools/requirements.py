"""What lovevec needs: the requirements that pyproject.toml states, and the pins of the lock file, read."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "dev.lock"
# torch and what only its builds for CUDA bring. There is a build of torch for each kind of machine, from places of its
# own and with hashes of its own: which one is installed is for the machine to say, so the lock leaves them out.
BUILDS = re.compile(r"torch|triton|(nvidia|cuda)-.*")
PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>\S+)(?: ; (?P<marker>[^\\\n]+?))? \\\n", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Pin:
    """One package of the lock file."""

    name: str
    version: str
    marker: Marker | None
    hashes: tuple[str, ...]

    @property
    def is_for_here(self) -> bool:
        """Whether this Python on this system would install it."""
        return self.marker is None or self.marker.evaluate()


def project() -> dict[str, dict[str, list[str]]]:
    """The table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def stated(extra: str | None = None) -> list[Requirement]:
    """What pyproject states for an extra (None: for lovevec itself); extras of our own inside it are opened."""
    table = project()
    lines = table["dependencies"] if extra is None else table["optional-dependencies"][extra]
    found = []
    for requirement in map(Requirement, lines):
        own = canonicalize_name(requirement.name) == "lovevec"
        found += [below for name in sorted(requirement.extras) for below in stated(name)] if own else [requirement]
    return found


def torch_version() -> str:
    """The torch that the Makefile pins."""
    return re.findall(r"torch==(\S+)", (ROOT / "Makefile").read_text("utf-8"))[0]


def pins(text: str) -> list[Pin]:
    """The pins of a lock file's text."""
    starts = [*PIN.finditer(text)]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return [
        Pin(
            match["name"],
            match["version"],
            Marker(match["marker"]) if match["marker"] else None,
            tuple(HASH.findall(text[match.end() : end])),
        )
        for match, end in zip(starts, ends, strict=True)
    ]
