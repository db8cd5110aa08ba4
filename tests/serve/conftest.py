"""Servers as people run them: processes of their own on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.serve.browser import browser

KEY = "LOVEVEC_API_KEY"
PATIENCE = 60  # seconds; a busy machine is no failure


@dataclass
class Live:
    """A server that runs."""

    process: subprocess.Popen[bytes]
    address: str
    log_file: Path
    client: httpx.Client

    def log(self) -> list[dict]:
        """Its log, line by line."""
        lines = self.log_file.read_text("utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def logged_requests(self, count: int) -> list[dict]:
        """The lines of so many requests; a line comes after its answer."""
        until = time.monotonic() + PATIENCE
        while len(lines := [line for line in self.log() if line["event"] == "request"]) < count:
            assert time.monotonic() < until, lines
            time.sleep(0.02)
        assert len(lines) == count
        return lines

    def post(self, path: str, content: object = None, **more) -> httpx.Response:
        """Ask."""
        return self.client.post(path, json=content, **more)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def started(folder: Path, *arguments: object, key: str | None = None) -> Iterator[Live]:
    """Start `lovevec serve …`; when the test is over it must end well, and must not have failed inside."""
    log, temporary = folder / f"log-{time.monotonic_ns()}", folder / "temporary"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "lovevec.cli", "serve", "--port", "0", "--log", "json", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != KEY} | {"TMPDIR": str(temporary)}
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stderr=errors, env=environment | ({KEY: key} if key else {}))
    try:
        address = address_in(log, process)
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            live = Live(process, address, log, client)
            yield live
        if process.poll() is None:
            assert live.stop() == 0
        written = log.read_text("utf-8")
        assert "Traceback" not in written, written
        assert key is None or key not in written
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def address_in(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the server listens, as it says when it does."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for line in log.read_text("utf-8").splitlines(keepends=True):
            if line.endswith("\n") and line.startswith("{") and (address := json.loads(line).get("address")):
                return address
        assert process.poll() is None, log.read_text("utf-8")
        time.sleep(0.02)
    raise AssertionError("the server did not start")


@pytest.fixture(scope="session")
def live(tmp_path_factory) -> Iterator[Live]:
    """The shipped model, served."""
    with started(tmp_path_factory.mktemp("live")) as server:
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    with browser() as started:
        yield started


@pytest.fixture
def serve(tmp_path, small_model) -> Callable:
    """Start a server of the small model with these arguments."""

    def start(*arguments: object, key: str | None = None):
        return started(tmp_path, "--model", f"small={small_model}", *arguments, key=key)

    return start
