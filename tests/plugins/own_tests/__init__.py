"""Other tools' own tests on our classes: pytest plug-ins that put ours in the place of theirs, in a process of its own.

A test that cannot hold is listed by name with the reason, and the list is checked both ways: what is not listed has to
pass, what is listed has to fail (a strict xfail), and what is listed has to be there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def expect(items: list[pytest.Item], impossible: dict[str, tuple[str, type[Exception]]]) -> None:
    """Mark the listed tests by the reason and by how they fail; a name that no test has is an error."""
    if "LOVEVEC_ALSO_IMPOSSIBLE" in os.environ:  # a test of this very check
        impossible = {os.environ["LOVEVEC_ALSO_IMPOSSIBLE"]: ("says too much", AssertionError)}
    names = {name: [item for item in items if item.name.partition("[")[0] == name] for name in impossible}
    missing = [name for name, found in names.items() if not found]
    if missing:
        raise pytest.UsageError(f"listed as impossible, but no test: {', '.join(missing)}")
    for name, (reason, how) in impossible.items():
        for item in names[name]:
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason, raises=how))


def run(plugin: str, tests: str, folder: Path) -> str:
    """The last line that pytest prints for `tests`, with the plug-in; an error if one fails that should not, or passes
    that should not."""
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-W", "ignore", "--rootdir", str(folder)]
    command += ["-p", "no:cacheprovider", "-p", f"tests.plugins.own_tests.{plugin}"]
    command += ["--pyargs", tests, "--basetemp", str(folder / "tmp")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]
