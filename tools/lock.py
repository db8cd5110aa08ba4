"""`make lock`: requirements/dev.lock, the versions and hashes of everything that work on lovevec needs.

It holds for Python 3.10 to 3.13 on any system (by markers). torch is left out (tools/requirements.py says why); what
torch itself needs is in. pyproject.toml and lab/pyproject.toml state what the packages work with, the lock what was
tried together.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.requirements import BUILDS, LAB, LOCK, ROOT, stated, torch_version

HEAD = """# Made by `make lock` from pyproject.toml and lab/pyproject.toml: do not edit.
# For the extras dev and release, and for the lab; Python 3.10 to 3.13.
# torch is not in it: install torch=={torch} for your machine, then
#   pip install --no-deps --require-hashes -r requirements/dev.lock
#   pip install --no-deps --editable . --editable lab

"""


def resolve(upgrade: bool) -> str:
    """The lock file that uv writes, with torch's version fixed; pins that still fit stay, unless `upgrade`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        constraints, lab, output = folder / "torch.txt", folder / "lab.in", folder / "dev.lock"
        constraints.write_text(f"torch=={torch_version()}\n")
        lab.write_text("\n".join(map(str, stated(package=LAB))) + "\n")
        if LOCK.exists() and not upgrade:
            output.write_text(LOCK.read_text("utf-8"), "utf-8")
        program = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", str(lab)]
        program += ["--extra=dev", "--extra=release", "--universal", "--python-version=3.10", "--generate-hashes"]
        program += ["--no-header", "--no-annotate", "--quiet", f"--constraint={constraints}", f"--output-file={output}"]
        subprocess.run(program, check=True, cwd=ROOT)
        return output.read_text("utf-8")


def without_builds(text: str) -> str:
    """A lock file's text without torch and what only its builds bring."""
    blocks = re.split(r"(?m)^(?=[a-z0-9])", text)
    return "".join(block for block in blocks if not BUILDS.fullmatch(block.split("==")[0]))


def main() -> None:
    """Resolve, and write requirements/dev.lock."""
    LOCK.parent.mkdir(exist_ok=True)
    LOCK.write_text(HEAD.format(torch=torch_version()) + without_builds(resolve("--upgrade" in sys.argv)), "utf-8")


if __name__ == "__main__":
    main()
