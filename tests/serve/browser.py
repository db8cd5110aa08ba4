"""A real browser, a real server: what the tests of the page share."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser is installed: apt-get install chromium")
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed: npm install --prefix tests --ignore-scripts"
)


@contextmanager
def browser() -> Iterator[object]:
    """Debian's chromium by Playwright, whose own browsers need a download."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def process(command: list[str], address: str, **environment: str) -> Iterator[str]:
    """A server of its own that answers at `address`; it ends with the block."""
    running = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        end = time.monotonic() + PATIENCE
        while running.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        else:
            raise AssertionError(f"no answer from {address}, exit code {running.poll()}")
        yield address
    finally:
        running.terminate()
        running.wait(PATIENCE)


def lovevec_server(*flags: str, **environment: str):
    port = free_port()
    command = ["-m", "lovevec", "serve", "--port", str(port), *flags]
    return process(command, f"http://127.0.0.1:{port}/", **environment)


@contextmanager
def opened(started, address: str, *, phone: bool = False, dark: bool = False) -> Iterator[object]:
    """A page without a word of complaint on the console, and without a request to anybody else."""
    context = started.new_context(
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 900},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    said: list[str] = []
    host = address.split("/")[2]
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.split("/")[2] == host or asked.url[:5] == "blob:" else said.append(asked.url),
    )
    page.goto(address)
    yield page
    context.close()
    assert not said, said


def violations(page) -> list[str]:
    """What axe finds wrong, as `rule: the parts`."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run().then((result) => result.violations)")
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]
