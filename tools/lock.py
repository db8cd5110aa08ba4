"""`make lock`: requirements/dev.lock, the versions and hashes of everything that work on lovevec needs.

It holds for Python 3.10 to 3.13 on any system (by markers). torch is left out (tools/requirements.py says why); what
torch itself needs is in. pyproject.toml states what lovevec works with, the lock what was tried together.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.requirements import BUILDS, LOCK, ROOT, torch_version

HEAD = """# Made by `make lock` from pyproject.toml: do not edit. For the extras dev and release, Python 3.10 to 3.13.
# torch is not in it: install torch=={torch} for your machine, then
#   pip install --no-deps --require-hashes -r requirements/dev.lock
#   pip install --no-deps --editable .

"""


def resolve(upgrade: bool) -> str:
    """What uv resolves, torch's version given; pins that still fit stay, unless it is told to upgrade."""
    with tempfile.TemporaryDirectory() as folder:
        fixed, output = Path(folder) / "fixed.txt", Path(folder) / "dev.lock"
        fixed.write_text(f"torch=={torch_version()}\n")
        if LOCK.exists() and not upgrade:
            output.write_text(LOCK.read_text("utf-8"), "utf-8")
        program = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--extra=dev", "--extra=release"]
        program += ["--universal", "--python-version=3.10", "--generate-hashes", "--no-header", "--no-annotate"]
        program += ["--quiet", f"--constraint={fixed}", f"--output-file={output}"]
        subprocess.run(program, check=True, cwd=ROOT)
        return output.read_text("utf-8")


def without_builds(text: str) -> str:
    """The same without torch and what only its builds bring."""
    blocks = re.split(r"(?m)^(?=[a-z0-9])", text)
    return "".join(block for block in blocks if not BUILDS.fullmatch(block.split("==")[0]))


def main() -> None:
    """Write the file."""
    LOCK.parent.mkdir(exist_ok=True)
    LOCK.write_text(HEAD.format(torch=torch_version()) + without_builds(resolve("--upgrade" in sys.argv)), "utf-8")


if __name__ == "__main__":
    main()
