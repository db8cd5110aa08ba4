"""The compiled core in other ways than pip builds it.

    python -m tools.core                      `make build`: compiled anew, beside the sources
    python -m tools.core none FOLDER          a package in FOLDER that has no core, as where nothing can be compiled
    python -m tools.core sanitized FOLDER COMMAND …
                                              a package in FOLDER whose core has ASan and UBSan, and the command with it

Such a package is made of links to the sources, so it is there at once and its Python is the sources' own.
PYTHONPATH=FOLDER puts it before the installed one, in child processes too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hatch_build import PACKAGE, NotBuilt, build_core, compile_core


def link_package(folder: Path) -> Path:
    """A package `lovevec` in a folder of its own: links to everything but the core."""
    package = folder / "lovevec"
    shutil.rmtree(folder, ignore_errors=True)
    package.mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if path.suffix not in (".so", ".pyd") and path.name != "__pycache__":
            (package / path.name).symlink_to(path)
    return package


def build_sanitized(folder: Path) -> None:
    """A package whose core has ASan and UBSan; what keeps it from being built is an error."""
    try:
        compile_core(link_package(folder), sanitized=True)
    except NotBuilt as error:
        raise SystemExit(f"lovevec: the sanitized core was not built ({error})") from None


def sanitized_environment(folder: Path) -> dict[str, str]:
    """In which Python runs with the sanitized package: ASan's library has to be loaded first, and Python's own blocks
    of memory would hide what is beyond an array."""
    compiler = os.environ.get("CC", "gcc")
    output = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, check=True, text=True
    ).stdout
    asan = {"LD_PRELOAD": output.strip(), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    return {**os.environ, **asan, "PYTHONPATH": str(folder.resolve())}


def main() -> None:
    """Build what the arguments name."""
    if len(sys.argv) == 1:
        build_core(PACKAGE)
        return
    kind, folder, *command = sys.argv[1:]
    if kind == "none":
        link_package(Path(folder))
    else:
        build_sanitized(Path(folder))
        sys.exit(subprocess.run(command, check=False, env=sanitized_environment(Path(folder))).returncode)


if __name__ == "__main__":
    main()
