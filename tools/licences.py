"""`make licences`: docs/licences.md, the licence of every package that lovevec, an extra, the lab or the work on them
installs.

Read from what is installed, by the SPDX expression, the classifiers or the text that a package states, in this order.
It fails on a package that states no licence, one that is not known here, or one that does not fit its place:

    lovevec itself    permissive licences, and MPL (changes to a file of the package stay open; it is used as it is)
    extras, the lab   also LGPL (the same for the whole package)
    work on them      the same; nothing of it is installed with lovevec
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.requirements import BUILDS, LAB, ROOT, project, stated

PAGE = ROOT / "docs" / "licences.md"
PERMISSIVE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF", "PSF-2.0", "Public Domain", "Unlicense", "Zlib",
}  # fmt: skip
FOR_ALL = PERMISSIVE | {"MPL-2.0"}
FOR_EXTRAS = FOR_ALL | {"LGPL-2.1-only"}
# SPDX names of licences that classifiers and free texts write otherwise.
SPDX = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "GNU Lesser General Public License v2 (LGPLv2)": "LGPL-2.1-only",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF",
    "The Unlicense (Unlicense)": "Unlicense",
}
HEAD = """# Licences

Made by `make licences` from what the packages themselves state (on Linux, with Python 3.11); tests compare.

lovevec is MIT. What it installs is under permissive licences or MPL; what extras, the lab and tools install may also be
under LGPL. Both ask for changes to those packages themselves to be open; lovevec uses them as they are. Aspell and
Hunspell (rivals, in the lab) are programs of their own, never installed. The shipped models' cards name the licences of
what they learned from, and so do those of the languages' models, which are packages of their own (lovevec-fr: LGPL-LR,
lovevec-ru and lovevec-fi: MIT). Builds of torch for CUDA bring NVIDIA's libraries, under NVIDIA's own licence; the
build for CPUs does not.
"""


class Unfit(Exception):
    """A package states no licence, one that is not known, or one that does not fit its place."""


def closure(requirements: list[Requirement]) -> set[str]:
    """The names of all packages that these requirements install here, their own included. What a build of torch for
    CUDA brings is left out."""
    extras_of: dict[str, set[str]] = {}

    def visit(requirement: Requirement, extra: str) -> None:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            return
        name = canonicalize_name(requirement.name)
        fresh = {"", *requirement.extras} - extras_of.get(name, set())
        if not fresh or (BUILDS.fullmatch(name) and name != "torch"):
            return
        extras_of.setdefault(name, set()).update(fresh)
        for below in map(Requirement, installed(name).requires or []):
            for inner in fresh:
                visit(below, inner)

    for requirement in requirements:
        visit(requirement, "")
    return set(extras_of)


def installed(name: str) -> Distribution:
    """The metadata of a package that is installed here."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise Unfit(f"{name}: is not installed; pip install -e '.[dev,release]'") from None


def licence_of(name: str) -> str:
    """What a package says of itself, as an SPDX expression where there is one."""
    metadata = installed(name).metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    lines = metadata.get_all("Classifier") or []
    classifiers = {line.split(" :: ")[-1] for line in lines if line.startswith("License :: ")} - {"OSI Approved"}
    text = (metadata.get("License") or "").split("\n")[0].strip()
    licences = sorted(SPDX.get(line, line) for line in classifiers) or ([SPDX.get(text, text)] if text else [])
    if not licences:
        raise Unfit(f"{name}: states no licence")
    return " OR ".join(licences)


def check(name: str, expression: str, allowed: set[str]) -> None:
    """Refuse what is not allowed: of A OR B one will do, of A AND B all must."""
    choices = re.split(r" OR ", expression.replace("(", "").replace(")", ""))
    if not any(all(part in allowed for part in choice.split(" AND ")) for choice in choices):
        raise Unfit(f"{name}: {expression} is not known, or not fit for this place (tools/licences.py)")


def table() -> list[tuple[str, str, str]]:
    """Package, licence, and what installs it: lovevec, its extras, the lab, or the work on them."""
    base = closure(stated())
    extras = {extra: closure(stated(extra)) for extra in project()["optional-dependencies"]}
    extras[LAB] = closure(stated(package=LAB))
    work = {"dev", "release"}
    rows = []
    for name in sorted(base.union(*extras.values())):
        licence = licence_of(name)
        check(name, licence, FOR_ALL if name in base else FOR_EXTRAS)
        by = [extra for extra, names in extras.items() if name in names and extra not in work]
        by = ["lovevec"] if name in base else by or [extra for extra in sorted(work) if name in extras[extra]]
        rows.append((name, licence, ", ".join(by)))
    return rows


def page() -> str:
    """The whole page."""
    rows = [f"| {name} | {licence} | {by} |" for name, licence, by in table()]
    return "\n".join([HEAD, "| package | licence | installed by |", "|---|---|---|", *rows, ""])


def main() -> int:
    """Write the page, or say what is wrong."""
    try:
        PAGE.write_text(page(), "utf-8")
    except Unfit as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
