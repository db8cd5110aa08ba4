"""What the two packages need: the requirements that their pyproject.toml files state, and the pins of the lock file."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "dev.lock"
# The packages of this repository, and the folder of each.
LIBRARY, LAB = "lovevec", "lovevec-lab"
PACKAGES = {LIBRARY: ROOT, LAB: ROOT / "lab"}
# Those of models, one a language; they need the library and nothing else.
MODELS = {path.parent.name: path.parent for path in sorted((ROOT / "models").glob("lovevec-*/pyproject.toml"))}
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


def project(package: str = LIBRARY) -> dict[str, Any]:
    """The table [project] of a package's pyproject.toml."""
    return project_of(PACKAGES[package])


def project_of(folder: Path) -> dict[str, Any]:
    """The table [project] of the pyproject.toml in a folder."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def stated(extra: str | None = None, package: str = LIBRARY) -> list[Requirement]:
    """What a package states for an extra (None: for itself), by packages of others: an extra of ours that it names is
    replaced by what that extra states."""
    table = project(package)
    lines = table["dependencies"] if extra is None else table["optional-dependencies"][extra]
    requirements = []
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        if name in PACKAGES:
            requirements += [below for inner in sorted(requirement.extras) for below in stated(inner, name)]
        else:
            requirements.append(requirement)
    return requirements


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
