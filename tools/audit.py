"""`make audit`: known vulnerabilities of what the lock pins, and of torch, by pip-audit.

Without an answer of the index there is nothing to say, and that is no failure: a build must work without a network.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.requirements import LOCK, pins, torch_version

PATIENCE = 60  # seconds for all packages; one answer has 10
# Findings that do not touch lovevec, each with the reason: {"CVE-…": "why"}.
HARMLESS: dict[str, str] = {}


def audit() -> dict[str, list[str]] | None:
    """Findings by package; None when there was no answer."""
    lines = [f"{pin.name}=={pin.version}" for pin in pins(LOCK.read_text("utf-8")) if pin.is_for_here]
    with tempfile.TemporaryDirectory() as folder:
        listed, found = Path(folder) / "requirements.txt", Path(folder) / "found.json"
        listed.write_text("\n".join([*lines, f"torch=={torch_version()}"]) + "\n")
        program = [sys.executable, "-m", "pip_audit", "-r", str(listed), "--no-deps", "--disable-pip", "--timeout=10"]
        program += ["--progress-spinner=off", "--format=json", f"--output={found}"]
        try:
            subprocess.run(program, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return None
        if not found.exists() or not found.stat().st_size:
            return None
        return findings(json.loads(found.read_text("utf-8"))["dependencies"], HARMLESS)


def findings(packages: list[dict[str, Any]], harmless: dict[str, str]) -> dict[str, list[str]] | None:
    """Those of pip-audit's report by package, but for harmless ones; None when no package was looked up."""
    looked_up = [package for package in packages if "vulns" in package]
    return {
        f"{package['name']} {package['version']}": [
            found["id"] for found in package["vulns"] if not {found["id"], *found["aliases"]} & harmless.keys()
        ]
        for package in looked_up
    } or None


def main() -> int:
    """Say what was found; 1 when that is something."""
    found = audit()
    if found is None:
        print("audit: no answer from the index; nothing was checked")
        return 0
    bad = {package: findings for package, findings in found.items() if findings}
    for package, findings in bad.items():
        print(f"audit: {package}: {', '.join(findings)}")
    print(f"audit: {len(found)} packages, {len(bad)} with known vulnerabilities")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
