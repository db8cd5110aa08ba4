"""`lovevec serve` and `lovevec ui` from the command line: what is wrong is one line. tests/serve has the server."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request

import pytest


def test_a_taken_port_and_an_unknown_model_are_one_line(program, small_model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = program("serve", "--port", taken.getsockname()[1])
    assert done.returncode == 2
    assert b"cannot listen there" in done.stderr
    for arguments in (
        ["--model", "nowhere"],
        ["--model", "a=default", "--model", f"a={small_model}"],
        ["--vectors", "x"],
    ):
        done = program("serve", "--port", 0, *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(b"lovevec: ")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("there", "says"), [("None", "fastapi"), ("'0.99.1'", "fastapi 0.132 or newer (there is 0.99.1)")]
)
def test_a_missing_or_old_extra_is_one_line(there, says):
    """As it is where only the base is installed."""
    script = f"""
import runpy, sys
from importlib import metadata
found, there = metadata.version, {there}
def version(name):
    if name != "fastapi":
        return found(name)
    if there is None:
        raise metadata.PackageNotFoundError(name)
    return there
metadata.version = version
sys.argv = ["lovevec", "serve", "--port", "0"]
runpy.run_module("lovevec.cli", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"lovevec: this needs {says}: pip install 'lovevec[serve]'\n"


def test_the_page_opens_where_it_is(small_model):
    command = [sys.executable, "-m", "lovevec.cli", "ui", "--no-browser", "--model", f"small={small_model}"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        address = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"<html" in page.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
